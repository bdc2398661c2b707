// SPDX-License-Identifier: Apache-2.0
// Half precision and conversions against encode() and decode() of the numerics room.
#include <cmath>

#include "arith_rows.hpp"
#include "numerics/arith.hpp"
#include "numerics/formats.hpp"

namespace ww::isa::arith_test {
namespace {

using numerics::decode;
using numerics::encode;
using numerics::Format;
using numerics::Rounding;

uint16_t half(Format format, double x, Rounding rounding = Rounding::rn) {
    return static_cast<uint16_t>(encode(format, x, {.rounding = rounding}));
}

TEST(ArithHalf, OneRounding) {
    Rows rows;
    for (const auto& [name, format] :
         {std::pair{"f16", Format::f16}, std::pair{"bf16", Format::bf16}}) {
        const Format f = format;
        const std::string type = name;
        rows.check<uint16_t, uint16_t, uint16_t>("add." + type, [f](uint16_t a, uint16_t b) {
            return half(f, decode(f, a) + decode(f, b));
        });
        rows.check<uint16_t, uint16_t, uint16_t>("mul." + type, [f](uint16_t a, uint16_t b) {
            return half(f, decode(f, a) * decode(f, b));
        });
        rows.check<uint32_t, uint32_t, uint32_t>("sub." + type + "x2", [f](uint32_t a, uint32_t b) {
            const auto one = [&](int s) {
                return uint32_t{half(f, decode(f, a >> s & 0xffff) - decode(f, b >> s & 0xffff))}
                       << s;
            };
            return one(0) | one(16);
        });
    }
}

// The exact sum of a product and a half, by long double, where 64 bits hold it.
TEST(ArithHalf, FmaNeedsMoreThanF32) {
    Rows rows;
    rows.check<uint16_t, uint16_t, uint16_t, uint16_t>(
        "fma.rn.f16", [](uint16_t a, uint16_t b, uint16_t c) {
            const long double sum =
                static_cast<long double>(decode(Format::f16, a)) * decode(Format::f16, b) +
                decode(Format::f16, c);
            // To odd in f64, then once to f16.
            double cut = static_cast<double>(sum);
            if (static_cast<long double>(cut) != sum && !(numerics::bits_of(cut) & 1))
                cut = std::nextafter(cut, sum > cut ? HUGE_VAL : -HUGE_VAL);
            return half(Format::f16, cut);
        });
    rows.check<uint16_t, uint16_t, uint16_t, uint16_t>(
        "fma.rn.relu.bf16", [](uint16_t a, uint16_t b, uint16_t c) {
            const double sum =
                std::fma(decode(Format::bf16, a), decode(Format::bf16, b), decode(Format::bf16, c));
            const uint16_t code = half(Format::bf16, sum);
            return code == 0x7fff ? code : static_cast<uint16_t>(code & 0x8000 ? 0 : code);
        });
}

TEST(ArithConvert, FloatToInteger) {
    Rows rows;
    rows.check<int32_t, float>("cvt.rzi.s32.f32", [](float x) {
        return std::isnan(x)   ? 0
               : x >= 0x1p31f  ? INT32_MAX
               : x <= -0x1p31f ? INT32_MIN
                               : static_cast<int32_t>(x);
    });
    rows.check<uint8_t, float>("cvt.rni.u8.f32", [](float x) {
        return static_cast<uint8_t>(
            std::isnan(x) ? 0 : std::fmin(std::fmax(std::nearbyint(x), 0.0f), 255.0f));
    });
    rows.check<uint64_t, double>("cvt.rpi.u64.f64", [](double x) {
        if (std::isnan(x)) return uint64_t{1} << 63;
        x = std::ceil(x);
        return x <= 0 ? 0 : x >= 0x1p64 ? ~uint64_t{0} : static_cast<uint64_t>(x);
    });
    rows.check<int32_t, float>("cvt.rpi.ftz.s32.f32", [](float x) {
        if (std::isnan(x) || std::fabs(x) < 0x1p-126f) return 0;
        x = std::ceil(x);
        return x >= 0x1p31f ? INT32_MAX : x <= -0x1p31f ? INT32_MIN : static_cast<int32_t>(x);
    });
}

TEST(ArithConvert, Integers) {
    Rows rows;
    rows.check<int64_t, int32_t>("cvt.s64.s32", [](int32_t x) { return int64_t{x}; });
    rows.check<uint64_t, uint32_t>("cvt.u64.u32", [](uint32_t x) { return uint64_t{x}; });
    rows.check<int8_t, int32_t>("cvt.sat.s8.s32", [](int32_t x) {
        return static_cast<int8_t>(std::min(std::max(x, -128), 127));
    });
    rows.check<uint32_t, int64_t>("cvt.sat.u32.s64", [](int64_t x) {
        return static_cast<uint32_t>(x < 0 ? 0 : x > 0xffffffff ? 0xffffffff : x);
    });
    rows.check<int32_t, uint64_t>("cvt.sat.s32.u64", [](uint64_t x) {
        return static_cast<int32_t>(x > INT32_MAX ? INT32_MAX : x);
    });
    rows.check<float, uint64_t>("cvt.rn.f32.u64", [](uint64_t x) { return static_cast<float>(x); });
    rows.check<double, int64_t>("cvt.rn.f64.s64", [](int64_t x) { return static_cast<double>(x); });
    rows.check<float, int32_t>("cvt.rz.f32.s32",
                               [](int32_t x) { return numerics::round_to_f32<Rounding::rz>(x); });
}

TEST(ArithConvert, FloatToFloat) {
    Rows rows;
    for (const auto& [name, rounding] :
         {std::pair{".rn", Rounding::rn}, std::pair{".rz", Rounding::rz},
          std::pair{".rm", Rounding::rm}, std::pair{".rp", Rounding::rp}}) {
        const Rounding r = rounding;
        rows.check<uint16_t, float>(std::string("cvt").append(name).append(".f16.f32"),
                                    [r](float x) { return half(Format::f16, x, r); });
        rows.check<uint16_t, double>(std::string("cvt").append(name).append(".bf16.f64"),
                                     [r](double x) { return half(Format::bf16, x, r); });
    }
    rows.check<float, float>("cvt.rni.f32.f32",
                             [](float x) { return numerics::canonical(std::nearbyint(x)); });
    rows.check<uint32_t, float>("cvt.rn.satfinite.tf32.f32", [](float x) {
        return static_cast<uint32_t>(encode(Format::tf32, x, {.saturate = true}));
    });
}

TEST(ArithConvert, PairsAndSmallFormats) {
    Rows rows;
    rows.check<uint32_t, float, float>("cvt.rz.relu.bf16x2.f32", [](float a, float b) {
        const auto one = [](float x) {
            return static_cast<uint32_t>(
                encode(Format::bf16, x, {.rounding = Rounding::rz, .relu = true}));
        };
        return one(a) << 16 | one(b);
    });
    rows.check<uint32_t, float, float>("cvt.rn.satfinite.f16x2.f32", [](float a, float b) {
        const auto one = [](float x) {
            return static_cast<uint32_t>(encode(Format::f16, x, {.saturate = true}));
        };
        return one(a) << 16 | one(b);
    });
    for (const auto& [name, format] :
         {std::pair{"e4m3x2", Format::e4m3}, std::pair{"e5m2x2", Format::e5m2},
          std::pair{"e3m2x2", Format::e3m2}, std::pair{"e2m3x2", Format::e2m3}}) {
        const Format f = format;
        const auto code = [f](double x, bool relu) {
            return static_cast<uint16_t>(encode(f, x, {.saturate = true, .relu = relu}));
        };
        rows.check<uint16_t, float, float>(
            std::string("cvt.rn.satfinite.").append(name).append(".f32"), [&](float a, float b) {
                return static_cast<uint16_t>(code(a, false) << 8 | code(b, false));
            });
        rows.check<uint16_t, uint32_t>(
            std::string("cvt.rn.satfinite.relu.").append(name).append(".f16x2"), [&](uint32_t a) {
                return static_cast<uint16_t>(code(decode(Format::f16, a >> 16), true) << 8 |
                                             code(decode(Format::f16, a & 0xffff), true));
            });
        rows.check<uint32_t, uint16_t>(std::string("cvt.rn.f16x2.").append(name), [&](uint16_t a) {
            return uint32_t{half(Format::f16, decode(f, a >> 8))} << 16 |
                   half(Format::f16, decode(f, a & 0xff));
        });
    }
    rows.check<uint8_t, float, float>("cvt.rn.satfinite.e2m1x2.f32", [](float a, float b) {
        const auto one = [](float x) { return encode(Format::e2m1, x, {.saturate = true}); };
        return static_cast<uint8_t>(one(a) << 4 | one(b));
    });
}

TEST(ArithConvert, IllegalFormsAreRefused) {
    Bench bench;
    const TestOperand f = bench.reg(4), r = bench.reg(4), h = bench.reg(2);
    EXPECT_NE(bench.bind("cvt.s32.f32", {r, f}), "");
    EXPECT_NE(bench.bind("cvt.f32.s32", {f, r}), "");
    EXPECT_NE(bench.bind("cvt.f16.f32", {h, f}), "");
    EXPECT_NE(bench.bind("cvt.rn.sat.bf16.f32", {h, f}), "");
    EXPECT_NE(bench.bind("cvt.rn.f32.f32", {f, f}), "");
    EXPECT_NE(bench.bind("cvt.sat.s32.u16", {r, h}), "");
}

}  // namespace
}  // namespace ww::isa::arith_test

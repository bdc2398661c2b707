// SPDX-License-Identifier: Apache-2.0
// Formats against the processor's own f16 conversions and against a search over all codes.
#include "numerics/formats.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "numerics/half.hpp"

namespace ww::numerics {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr Rounding kRoundings[] = {Rounding::rn, Rounding::rz, Rounding::rm, Rounding::rp,
                                   Rounding::rna};

TEST(Formats, ValuesOfKnownCodes) {
    EXPECT_EQ(decode(Format::e2m1, 7), 6.0);
    EXPECT_EQ(decode(Format::e2m1, 9), -0.5);
    EXPECT_EQ(decode(Format::e4m3, 0x7e), 448.0);
    EXPECT_TRUE(std::isnan(decode(Format::e4m3, 0x7f)));
    EXPECT_EQ(decode(Format::e4m3, 0x01), 0x1p-9);
    EXPECT_EQ(decode(Format::e5m2, 0x7b), 57344.0);
    EXPECT_EQ(decode(Format::e5m2, 0xfc), -kInf);
    EXPECT_EQ(decode(Format::e3m2, 0x1f), 28.0);
    EXPECT_EQ(decode(Format::e2m3, 0x3f), -7.5);
    EXPECT_EQ(decode(Format::ue8m0, 0), 0x1p-127);
    EXPECT_EQ(decode(Format::ue8m0, 0xfe), 0x1p127);
    EXPECT_EQ(decode(Format::ue4m3, 0xc8), 4.0) << "the sign bit is ignored";
    EXPECT_EQ(decode(Format::f16, 0x0001), 0x1p-24);
    EXPECT_EQ(decode(Format::bf16, 0x0001), 0x1p-133);
    EXPECT_EQ(decode(Format::tf32, 0x3f801fff), 1.0) << "the low 13 bits are ignored";
    EXPECT_EQ(decode(Format::s4, 0xf), -1.0);
    EXPECT_EQ(decode(Format::u4, 0xf), 15.0);
    EXPECT_EQ(decode(Format::s8, 0x80), -128.0);
}

TEST(Formats, EveryCodeEncodesToItself) {
    for (Format format :
         {Format::e5m2, Format::e4m3, Format::e3m2, Format::e2m3, Format::e2m1, Format::ue8m0,
          Format::ue4m3, Format::f16, Format::bf16, Format::s4, Format::u4, Format::s8, Format::u8,
          Format::s16, Format::u16, Format::b1}) {
        const FormatInfo& traits = info(format);
        const std::uint64_t count = std::uint64_t{1} << (format == Format::ue4m3 ? 7 : traits.bits);
        for (std::uint64_t code = 0; code < count; ++code) {
            const double value = decode(format, code);
            if (std::isnan(value)) continue;
            for (Rounding rounding : kRoundings) {
                ASSERT_EQ(encode(format, value, {.rounding = rounding}), code)
                    << traits.name << " " << value;
            }
        }
    }
}

// The code next to `value` by searching all finite codes of a small format.
std::uint64_t search(Format format, double value, Rounding rounding) {
    const FormatInfo& traits = info(format);
    const bool negative = std::signbit(value);
    const double size = std::fabs(value);
    const std::uint64_t sign =
        traits.is_signed && negative ? std::uint64_t{1} << (traits.bits - 1) : 0;
    const std::uint64_t half = std::uint64_t{1} << (traits.exponent_bits + traits.mantissa_bits);
    std::uint64_t below = 0;
    for (std::uint64_t code = 0; code < half; ++code) {
        const double x = decode(format, code);
        if (std::isfinite(x) && x <= size && x >= decode(format, below)) below = code;
    }
    const double low = decode(format, below), high = decode(format, below + 1);
    if (low == size) return below | sign;
    bool up = (rounding == Rounding::rp && !negative) || (rounding == Rounding::rm && negative);
    if (rounding == Rounding::rn)
        up = size - low > high - size || (size - low == high - size && (below & 1));
    if (rounding == Rounding::rna) up = size - low >= high - size;
    return (below + up) | sign;
}

TEST(Formats, RoundingMatchesASearch) {
    std::mt19937_64 random(7);
    for (Format format : {Format::e5m2, Format::e4m3, Format::e3m2, Format::e2m3, Format::e2m1}) {
        const FormatInfo& traits = info(format);
        for (int i = 0; i < 4000; ++i) {
            const double fraction = static_cast<double>(random() >> 11) * 0x1p-53;
            double value =
                fraction * std::ldexp(traits.max_finite, -static_cast<int>(random() % 12));
            if (i % 4 == 0) {  // exactly between two codes, or next to it
                const std::uint64_t code = random() % 30;
                value = (decode(format, code) + decode(format, code + 1)) / 2;
                if (i % 3 == 0) value = std::nextafter(value, random() % 2 ? 0.0 : kInf);
            }
            if (random() & 1) value = -value;
            if (std::fabs(value) >= traits.max_finite) continue;
            for (Rounding rounding : kRoundings) {
                ASSERT_EQ(encode(format, value, {.rounding = rounding}),
                          search(format, value, rounding))
                    << traits.name << " " << value << " mode " << static_cast<int>(rounding);
            }
        }
    }
}

TEST(Formats, F16MatchesTheProcessor) {
    std::mt19937 random(3);
    for (int i = 0; i < 200000; ++i) {
        std::uint32_t bits = random();
        // Most floats are far outside f16: half of the draws are moved to its range and its ties.
        if (i & 1)
            bits = (bits & 0x80001fffu) | ((100 + random() % 48) << 23) | (random() & 0x007fe000u);
        if (i % 8 == 1) bits = (bits & ~0x1fffu) | 0x1000;
        const float x = float_of(bits);
        if (x != x) continue;
        ASSERT_EQ(encode(Format::f16, x), _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT)) << x;
        ASSERT_EQ(encode(Format::f16, x, {.rounding = Rounding::rz}),
                  _cvtss_sh(x, _MM_FROUND_TO_ZERO))
            << x;
        ASSERT_EQ(encode(Format::f16, x, {.rounding = Rounding::rm}),
                  _cvtss_sh(x, _MM_FROUND_TO_NEG_INF))
            << x;
        ASSERT_EQ(encode(Format::f16, x, {.rounding = Rounding::rp}),
                  _cvtss_sh(x, _MM_FROUND_TO_POS_INF))
            << x;
        ASSERT_EQ(encode(Format::bf16, x), f32_to_bf16(x)) << x;
        ASSERT_EQ(encode(Format::f32, x), bits) << x;
    }
}

TEST(Formats, RegistersConvertAsLanesDo) {
    std::mt19937 random(4);
    for (int trial = 0; trial < 2000; ++trial) {
        std::uint16_t codes[32], back[32];
        float values[32];
        for (auto& code : codes) code = static_cast<std::uint16_t>(random());
        f16_to_f32(codes, values, 32);
        for (int i = 0; i < 32; ++i) {
            ASSERT_EQ(bits_of(values[i]), bits_of(f16_to_f32(codes[i])));
            values[i] = float_of(bits_of(values[i]) + random() % 0x3000);
        }
        f32_to_f16(values, back, 32);
        for (int i = 0; i < 32; ++i) ASSERT_EQ(back[i], f32_to_f16(values[i])) << values[i];
    }
}

TEST(Formats, OneRoundingFromDouble) {
    // Just above the tie between 1 and the next f16: through f32 it would fall back to 1.
    EXPECT_EQ(encode(Format::f16, 1.0 + 0x1p-11 + 0x1p-40), 0x3c01u);
    EXPECT_EQ(encode(Format::bf16, 1.0 + 0x1p-8 + 0x1p-45), 0x3f81u);
    EXPECT_EQ(encode(Format::e4m3, 1.0 + 0x1p-4 + 0x1p-50), 0x39u);
    EXPECT_EQ(encode(Format::f32, 1.0 + 0x1p-24 + 0x1p-52), 0x3f800001u);
    EXPECT_EQ(encode(Format::tf32, 1.0 + 0x1p-11, {.rounding = Rounding::rna}), 0x3f802000u);
    EXPECT_EQ(encode(Format::tf32, 1.0 + 0x1p-11), 0x3f800000u);
}

TEST(Formats, NanInfinityAndSaturation) {
    const EncodeOptions saturate{.saturate = true};
    EXPECT_EQ(encode(Format::f16, -kNan), 0x7fffu);
    EXPECT_EQ(encode(Format::bf16, kNan, saturate), 0x7fffu);
    EXPECT_EQ(encode(Format::tf32, kNan), 0x7fffffffu);
    EXPECT_EQ(encode(Format::f32, kNan), 0x7fffffffu);
    EXPECT_EQ(encode(Format::e4m3, kNan, saturate), 0x7fu);
    EXPECT_EQ(encode(Format::e5m2, kNan, saturate), 0x7fu);
    EXPECT_EQ(encode(Format::e2m1, -kNan, saturate), 0x7u);
    EXPECT_EQ(encode(Format::e3m2, kNan, saturate), 0x1fu);
    EXPECT_EQ(encode(Format::ue8m0, kNan, saturate), 0xffu);
    EXPECT_EQ(encode(Format::e4m3, 1e9, saturate), 0x7eu);
    EXPECT_EQ(encode(Format::e4m3, -kInf, saturate), 0xfeu);
    EXPECT_EQ(encode(Format::e4m3, 464.0), 0x7eu) << "a tie with the even neighbour 448";
    EXPECT_EQ(encode(Format::e4m3, 465.0), 0x7fu);
    EXPECT_EQ(encode(Format::e5m2, 1e9), 0x7cu);
    EXPECT_EQ(encode(Format::e5m2, -1e9, saturate), 0xfbu);
    EXPECT_EQ(encode(Format::f16, 65520.0), 0x7c00u);
    EXPECT_EQ(encode(Format::f16, 65519.0), 0x7bffu);
    EXPECT_EQ(encode(Format::f16, 1e9, {.rounding = Rounding::rz}), 0x7bffu);
    EXPECT_EQ(encode(Format::f16, kInf, {.rounding = Rounding::rz}), 0x7c00u);
    EXPECT_EQ(encode(Format::f16, kInf, saturate), 0x7bffu);
    EXPECT_EQ(encode(Format::e2m1, 1e9), 0x7u);
    EXPECT_EQ(encode(Format::f16, -3.0, {.relu = true}), 0u);
    EXPECT_EQ(encode(Format::f16, -0.0, {.relu = true}), 0u);
    EXPECT_EQ(encode(Format::f16, kNan, {.relu = true}), 0x7fffu);
    EXPECT_EQ(encode(Format::s8, 300.0), 0x7fu);
    EXPECT_EQ(encode(Format::u8, -3.0), 0u);
    EXPECT_EQ(encode(Format::s8, -2.5), 0xfeu);
    EXPECT_EQ(encode(Format::s32, kNan), 0u);
}

TEST(Formats, PowersOfTwo) {
    const EncodeOptions up{.rounding = Rounding::rp, .saturate = true};
    const EncodeOptions cut{.rounding = Rounding::rz, .saturate = true};
    EXPECT_EQ(encode(Format::ue8m0, 1.0, up), 127u);
    EXPECT_EQ(encode(Format::ue8m0, 1.0001, up), 128u);
    EXPECT_EQ(encode(Format::ue8m0, 1.9999, cut), 127u);
    EXPECT_EQ(encode(Format::ue8m0, 0.0, up), 0u);
    EXPECT_EQ(encode(Format::ue8m0, 0x1.8p127, up), 0xfeu);
    EXPECT_EQ(encode(Format::ue8m0, 0x1.8p127, {.rounding = Rounding::rp}), 0xffu);
    EXPECT_EQ(encode(Format::ue8m0, kInf, cut), 0xfeu);
}

TEST(Formats, NamesAreFound) {
    EXPECT_EQ(format_named("e2m1"), Format::e2m1);
    EXPECT_EQ(format_named("none"), Format::none);
    EXPECT_EQ(format_named("fp9"), Format::none);
}

}  // namespace
}  // namespace ww::numerics

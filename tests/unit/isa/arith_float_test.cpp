// SPDX-License-Identifier: Apache-2.0
// f32 and f64 rows against the host's FPU in its four rounding modes.
#include <cfenv>
#include <cmath>

#include "arith_rows.hpp"
#include "numerics/arith.hpp"

namespace ww::isa::arith_test {
namespace {

struct Mode {
    const char* name;
    int fenv;
};
constexpr Mode kModes[] = {
    {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

// volatile: the compiler must not move the operation out of the rounding mode.
template <class T, class F>
T rounded(int mode, F&& f) {
    std::fesetround(mode);
    volatile T result = f();
    std::fesetround(FE_TONEAREST);
    return result;
}
template <class T>
T hidden(T x) {
    volatile T copy = x;
    return copy;
}
constexpr float kWide = 0x1p64f;  // lifts a result near 2^-126 to where rounding has 24 bits
// wide: the result of the operation lifted by kWide. What is below 2^-126 there is flushed, also
// when the subnormal grid rounds it up to 2^-126.
float finish(float x, float wide, bool ftz, bool sat) {
    if (std::isnan(x)) x = numerics::float_of(0x7fffffff);
    const bool rounds_up = std::fabs(x) == 0x1p-126f && std::fabs(wide) < 0x1p-126f * kWide;
    if (ftz && (std::fabs(x) < 0x1p-126f || rounds_up)) x = std::copysign(0.0f, x);
    if (sat) x = std::isnan(x) || x <= 0.0f ? 0.0f : std::fmin(x, 1.0f);
    return x;
}
float input(float x, bool ftz) {
    return ftz && std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
}

TEST(ArithFloat, F32TwoSources) {
    Rows rows;
    const auto test = [&](const std::string& mnemonic, auto operation) {
        for (const Mode& mode : kModes)
            for (const bool ftz : {false, true})
                for (const bool sat : {false, true}) {
                    if (sat && mnemonic == "div") continue;
                    rows.check<float, float, float>(
                        mnemonic + mode.name + (ftz ? ".ftz" : "") + (sat ? ".sat" : "") + ".f32",
                        [&](float a, float b) {
                            a = hidden(input(a, ftz)), b = hidden(input(b, ftz));
                            const auto at = [&](float lift) {
                                return rounded<float>(mode.fenv, [&] { return operation(a, b, hidden(lift)); });
                            };
                            return finish(at(1), at(kWide), ftz, sat);
                        });
                }
    };
    test("add", [](float a, float b, float lift) { return a * lift + b * lift; });
    test("sub", [](float a, float b, float lift) { return a * lift - b * lift; });
    test("mul", [](float a, float b, float lift) { return a * lift * b; });
    test("div", [](float a, float b, float lift) { return a / b * lift; });  // rounds, then flushes
}

TEST(ArithFloat, F32Fma) {
    Rows rows;
    for (const Mode& mode : kModes)
        for (const bool ftz : {false, true})
            rows.check<float, float, float, float>(
                std::string("fma") + mode.name + (ftz ? ".ftz" : "") + ".f32",
                [&](float a, float b, float c) {
                    a = hidden(input(a, ftz)), b = hidden(input(b, ftz)), c = hidden(input(c, ftz));
                    const auto at = [&](float lift) {
                        lift = hidden(lift);
                        return rounded<float>(mode.fenv, [&] { return std::fma(a * lift, b, c * lift); });
                    };
                    return finish(at(1), at(kWide), ftz, false);
                });
}

TEST(ArithFloat, F32Roots) {
    Rows rows;
    for (const Mode& mode : kModes) {
        rows.check<float, float>(std::string("sqrt") + mode.name + ".f32", [&](float a) {
            a = hidden(a);
            return finish(rounded<float>(mode.fenv, [&] { return std::sqrt(a); }), 1, false, false);
        });
        rows.check<float, float>(std::string("rcp") + mode.name + ".f32", [&](float a) {
            a = hidden(a);
            return finish(rounded<float>(mode.fenv, [&] { return 1.0f / a; }), 1, false, false);
        });
    }
}

TEST(ArithFloat, F64) {
    Rows rows;
    for (const Mode& mode : kModes) {
        const auto check = [&](const std::string& mnemonic, auto operation) {
            rows.check<double, double, double, double>(
                mnemonic + mode.name + ".f64", [&](double a, double b, double c) {
                    a = hidden(a), b = hidden(b), c = hidden(c);
                    const double result =
                        rounded<double>(mode.fenv, [&] { return operation(a, b, c); });
                    if (!std::isnan(result)) return result;
                    for (const double x : {a, b, c})
                        if (std::isnan(x))
                            return numerics::double_of(numerics::bits_of(x) | 0x0008000000000000u);
                    return numerics::double_of(0xfff8000000000000u);
                });
        };
        check("fma", [](double a, double b, double c) { return std::fma(a, b, c); });
    }
}

TEST(ArithFloat, MinMax) {
    Rows rows;
    const auto order = [](float x) {
        const auto bits = static_cast<int32_t>(numerics::bits_of(x));
        return bits < 0 ? bits ^ 0x7fffffff : bits;
    };
    const float nan = numerics::float_of(0x7fffffff);
    const auto smaller = [&](float a, float b, bool nan_wins) {
        if (nan_wins && (std::isnan(a) || std::isnan(b))) return nan;
        if (std::isnan(a)) return std::isnan(b) ? nan : b;
        if (std::isnan(b)) return a;
        return order(a) < order(b) ? a : b;
    };
    rows.check<float, float, float>("min.f32",
                                    [&](float a, float b) { return smaller(a, b, false); });
    rows.check<float, float, float>("min.NaN.f32",
                                    [&](float a, float b) { return smaller(a, b, true); });
    rows.check<float, float, float>("max.f32", [&](float a, float b) {
        const float r = smaller(-a, -b, false);
        return std::isnan(r) ? nan : -r;
    });
    rows.check<float, float, float>("min.xorsign.abs.f32", [&](float a, float b) {
        const float r = smaller(std::fabs(a), std::fabs(b), false);
        return std::isnan(r) ? nan : (std::signbit(a) != std::signbit(b) ? -r : r);
    });
    rows.check<float, float, float, float>("min.f32", [&](float a, float b, float c) {
        return smaller(smaller(a, b, false), c, false);
    });
}

TEST(ArithFloat, SignAndPacked) {
    Rows rows;
    rows.check<uint32_t, uint32_t>("neg.f32", [](uint32_t a) {
        return (a & 0x7fffffff) > 0x7f800000 ? 0x7fffffffu : a ^ 0x80000000u;
    });
    rows.check<uint32_t, uint32_t>("abs.f32", [](uint32_t a) {
        return (a & 0x7fffffff) > 0x7f800000 ? 0x7fffffffu : a & 0x7fffffffu;
    });
    rows.check<uint32_t, uint32_t, uint32_t>("copysign.f32", [](uint32_t a, uint32_t b) {
        return (a & 0x80000000u) | (b & 0x7fffffffu);
    });
    const auto each = [](uint64_t a, uint64_t b, auto f) {
        const auto half = [&](int shift) {
            const float r = f(numerics::float_of(static_cast<uint32_t>(a >> shift)),
                              numerics::float_of(static_cast<uint32_t>(b >> shift)));
            return uint64_t{numerics::bits_of(finish(r, 1, false, false))} << shift;
        };
        return half(0) | half(32);
    };
    rows.check<uint64_t, uint64_t, uint64_t>("add.rn.f32x2", [&](uint64_t a, uint64_t b) {
        return each(a, b, [](float x, float y) { return x + y; });
    });
    rows.check<uint64_t, uint64_t, uint64_t>("mul.f32x2", [&](uint64_t a, uint64_t b) {
        return each(a, b, [](float x, float y) { return x * y; });
    });
}

}  // namespace
}  // namespace ww::isa::arith_test

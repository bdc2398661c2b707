// SPDX-License-Identifier: Apache-2.0
// Directed rounding against the processor's own rounding modes.
#include "numerics/arith.hpp"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <random>

#include "numerics/half.hpp"
#include "numerics/math.hpp"

namespace ww::numerics {
namespace {

// Not inlined, operands through volatile: the compiler must not fold or move these out of the mode.
template <class T, class F>
[[gnu::noinline]] T in_mode(Rounding rounding, F operation, T a, T b, T c) {
    const int mode = rounding == Rounding::rz   ? FE_TOWARDZERO
                     : rounding == Rounding::rm ? FE_DOWNWARD
                     : rounding == Rounding::rp ? FE_UPWARD
                                                : FE_TONEAREST;
    volatile T x = a, y = b, z = c;
    std::fesetround(mode);
    volatile T result = operation(x, y, z);
    std::fesetround(FE_TONEAREST);
    return result;
}

template <class T>
bool same(T a, T b) {
    return (a != a && b != b) || bits_of(a) == bits_of(b);
}

float draw(std::mt19937_64& random, float) {
    const auto bits = static_cast<std::uint32_t>(random());
    switch (random() % 8) {
        case 0:
            return float_of(bits & 0x807fffffu);  // subnormal
        case 1:
            return float_of((bits & 0x80000000u) | 0x7f000000u | (bits & 3));  // near overflow
        case 2:
            return float_of((bits & 0x80000007u) | 0x3f800000u);
        case 3:
            return float_of((bits & 0x80000000u) | (random() % 3 == 0 ? 0x7f800000u : 0u));
        case 4:
            return float_of((bits & 0x807fffffu) | static_cast<std::uint32_t>(120 + random() % 16)
                                                       << 23);
        default:
            return float_of(bits);
    }
}

double draw(std::mt19937_64& random, double) {
    const std::uint64_t bits = random(), sign = bits & (std::uint64_t{1} << 63);
    switch (random() % 8) {
        case 0:
            return double_of(bits & 0x800fffffffffffffu);
        case 1:
            return double_of(sign | 0x7fe0000000000000u | (bits & 3));
        case 2:
            return double_of(sign | 0x3ff0000000000000u | (bits & 7));
        case 3:
            return double_of(sign | (random() % 3 == 0 ? 0x7ff0000000000000u : 0u));
        case 4:
            return double_of((bits & 0x800fffffffffffffu) | (1000 + random() % 46) << 52);
        case 5:
            return double_of(sign | 0x0010000000000000u * (1 + random() % 60) | (bits & 0xff));
        default:
            return double_of(bits);
    }
}

template <class T, Rounding R>
void compare(int count) {
    std::mt19937_64 random(11);
    for (int i = 0; i < count; ++i) {
        T a = draw(random, T{}), b = draw(random, T{}), c = draw(random, T{});
        if (i % 4 == 0) b = -a;
        if (i % 5 == 0) c = static_cast<T>(-(a * b));
        const auto expect = [&](const char* what, T got, auto operation) {
            const T want = in_mode<T>(R, operation, a, b, c);
            ASSERT_TRUE(same(got, want))
                << what << " mode " << static_cast<int>(R) << ": " << std::hexfloat << a << " " << b
                << " " << c << " gives " << got << ", processor " << want;
        };
        expect("add", add<R>(a, b), [](T x, T y, T) { return x + y; });
        expect("sub", sub<R>(a, b), [](T x, T y, T) { return x - y; });
        expect("mul", mul<R>(a, b), [](T x, T y, T) { return x * y; });
        expect("div", div<R>(a, b), [](T x, T y, T) { return x / y; });
        expect("fma", fma<R>(a, b, c), [](T x, T y, T z) { return std::fma(x, y, z); });
        expect("sqrt", sqrt<R>(a), [](T x, T, T) { return std::sqrt(x); });
        expect("rcp", rcp<R>(a), [](T x, T, T) { return T{1} / x; });
        if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(Arith, F32MatchesTheProcessor) {
    compare<float, Rounding::rn>(100000);
    compare<float, Rounding::rz>(100000);
    compare<float, Rounding::rm>(100000);
    compare<float, Rounding::rp>(100000);
}

TEST(Arith, F64MatchesTheProcessor) {
    compare<double, Rounding::rn>(50000);
    compare<double, Rounding::rz>(50000);
    compare<double, Rounding::rm>(50000);
    compare<double, Rounding::rp>(50000);
}

TEST(Arith, NarrowingMatchesTheProcessor) {
    std::mt19937_64 random(5);
    for (int i = 0; i < 200000; ++i) {
        double x = draw(random, 0.0);
        if (i % 2) x = std::ldexp(std::fmod(x, 2.0), static_cast<int>(random() % 300) - 160);
        const auto narrow = [&](Rounding rounding) {
            return in_mode<double>(
                rounding, [](double y, double, double) { return static_cast<float>(y); }, x, 0, 0);
        };
        ASSERT_TRUE(same<double>(round_to_f32<Rounding::rz>(x), narrow(Rounding::rz))) << x;
        ASSERT_TRUE(same<double>(round_to_f32<Rounding::rm>(x), narrow(Rounding::rm))) << x;
        ASSERT_TRUE(same<double>(round_to_f32<Rounding::rp>(x), narrow(Rounding::rp))) << x;
    }
}

TEST(Arith, NanResultsAreCanonical) {
    const float inf = HUGE_VALF;
    EXPECT_EQ(bits_of(add(inf, -inf)), kNanF32);
    EXPECT_EQ(bits_of(mul<Rounding::rz>(inf, 0.0f)), kNanF32);
    EXPECT_EQ(bits_of(fma(float_of(0xff800001u), 1.0f, 1.0f)), kNanF32);
    EXPECT_EQ(bits_of(sqrt(-1.0f)), kNanF32);
    EXPECT_EQ(bits_of(relu(float_of(0xffc00000u))), kNanF32);
    EXPECT_EQ(bits_of(saturate(float_of(kNanF32))), 0u);
    EXPECT_EQ(bits_of(saturate(-0.0f)), 0u);
    EXPECT_EQ(bits_of(flush(float_of(0x80000001u))), 0x80000000u);
    EXPECT_EQ(bits_of(flush(float_of(0x00800000u))), 0x00800000u);
}

TEST(Arith, HalfFmaRoundsOnce) {
    std::mt19937_64 random(9);
    for (int i = 0; i < 300000; ++i) {
        auto a = static_cast<std::uint16_t>(random()), b = static_cast<std::uint16_t>(random()),
             c = static_cast<std::uint16_t>(random());
        // The exact value needs up to 100 bits: long products of f64 parts, summed in __float128.
        const auto check = [&](Format format, std::uint16_t got) {
            const __float128 exact =
                static_cast<__float128>(decode(format, a)) * decode(format, b) + decode(format, c);
            const double near = static_cast<double>(exact);
            // Rounding to odd by hand: f64 result nudged so that its last bit says "inexact".
            double odd = near;
            if (std::isfinite(near) && static_cast<__float128>(near) != exact &&
                !(bits_of(near) & 1)) {
                odd = std::nextafter(near,
                                     static_cast<__float128>(near) < exact ? HUGE_VAL : -HUGE_VAL);
            }
            ASSERT_EQ(got, encode(format, odd)) << std::hex << a << " " << b << " " << c;
        };
        check(Format::f16, f16_fma(a, b, c));
        if (std::abs((a >> 7 & 255) + (b >> 7 & 255) - 127 - (c >> 7 & 255)) < 90) {
            check(Format::bf16, bf16_fma(a, b, c));  // spans beyond __float128 are left out
        }
    }
}

TEST(Math, RangeHandling) {
    EXPECT_EQ(ex2_approx(3.0f), 8.0f);
    EXPECT_EQ(ex2_approx(-140.0f), 0x1p-140f);
    EXPECT_EQ(ex2_approx_ftz(-140.0f), 0.0f);
    EXPECT_EQ(ex2_approx(-HUGE_VALF), 0.0f);
    EXPECT_EQ(lg2_approx(0x1p-140f), -140.0f);
    EXPECT_EQ(lg2_approx_ftz(0x1p-140f), -HUGE_VALF);
    EXPECT_EQ(bits_of(lg2_approx(-1.0f)), kNanF32);
    EXPECT_EQ(rcp_approx(0x1p-127f), 0x1p127f);
    EXPECT_EQ(rcp_approx(0x1p127f), 0x1p-127f);
    EXPECT_EQ(rcp_approx_ftz(0x1p127f), 0.0f);
    EXPECT_EQ(rcp_approx(-0.0f), -HUGE_VALF);
    EXPECT_EQ(rsqrt_approx(0x1p-140f), 0x1p70f);
    EXPECT_EQ(sqrt_approx(0x1p-140f), 0x1p-70f);
    EXPECT_EQ(bits_of(sqrt_approx(-0.0f)), 0x80000000u);
    EXPECT_EQ(div_approx(6.0f, 3.0f), 2.0f);
    EXPECT_EQ(div_approx(6.0f, 0x1p127f), 0.0f);
    EXPECT_EQ(bits_of(div_approx(HUGE_VALF, 0x1p127f)), kNanF32);
    EXPECT_NEAR(sin_approx(0.5f), std::sin(0.5), 1e-6);
    EXPECT_NEAR(cos_approx(0.5f), std::cos(0.5), 1e-6);
    EXPECT_EQ(bits_of(sin_approx(HUGE_VALF)), kNanF32);
    EXPECT_EQ(tanh_approx(40.0f), 1.0f);
    EXPECT_EQ(rcp_approx_ftz_f64(4.0), 0.25);
    EXPECT_EQ(bits_of(rcp_approx_ftz_f64(3.0)) & 0xffffffffu, 0u);
    EXPECT_NEAR(rsqrt_approx_ftz_f64(16.0), 0.25, 1e-6);
}

}  // namespace
}  // namespace ww::numerics

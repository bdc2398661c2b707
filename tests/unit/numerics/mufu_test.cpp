// SPDX-License-Identifier: Apache-2.0
// The multi-function unit: what every result must satisfy, and a hash over all significands of each
// function's results, which were an NVIDIA H200's on 2026-11-30 (`warpwright fidelity --every-input`).
#include "numerics/mufu.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "numerics/math.hpp"

namespace ww::numerics {
namespace {

// Of operands first, first + 1, ...
template <class F>
std::uint64_t hash_of(F&& function, std::uint32_t first, std::uint32_t count) {
    std::uint64_t hash = 0;
    for (std::uint32_t i = 0; i < count; ++i) hash = hash * 0x9e3779b97f4a7c15 + bits_of(function(float_of(first + i)));
    return hash;
}

TEST(Mufu, SquarerLeavesOutTheLowColumns) {
    for (const std::int32_t l : {0, 1, 1023, 1024, 0x155aa, 0x1ffff}) {
        std::int64_t sum = 0;
        for (int i = 0; i < 17; ++i)
            for (int j = i; j < 17; ++j) {
                const int column = i == j ? 2 * i : i + j + 1;
                if (column >= 19) sum += static_cast<std::int64_t>((l >> i & 1) * (l >> j & 1)) << (column - 19);
            }
        EXPECT_EQ(mufu::detail::top_of_square(l), sum) << l;
    }
}

TEST(Mufu, PowersOfTwoAreExact) {
    for (int e = -126; e <= 126; ++e) {
        const float x = std::ldexp(1.0f, e);
        EXPECT_EQ(mufu::rcp(x), std::ldexp(1.0f, -e));
        EXPECT_EQ(mufu::ex2(static_cast<float>(e)), x);
        if (e % 2 == 0) {
            EXPECT_EQ(mufu::sqrt(x), std::ldexp(1.0f, e / 2));
            EXPECT_EQ(mufu::rsqrt(x), std::ldexp(1.0f, -e / 2));
        }
    }
    EXPECT_EQ(bits_of(mufu::lg2(1.0f)), 0u);
}

TEST(Mufu, WithinTheManualsBounds) {
    for (std::uint32_t bits = 0x00800000; bits < 0x7f800000; bits += 9973) {
        const float x = float_of(bits);
        const double exact = 1.0 / x;
        if (exact > 0x1p-126) {
            EXPECT_LE(std::fabs(mufu::rcp(x) - exact), exact * 0x1p-23) << x;
        }
        EXPECT_LE(std::fabs(mufu::rsqrt(x) * std::sqrt(static_cast<double>(x)) - 1), 0x1p-22) << x;
        EXPECT_LE(std::fabs(mufu::lg2(x) - std::log2(static_cast<double>(x))),
                  std::max(0x1p-22, std::fabs(std::log2(static_cast<double>(x))) * 0x1p-22)) << x;
        EXPECT_LE(std::fabs(mufu::tanh(x) - std::tanh(static_cast<double>(x))), 0x1p-11) << x;
    }
}

TEST(Mufu, SpecialOperands) {
    const float infinity = HUGE_VALF, nan = float_of(0xff812345), subnormal = float_of(0x807fffff);
    for (float (*function)(float) : {mufu::rcp, mufu::rsqrt, mufu::sqrt, mufu::ex2, mufu::lg2, mufu::sin, mufu::cos, mufu::tanh})
        EXPECT_EQ(bits_of(function(nan)), kNanF32);
    EXPECT_EQ(mufu::rcp(subnormal), -infinity);
    EXPECT_EQ(mufu::rsqrt(subnormal), -infinity);
    EXPECT_EQ(bits_of(mufu::sqrt(subnormal)), 0x80000000u);
    EXPECT_EQ(mufu::ex2(subnormal), 1.0f);
    EXPECT_EQ(mufu::lg2(subnormal), -infinity);
    EXPECT_EQ(bits_of(mufu::tanh(subnormal)), 0x807fffffu);
    EXPECT_EQ(bits_of(mufu::rsqrt(-1.0f)), kNanF32);
    EXPECT_EQ(bits_of(mufu::sin(infinity)), kNanF32);
    EXPECT_EQ(mufu::ex2(-infinity), 0.0f);
}

TEST(Mufu, UpperHalvesOfF64) {
    EXPECT_EQ(rcp_approx_ftz_f64(4.0), 0.25);
    EXPECT_EQ(bits_of(rcp_approx_ftz_f64(3.0)), 0x3fd5555500000000u);
    EXPECT_EQ(rsqrt_approx_ftz_f64(16.0), 0.25);
    EXPECT_EQ(rcp_approx_ftz_f64(0x1p-1030), HUGE_VAL);
    EXPECT_EQ(rcp_approx_ftz_f64(-0x1.8p1022), -0.0);
    EXPECT_EQ(bits_of(rsqrt_approx_ftz_f64(-1.0)), 0x7fffffff00000000u);
}

TEST(Mufu, HashesOfAllSignificands) {
    constexpr std::uint32_t kOne = 0x3f800000, kAll = 1 << 23;
    EXPECT_EQ(hash_of(mufu::rcp, kOne, kAll), 3564292677377998697ull);
    EXPECT_EQ(hash_of(mufu::rsqrt, kOne, 2 * kAll), 14962240199590882073ull);
    EXPECT_EQ(hash_of(mufu::sqrt, kOne, 2 * kAll), 15900771208279454831ull);
    EXPECT_EQ(hash_of(mufu::ex2, kOne, kAll), 17778457995343573110ull);
    EXPECT_EQ(hash_of(mufu::lg2, kOne - kAll, 2 * kAll), 9393975713382970459ull);
    EXPECT_EQ(hash_of(mufu::sin, kOne - 3 * kAll, 3 * kAll), 11941092127065853494ull);
    EXPECT_EQ(hash_of(mufu::tanh, kOne - 8 * kAll, 11 * kAll), 17111186279656268888ull);
}

}  // namespace
}  // namespace ww::numerics

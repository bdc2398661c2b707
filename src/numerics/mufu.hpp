// SPDX-License-Identifier: Apache-2.0
// MUFU, the multi-function unit of an NVIDIA GPU, bit for bit: what rcp, rsqrt, sqrt, ex2, lg2, sin, cos
// and tanh `.approx` are made of (the range handling that ptxas puts around it is in math.hpp). The unit
// flushes subnormal operands and results, except tanh. How it computes, and how that was found out:
// docs/mufu.md. Free of branches: loops over lanes vectorise.
#pragma once
#include <cstdint>

#include "numerics/arith.hpp"
#include "numerics/mufu_tables.hpp"

namespace ww::numerics::mufu {

namespace detail {
using numerics::detail::Quadratic;

// l * l / 2^19 of a 17-bit l as the unit's squarer sums it: the products of two bits of l whose weight
// is below 2^19 are left out (each pair once, with twice its weight).
inline std::int32_t top_of_square(std::int32_t l) {
    std::int32_t sum = 0;
    for (int j = 10; j <= 16; ++j) {
        const std::int32_t row = ((l & ((1 << j) - 1)) + (1 << (j - 1))) >> (18 - j);
        sum += row & -((l >> j) & 1);
    }
    return sum;
}

// The sum in units of 2^-40; exact in a double.
inline double evaluate(const Quadratic* pieces, std::int32_t index, std::int32_t l) {
    const Quadratic* const piece = pieces + index;
    return piece->c0 + piece->c1 * l + piece->c2 * top_of_square(l);
}
// Of 64 pieces, a 23-bit fraction chooses one with its upper six bits.
inline double evaluate64(const Quadratic* pieces, std::int32_t fraction) {
    return evaluate(pieces, fraction >> 17, fraction & 0x1ffff);
}

// A sum to f32: 24 significant bits, the rest cut.
inline float cut(double sum, double unit) {
    return static_cast<float>(double_of(bits_of(sum) & ~((std::uint64_t{1} << 29) - 1)) * unit);
}

struct Parts {
    std::int32_t exponent, fraction;  // biased; 23 bits
    std::uint32_t sign;               // in its place
    explicit Parts(float x)
        : exponent(static_cast<std::int32_t>(bits_of(x) >> 23 & 255)),
          fraction(static_cast<std::int32_t>(bits_of(x) & 0x7fffff)),
          sign(bits_of(x) & 0x80000000u) {}
    bool zero() const { return exponent == 0; }  // or subnormal
    bool special() const { return exponent == 255; }  // infinity or NaN
    bool nan() const { return (exponent == 255) & (fraction != 0); }
    // Neither a zero nor positive.
    bool negative() const { return (sign != 0) & (exponent != 0); }
};
constexpr std::int32_t kInfinity = 0x7f800000, kLeastNormal = 0x00800000;

// sin(2 pi t) for t >= 0 in 2^-25 of a turn. `positive`: what follows the sign of the operand does not.
inline float sine_of(std::int32_t turns25, std::uint32_t sign) {
    const std::int32_t quarter = turns25 >> 23 & 3, rest = turns25 & 0x7fffff;
    const std::int32_t angle = (quarter & 1) != 0 ? 0x7fffff - rest : rest;
    const float size = cut(evaluate64(numerics::detail::kSin, angle), 0x1p-40);
    return float_of(bits_of(size) ^ (static_cast<std::uint32_t>(quarter >> 1) << 31) ^ sign);
}
inline std::int32_t turns25_of(float turns) {
    const double size = std::fabs(static_cast<double>(turns));
    const double rest = size - std::floor(size);
    return static_cast<std::int32_t>((rest < 1.0 ? rest : 0.0) * 0x1p25);  // an infinity leaves a NaN
}
}  // namespace detail

inline float rcp(float x) {
    const detail::Parts in(x);
    const double sum = detail::evaluate(numerics::detail::kRcp, in.fraction >> 16, (in.fraction & 0xffff) << 1);
    std::int32_t out = static_cast<std::int32_t>(sum * 0x1p-16) + ((252 - in.exponent) << 23);
    out = (out < detail::kLeastNormal) | in.special() ? 0 : out;
    out = in.zero() ? detail::kInfinity : out;
    return in.nan() ? float_of(kNanF32) : float_of(static_cast<std::uint32_t>(out) | in.sign);
}

inline float rsqrt(float x) {
    const detail::Parts in(x);
    const std::int32_t odd = ~in.exponent & 1, half = (in.exponent - 127) >> 1;
    const double sum = detail::evaluate64(numerics::detail::kRsqrt + 64 * odd, in.fraction);
    // The first piece of 64 stays just below 1; powers of four are exact all the same.
    const std::int32_t digits = (odd | in.fraction) == 0 ? 1 << 24 : static_cast<std::int32_t>(sum * 0x1p-16);
    std::int32_t out = digits + ((125 - half) << 23);
    out = in.special() ? 0 : out;
    out = in.zero() ? static_cast<std::int32_t>(in.sign | detail::kInfinity) : out;
    const bool invalid = in.nan() | in.negative();
    return float_of(invalid ? kNanF32 : static_cast<std::uint32_t>(out));
}

inline float sqrt(float x) {
    const detail::Parts in(x);
    const std::int32_t odd = ~in.exponent & 1, half = (in.exponent - 127) >> 1;
    const double sum = detail::evaluate64(numerics::detail::kSqrt + 64 * odd, in.fraction);
    std::int32_t out = static_cast<std::int32_t>(sum * 0x1p-17) + ((126 + half) << 23);
    out = in.special() ? detail::kInfinity : out;
    out = in.zero() ? static_cast<std::int32_t>(in.sign) : out;
    const bool invalid = in.nan() | in.negative();
    return float_of(invalid ? kNanF32 : static_cast<std::uint32_t>(out));
}

inline float ex2(float x) {
    const float in = flush(x);
    // Beyond f32's range in either direction; a NaN becomes -200 for now.
    const float low = in > -200.0f ? in : -200.0f, near = low < 200.0f ? low : 200.0f;
    // 2^-23 is the least bit that counts. Below zero the complement is taken, not the negative, unless
    // there is no fraction.
    const std::int32_t size = static_cast<std::int32_t>(std::fabs(near) * 0x1p23f);
    const std::int32_t below = (size & 0x7fffff) == 0 ? -size : ~size;
    const std::int32_t fixed = near < 0.0f ? below : size;
    const double sum = detail::evaluate64(numerics::detail::kEx2, fixed & 0x7fffff);
    const std::int32_t exponent = (fixed >> 23) + 126;
    // Wraps around where the exponent is out of range, and is not taken then.
    const std::uint32_t bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(sum * 0x1p-17)) + (static_cast<std::uint32_t>(exponent) << 23);
    std::int32_t out = static_cast<std::int32_t>(bits);
    out = exponent < 0 ? 0 : out;
    out = exponent > 253 ? detail::kInfinity : out;
    return x != x ? float_of(kNanF32) : float_of(static_cast<std::uint32_t>(out));
}

inline float lg2(float x) {
    const detail::Parts in(x);
    const double sum = std::floor(detail::evaluate64(numerics::detail::kLg2, in.fraction) * 0x1p-4);
    // In units of 2^-36; below zero the complement again.
    const double fixed = (in.exponent - 127) * 0x1p36 + sum;
    const float size = detail::cut(fixed < 0.0 ? -1.0 - fixed : fixed, 0x1p-36);
    float out = fixed < 0.0 ? -size : size;
    out = bits_of(x) == 0x3f800000u ? 0.0f : out;
    out = in.special() ? HUGE_VALF : out;
    out = in.zero() ? -HUGE_VALF : out;
    return in.nan() | in.negative() ? float_of(kNanF32) : out;
}

// Of an angle in turns.
inline float sin(float turns) {
    const detail::Parts in(turns);
    const float out = detail::sine_of(detail::turns25_of(turns), in.sign);
    return in.special() ? float_of(kNanF32) : out;
}
inline float cos(float turns) {
    const detail::Parts in(turns);
    const float out = detail::sine_of(detail::turns25_of(turns) + (1 << 23), 0);
    return in.special() ? float_of(kNanF32) : out;
}

// Below 2^-8 the operand itself.
inline float tanh(float x) {
    // Of the binades from 2^-8 on: where their pieces begin in the table, and how many of the fraction's
    // last bits do not count.
    constexpr std::int32_t kFirst[11] = {0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43};
    constexpr std::int32_t kDropped[11] = {6, 6, 6, 5, 5, 4, 4, 4, 3, 2, 3};
    const detail::Parts in(x);
    const std::int32_t binade = in.exponent - 119, low = binade < 0 ? 0 : binade, near = low > 10 ? 10 : low;
    const std::int32_t kept = in.fraction >> kDropped[near];
    const double sum = detail::evaluate(numerics::detail::kTanh, kFirst[near] + (kept >> 17), kept & 0x1ffff);
    const float size = binade > 10 ? 1.0f : detail::cut(sum, 0x1p-40);
    const float out = float_of(bits_of(size) | in.sign);
    return in.nan() ? float_of(kNanF32) : binade < 0 ? x : out;
}

// MUFU.RCP64H and MUFU.RSQ64H: the same pieces on the upper 32 bits of an f64, 20 bits of fraction; the
// lower 32 bits of the result are zero.
double rcp64h(double x);
double rsqrt64h(double x);

}  // namespace ww::numerics::mufu

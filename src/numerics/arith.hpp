// SPDX-License-Identifier: Apache-2.0
// Scalar floating-point arithmetic as PTX defines it: every rounding without touching fenv, NaN
// codes, flush to zero, saturation. Pure and branch-light, so that loops over lanes vectorise.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "numerics/formats.hpp"

namespace ww::numerics {

inline std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
inline std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }
inline float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline double double_of(std::uint64_t bits) { return std::bit_cast<double>(bits); }

constexpr std::uint32_t kNanF32 = 0x7fffffff;
constexpr std::uint16_t kNanF16 = 0x7fff;
constexpr std::uint16_t kNanBf16 = 0x7fff;

// NaN results of f32 arithmetic are all 0x7fffffff. f64 keeps the operand's payload.
inline float canonical(float x) { return x != x ? float_of(kNanF32) : x; }
// Subnormals become a zero of the same sign (.ftz).
inline float flush(float x) {
    const std::uint32_t bits = bits_of(x);
    return float_of((bits & 0x7f800000u) ? bits : bits & 0x80000000u);
}
// .sat: clamp to [0, 1]; NaN and -0 give +0.
inline float saturate(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
inline double saturate(double x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }
// .relu: negative values and -0 give +0; NaN gives the canonical NaN.
inline float relu(float x) { return x != x ? float_of(kNanF32) : (x > 0.0f ? x : 0.0f); }

// f32 <- f64, one rounding.
template <Rounding R>
inline float round_to_f32(double x) {
    const float nearest = static_cast<float>(x);
    if constexpr (R == Rounding::rn) {
        return canonical(nearest);
    } else {
        const double back = nearest;
        const std::uint32_t bits = bits_of(nearest);
        const bool negative = bits >> 31;
        // One step toward or away from zero; x == 0 never needs one.
        const bool above = back > x, below = back < x;
        std::uint32_t result = bits;
        if constexpr (R == Rounding::rz) {
            result -= negative ? below : above;
        } else if constexpr (R == Rounding::rm) {
            result += negative ? above : 0u - above;
        } else {
            result += negative ? 0u - below : below;
        }
        // -fno-trapping-math lets the compiler turn all of this into selects.
        return x != x ? float_of(kNanF32) : float_of(result);
    }
}

namespace detail {
// The exact sum a + b as a double whose last bit is set when it is inexact ("round to odd"): it can
// be rounded again to f32 or less without a double-rounding error. No operand is near overflow of
// f64.
inline double add_to_odd(double a, double b) {
    const double sum = a + b;
    const double part = sum - a;
    const double error = (a - (sum - part)) + (b - part);
    const std::uint64_t bits = bits_of(sum);
    // Selects and masks instead of && and branches: this vectorises.
    const std::uint64_t inexact = error != 0.0 ? 1 : 0;
    const std::uint64_t finite = std::fabs(sum) < HUGE_VAL ? 1 : 0;
    const std::uint64_t step = inexact & finite & ~bits & 1;
    const std::uint64_t toward_zero = ((error < 0.0 ? 1 : 0) ^ (bits >> 63)) & 1;
    return double_of(bits + step - 2 * (step & toward_zero));
}
inline double to_odd(double value, bool inexact, bool exact_is_larger_in_magnitude) {
    const std::uint64_t bits = bits_of(value);
    const bool step = inexact && (bits & 1) == 0;
    return double_of(step ? (exact_is_larger_in_magnitude ? bits + 1 : bits - 1) : bits);
}
template <Rounding R>
inline double zero_sum(double sum, double a, double b) {
    // x + (-x) is -0 when rounding down.
    if constexpr (R == Rounding::rm) {
        return sum == 0.0 && bits_of(a) >> 63 != bits_of(b) >> 63 ? -0.0 : sum;
    }
    return sum;
}
double f64_add(double a, double b, Rounding rounding);
double f64_mul(double a, double b, Rounding rounding);
double f64_fma(double a, double b, double c, Rounding rounding);
double f64_div(double a, double b, Rounding rounding);
double f64_sqrt(double a, Rounding rounding);
}  // namespace detail

template <Rounding R = Rounding::rn>
inline float add(float a, float b) {
    if constexpr (R == Rounding::rn) return canonical(a + b);
    const double x = a, y = b;
    return round_to_f32<R>(detail::zero_sum<R>(detail::add_to_odd(x, y), x, y));
}
template <Rounding R = Rounding::rn>
inline float sub(float a, float b) {
    return add<R>(a, -b);
}
template <Rounding R = Rounding::rn>
inline float mul(float a, float b) {
    if constexpr (R == Rounding::rn) return canonical(a * b);
    return round_to_f32<R>(static_cast<double>(a) * static_cast<double>(b));
}
template <Rounding R = Rounding::rn>
inline float fma(float a, float b, float c) {
    if constexpr (R == Rounding::rn) return canonical(std::fma(a, b, c));
    const double product = static_cast<double>(a) * static_cast<double>(b), addend = c;
    return round_to_f32<R>(
        detail::zero_sum<R>(detail::add_to_odd(product, addend), product, addend));
}
template <Rounding R = Rounding::rn>
inline float div(float a, float b) {
    if constexpr (R == Rounding::rn) return canonical(a / b);
    const double x = a, y = b, quotient = x / y;
    const double rest =
        std::fma(-quotient, y, x);  // exact; same sign as x when |quotient| is too small
    const bool finite = std::fabs(quotient) < HUGE_VAL && std::fabs(y) < HUGE_VAL;
    const bool larger = (rest > 0.0) == (x > 0.0);
    return round_to_f32<R>(detail::to_odd(quotient, finite && rest != 0.0, larger));
}
template <Rounding R = Rounding::rn>
inline float sqrt(float a) {
    if constexpr (R == Rounding::rn) return canonical(std::sqrt(a));
    const double x = a, root = std::sqrt(x);
    const double rest = std::fma(-root, root, x);
    return round_to_f32<R>(
        detail::to_odd(root, root > 0.0 && root < HUGE_VAL && rest != 0.0, rest > 0.0));
}
template <Rounding R = Rounding::rn>
inline float rcp(float a) {
    return div<R>(1.0f, a);
}

template <Rounding R = Rounding::rn>
inline double add(double a, double b) {
    if constexpr (R == Rounding::rn) return a + b;
    return detail::f64_add(a, b, R);
}
template <Rounding R = Rounding::rn>
inline double sub(double a, double b) {
    return add<R>(a, -b);
}
template <Rounding R = Rounding::rn>
inline double mul(double a, double b) {
    if constexpr (R == Rounding::rn) return a * b;
    return detail::f64_mul(a, b, R);
}
template <Rounding R = Rounding::rn>
inline double fma(double a, double b, double c) {
    if constexpr (R == Rounding::rn) return std::fma(a, b, c);
    return detail::f64_fma(a, b, c, R);
}
template <Rounding R = Rounding::rn>
inline double div(double a, double b) {
    if constexpr (R == Rounding::rn) return a / b;
    return detail::f64_div(a, b, R);
}
template <Rounding R = Rounding::rn>
inline double sqrt(double a) {
    if constexpr (R == Rounding::rn) return std::sqrt(a);
    return detail::f64_sqrt(a, R);
}
template <Rounding R = Rounding::rn>
inline double rcp(double a) {
    return div<R>(1.0, a);
}

}  // namespace ww::numerics

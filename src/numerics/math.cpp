// SPDX-License-Identifier: Apache-2.0
// .approx functions: the range handling around the chip's function unit (MUFU), and in place of the
// unit the correctly rounded result. NOT yet the chip's bits; replace the unit_* bodies only (some
// are in the header).
#include "numerics/math.hpp"

namespace ww::numerics {
namespace {

constexpr float kLeastNormal = 0x1p-126f;

float rounded(double x) { return round_to_f32<Rounding::rn>(x); }

// The function unit: flushes subnormal inputs and results.
float unit_lg2(float x) { return flush(rounded(std::log2(static_cast<double>(flush(x))))); }
float unit_tanh(float x) { return rounded(std::tanh(static_cast<double>(x))); }

constexpr double kTurn = 6.283185307179586476925286766559;
// sin and cos take turns: the angle divided by 2 pi. What is left after whole turns is exact.
double angle(float turns) {
    const double x = turns;
    return (x - std::nearbyint(x)) * kTurn;
}
float unit_sin(float turns) {
    if (turns == 0.0f) return turns;
    return flush(rounded(std::sin(angle(turns))));
}
float unit_cos(float turns) { return flush(rounded(std::cos(angle(turns)))); }

float turns_of(float x) { return mul<Rounding::rz>(x, 0.15915494f); }

bool is_subnormal_or_zero(float x) { return std::fabs(x) < kLeastNormal; }

}  // namespace

float lg2_approx(float x) {
    return is_subnormal_or_zero(x) ? add(unit_lg2(x * 0x1p24f), -24.0f) : unit_lg2(x);
}
float lg2_approx_ftz(float x) { return unit_lg2(x); }

float rsqrt_approx(float x) {
    return is_subnormal_or_zero(x) ? mul(detail::unit_rsqrt(x * 0x1p24f), 0x1p12f)
                                   : detail::unit_rsqrt(x);
}

float sqrt_approx(float x) {
    return is_subnormal_or_zero(x) ? mul(detail::unit_sqrt(x * 0x1p24f), 0x1p-12f)
                                   : detail::unit_sqrt(x);
}

float sin_approx(float x) { return unit_sin(turns_of(x)); }
float sin_approx_ftz(float x) { return unit_sin(flush(turns_of(flush(x)))); }
float cos_approx(float x) { return unit_cos(turns_of(x)); }
float cos_approx_ftz(float x) { return unit_cos(flush(turns_of(flush(x)))); }

float tanh_approx(float x) { return unit_tanh(x); }

float div_approx(float x, float y) {
    const bool huge = std::fabs(y) > 0x1p126f;
    return mul(x, huge ? std::copysign(0.0f, y) : rcp_approx(y));
}
float div_approx_ftz(float x, float y) { return flush(mul(flush(x), detail::unit_rcp(y))); }

namespace {

constexpr std::uint64_t kUpper = 0xffffffff00000000;

// The upper half of an operand, without subnormals.
double upper_operand(double x) {
    const std::uint64_t bits = bits_of(x);
    const bool subnormal = (bits & 0x7ff0000000000000) == 0;
    return double_of(subnormal ? bits & 0x8000000000000000 : bits & kUpper);
}

// Nearest value whose lower half is zero; subnormals become zero.
double upper_result(double x) {
    const std::uint64_t bits = bits_of(x);
    if (x != x) return double_of(0x7fffffff00000000);
    if ((bits & 0x7ff0000000000000) == 0) return double_of(bits & 0x8000000000000000);
    const bool finite = (bits & 0x7ff0000000000000) != 0x7ff0000000000000;
    return double_of((bits + (finite ? 0x80000000u : 0u)) & kUpper);
}

}  // namespace

double rcp_approx_ftz_f64(double x) { return upper_result(1.0 / upper_operand(x)); }
double rsqrt_approx_ftz_f64(double x) { return upper_result(1.0 / std::sqrt(upper_operand(x))); }

}  // namespace ww::numerics

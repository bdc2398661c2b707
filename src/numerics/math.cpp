// SPDX-License-Identifier: Apache-2.0
#include "numerics/math.hpp"

namespace ww::numerics {
namespace {

constexpr float kLeastNormal = 0x1p-126f;

float turns_of(float x) { return mul<Rounding::rz>(x, 0.15915494f); }

bool is_subnormal_or_zero(float x) { return std::fabs(x) < kLeastNormal; }

}  // namespace

float lg2_approx(float x) {
    return is_subnormal_or_zero(x) ? add(mufu::lg2(x * 0x1p24f), -24.0f) : mufu::lg2(x);
}
float lg2_approx_ftz(float x) { return mufu::lg2(x); }

float rsqrt_approx(float x) {
    return is_subnormal_or_zero(x) ? mul(mufu::rsqrt(x * 0x1p24f), 0x1p12f)
                                   : mufu::rsqrt(x);
}

float sqrt_approx(float x) {
    return is_subnormal_or_zero(x) ? mul(mufu::sqrt(x * 0x1p24f), 0x1p-12f)
                                   : mufu::sqrt(x);
}

float sin_approx(float x) { return mufu::sin(turns_of(x)); }
float sin_approx_ftz(float x) { return mufu::sin(flush(turns_of(flush(x)))); }
float cos_approx(float x) { return mufu::cos(turns_of(x)); }
float cos_approx_ftz(float x) { return mufu::cos(flush(turns_of(flush(x)))); }

float tanh_approx(float x) { return mufu::tanh(x); }

float div_approx(float x, float y) {
    const bool huge = std::fabs(y) > 0x1p126f;
    return mul(x, huge ? std::copysign(0.0f, y) : rcp_approx(y));
}
float div_approx_ftz(float x, float y) { return flush(mul(flush(x), mufu::rcp(y))); }

double rcp_approx_ftz_f64(double x) { return mufu::rcp64h(x); }
double rsqrt_approx_ftz_f64(double x) { return mufu::rsqrt64h(x); }

}  // namespace ww::numerics

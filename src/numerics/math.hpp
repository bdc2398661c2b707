// SPDX-License-Identifier: Apache-2.0
// The approximate special functions of PTX (.approx), bit for bit as sm_90 computes them: the
// multi-function unit and the range handling that ptxas puts around it. The frequent ones are inline
// and free of branches: loops over lanes vectorise.
#pragma once
#include "numerics/mufu.hpp"

namespace ww::numerics {

// Each applies the range handling that PTX documents; `_ftz` flushes subnormal input and output
// to a zero of the same sign. NaN results are 0x7fffffff.
inline float ex2_approx(float x) {
    const bool tiny = x < -126.0f;
    const float y = mufu::ex2(tiny ? x * 0.5f : x), square = canonical(y * y);
    return tiny ? square : y;
}
inline float ex2_approx_ftz(float x) { return mufu::ex2(x); }
float lg2_approx(float x);
float lg2_approx_ftz(float x);
inline float rcp_approx(float x) {
    const float size = std::fabs(x);
    const float low = size < 0x1p-126f ? 0x1p24f : 1.0f, scale = size > 0x1p126f ? 0.25f : low;
    return canonical(mufu::rcp(x * scale) * scale);
}
inline float rcp_approx_ftz(float x) { return mufu::rcp(x); }
float rsqrt_approx(float x);
inline float rsqrt_approx_ftz(float x) { return mufu::rsqrt(x); }
float sqrt_approx(float x);
inline float sqrt_approx_ftz(float x) { return mufu::sqrt(x); }
float sin_approx(float x);
float sin_approx_ftz(float x);
float cos_approx(float x);
float cos_approx_ftz(float x);
float tanh_approx(float x);  // has no ftz form: subnormal results are kept
// div.approx: x * rcp(y), with the manual's zero for 2^126 < |y| < 2^128.
float div_approx(float x, float y);
float div_approx_ftz(float x, float y);
// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: only the upper 32 bits of the operand are read, the
// lower 32 bits of the result are zero.
double rcp_approx_ftz_f64(double x);
double rsqrt_approx_ftz_f64(double x);

}  // namespace ww::numerics

// SPDX-License-Identifier: Apache-2.0
// The approximate special functions of PTX (.approx.f32) and the exact reciprocal and roots.
// The approx bodies are correctly rounded results, NOT yet the chip's bits: they are within the PTX
// manual's bounds of it (rcp 1 ulp, sqrt/rsqrt/ex2/lg2 about 2 ulp, sin/cos/tanh by absolute or
// relative error).
#pragma once

namespace ww::numerics {

// Each applies the range handling that PTX documents; `_ftz` flushes subnormal input and output
// to a zero of the same sign. NaN results are 0x7fffffff.
float ex2_approx(float x);
float ex2_approx_ftz(float x);
float lg2_approx(float x);
float lg2_approx_ftz(float x);
float rcp_approx(float x);
float rcp_approx_ftz(float x);
float rsqrt_approx(float x);
float rsqrt_approx_ftz(float x);
float sqrt_approx(float x);
float sqrt_approx_ftz(float x);
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

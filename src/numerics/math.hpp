// SPDX-License-Identifier: Apache-2.0
// The approximate special functions of PTX (.approx.f32) and the exact reciprocal and roots.
// The approx bodies are correctly rounded results, NOT yet the chip's bits: they are within the PTX
// manual's bounds of it (rcp 1 ulp, sqrt/rsqrt/ex2/lg2 about 2 ulp, sin/cos/tanh by absolute or
// relative error). The frequent ones are inline and free of branches: loops over lanes vectorise.
#pragma once
#include "numerics/arith.hpp"

namespace ww::numerics {

namespace detail {
// 2^x for |x| <= 200 to about the last bit of f64. The f32 nearest to it is std::exp2's for every
// f32 operand (tests/unit/numerics/exp2_test.cpp).
inline double exp2_f64(double x) {
    const double shifted = x + 0x1.8p52;  // its low bits are the integer nearest to x
    const double r = x - (shifted - 0x1.8p52);
    // (2^r - 1) / r for |r| <= 1/2 through eleven Chebyshev nodes: off by less than 2^-57.
    double p = 0x1.ed64f299eb262p-32;
    p = std::fma(p, r, 0x1.e6063f7217bc6p-28);
    p = std::fma(p, r, 0x1.b522873e251a0p-24);
    p = std::fma(p, r, 0x1.62bfd47773353p-20);
    p = std::fma(p, r, 0x1.ffcbfda0e1ce7p-17);
    p = std::fma(p, r, 0x1.430913096fd9fp-13);
    p = std::fma(p, r, 0x1.5d87fe7860810p-10);
    p = std::fma(p, r, 0x1.3b2ab6fba1ddap-7);
    p = std::fma(p, r, 0x1.c6b08d704a24ap-5);
    p = std::fma(p, r, 0x1.ebfbdff82c598p-3);
    p = std::fma(p, r, 0x1.62e42fefa39efp-1);
    p = std::fma(p, r, 1.0);
    return double_of(bits_of(p) + (bits_of(shifted) << 52));
}

// The function unit: flushes subnormal inputs and results.
inline float unit_result(double x) { return flush(round_to_f32<Rounding::rn>(x)); }
inline float unit_ex2(float x) {
    const float in = flush(x);
    // Beyond f32's range in either direction; a NaN stays.
    const float low = in < -200.0f ? -200.0f : in, near = low > 200.0f ? 200.0f : low;
    const float out = unit_result(exp2_f64(static_cast<double>(near)));
    return x != x ? float_of(kNanF32) : out;
}
inline float unit_rcp(float x) { return unit_result(1.0 / static_cast<double>(flush(x))); }
inline float unit_sqrt(float x) { return unit_result(std::sqrt(static_cast<double>(flush(x)))); }
inline float unit_rsqrt(float x) {
    return unit_result(1.0 / std::sqrt(static_cast<double>(flush(x))));
}
}  // namespace detail

// Each applies the range handling that PTX documents; `_ftz` flushes subnormal input and output
// to a zero of the same sign. NaN results are 0x7fffffff.
inline float ex2_approx(float x) {
    const bool tiny = x < -126.0f;
    const float y = detail::unit_ex2(tiny ? x * 0.5f : x), square = canonical(y * y);
    return tiny ? square : y;
}
inline float ex2_approx_ftz(float x) { return detail::unit_ex2(x); }
float lg2_approx(float x);
float lg2_approx_ftz(float x);
inline float rcp_approx(float x) {
    const float size = std::fabs(x);
    const float low = size < 0x1p-126f ? 0x1p24f : 1.0f, scale = size > 0x1p126f ? 0.25f : low;
    return canonical(detail::unit_rcp(x * scale) * scale);
}
inline float rcp_approx_ftz(float x) { return detail::unit_rcp(x); }
float rsqrt_approx(float x);
inline float rsqrt_approx_ftz(float x) { return detail::unit_rsqrt(x); }
float sqrt_approx(float x);
inline float sqrt_approx_ftz(float x) { return detail::unit_sqrt(x); }
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

// SPDX-License-Identifier: Apache-2.0
// e2m1 on every GPU: the conversion where there is one (sm_100a, sm_120a), else arithmetic with its results for every
// float.
#pragma once
#include "ptx_fp4.cuh"
#include "ptx_math.cuh"

// x of [0, 7) -> the nearest value of e2m1, ties to the even code; a NaN stays one. With e = max(x, 1.5) the difference
// x - 2^22 e lies in a binade whose last place is e2m1's step at x, and 2^22 e is an even multiple of that: the rounding of
// the difference is that of x.
__device__ __forceinline__ float nearest_e2m1(float x) {
    const float e = ptx::max_f32(x, 1.5f);
    return ptx::fma_rn_f32(e, 4194304.0f, ptx::fma_rn_f32(e, -4194304.0f, x));
}

// Of any float, as ptx::cvt_rn_satfinite_e2m1x2_f32: saturating to +-6, of a NaN +6.
__device__ __forceinline__ unsigned e2m1_code(float x) {
    const float nearest = nearest_e2m1(ptx::min_f32(ptx::abs_f32(x), 6.0f));  // a NaN loses against 6
    // Times 2^-126 the exponents of float and e2m1 are the same, subnormal numbers among them.
    const unsigned code = __float_as_uint(ptx::mul_rn_f32(nearest, 0x1p-126f)) >> 22;
    return code | (x == x ? __float_as_uint(x) >> 31 << 3 : 0u);
}

// Two codes in the low byte: low in bits 0-3, high in bits 4-7.
__device__ __forceinline__ unsigned e2m1x2_codes(float high, float low) {
#if __CUDA_ARCH__ >= 1000
    return ptx::cvt_rn_satfinite_e2m1x2_f32(high, low);
#else
    return e2m1_code(low) | e2m1_code(high) << 4;
#endif
}

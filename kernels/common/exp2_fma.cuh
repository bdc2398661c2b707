// SPDX-License-Identifier: Apache-2.0
// 2^x on the FMA units, for x <= 1: the same bits on every device, which ex2.approx does not promise.
// Largest error 0.96 ulp over all floats of [-126, 1], 1.0 ulp where the result is subnormal
// (measured on every float: kernels/softmax/README.md); 0 below -150.
#pragma once
#include "ptx_math.cuh"

// 2^n for an integer n of [-126, 127].
__device__ __forceinline__ float power_of_two(int n) {
    return __uint_as_float(static_cast<unsigned>(n + 127) << 23);
}

__device__ __forceinline__ float exp2_fma(float x) {
    // Adding 1.5 * 2^23 rounds x to the nearest integer n, which is then in the low bits of the sum.
    const float kRound = 12582912.0f;
    const float shifted = ptx::add_rn_f32(x, kRound);
    const float r = ptx::sub_rn_f32(x, ptx::sub_rn_f32(shifted, kRound));  // exact, |r| <= 1/2
    float p = 0x1.41fbbcp-13f;
    p = ptx::fma_rn_f32(p, r, 0x1.5f3e54p-10f);
    p = ptx::fma_rn_f32(p, r, 0x1.3b2d4cp-7f);
    p = ptx::fma_rn_f32(p, r, 0x1.c6aee8p-5f);
    p = ptx::fma_rn_f32(p, r, 0x1.ebfbdcp-3f);
    p = ptx::fma_rn_f32(p, r, 0x1.62e43p-1f);
    p = ptx::fma_rn_f32(p, r, 1.0f);
    // 2^n in two factors, so that a subnormal result is rounded once, at the end.
    const int n = static_cast<int>(__float_as_uint(shifted)) - static_cast<int>(0x4b400000);
    const int half = n >> 1;
    const float scaled = ptx::mul_rn_f32(p, power_of_two(half));
    // A NaN fails the comparison and comes out as a NaN.
    return x < -150.0f ? 0.0f : ptx::mul_rn_f32(scaled, power_of_two(n - half));
}

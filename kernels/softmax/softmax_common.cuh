// SPDX-License-Identifier: Apache-2.0
// What the forms of the softmax kernel share: the row they work on and its reductions. All of them
// do the same floating-point operations in the same order, so they give the same bits.
#pragma once
#include "../common/exp2_fma.cuh"
#include "../common/ptx_sync.cuh"

#ifndef WW_TAPS
#define WW_TAPS 0
#endif

namespace softmax {

constexpr unsigned kThreads = 128;  // a block; thread t works on columns t, t + 128, ...
constexpr unsigned kWarps = kThreads / 32;
constexpr float kLog2e = 1.44269504f;

using Bf16 = unsigned short;  // bits of a bf16

struct Params {
    const Bf16* scores;  // [rows, lk]
    float* p_f32;        // [rows, lk]
    Bf16* p_bf16;        // [rows, lk]
    unsigned rows, lq, lk;
    float scale;
    unsigned causal;
#if WW_TAPS
    float* row_max;  // [rows] largest score of the row * scale * log2(e); -inf in an empty row
    float* row_sum;  // [rows] sum of 2^(score * scale * log2(e) - row_max); 0 in an empty row
#endif
};

__device__ __forceinline__ float minus_infinity() { return __uint_as_float(0xff800000u); }

__device__ __forceinline__ float widen(Bf16 value) {
    return __uint_as_float(static_cast<unsigned>(value) << 16);
}

// How many leading columns the row may see. The causal mask is aligned to the last query and key:
// query i sees the keys j <= i + lk - lq, so with lq > lk the first lq - lk rows see none.
__device__ __forceinline__ unsigned visible_columns(const Params& params, unsigned row) {
    if (!params.causal) return params.lk;
    const long long last = static_cast<long long>(row % params.lq) + params.lk - params.lq;
    return last < 0 ? 0u : static_cast<unsigned>(last) + 1u;
}

// Scores are scaled for base 2 before the maximum is taken: right for a negative scale, too.
__device__ __forceinline__ float scale_base2(const Params& params) {
    return ptx::mul_rn_f32(params.scale, kLog2e);
}

// 2^(score * scale2 - base). base is the row's maximum, or 0 where that is -inf.
__device__ __forceinline__ float numerator(Bf16 score, float scale2, float base) {
    return exp2_fma(ptx::fma_rn_f32(widen(score), scale2, -base));
}

__device__ __forceinline__ float finite_base(float row_max) {
    return row_max == minus_infinity() ? 0.0f : row_max;
}

// All threads get the result. partial: kWarps floats of shared memory that no thread still reads.
__device__ __forceinline__ float block_max(float value, float* partial) {
    for (int mask = 16; mask > 0; mask >>= 1)
        value = ptx::max_f32(value, ptx::shfl_sync_bfly_f32(value, mask));
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    ptx::bar_sync(0);
    value = partial[0];
    for (unsigned warp = 1; warp < kWarps; ++warp) value = ptx::max_f32(value, partial[warp]);
    return value;
}

__device__ __forceinline__ float block_sum(float value, float* partial) {
    for (int mask = 16; mask > 0; mask >>= 1)
        value = ptx::add_rn_f32(value, ptx::shfl_sync_bfly_f32(value, mask));
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    ptx::bar_sync(0);
    value = partial[0];
    for (unsigned warp = 1; warp < kWarps; ++warp) value = ptx::add_rn_f32(value, partial[warp]);
    return value;
}

// A row that sees nothing (or only -inf) is all zeros, not 0/0.
__device__ __forceinline__ float reciprocal(float sum) {
    return sum == 0.0f ? 0.0f : ptx::rcp_rn_f32(sum);
}

__device__ __forceinline__ void store(const Params& params, size_t at, float p) {
    params.p_f32[at] = p;
    params.p_bf16[at] = ptx::cvt_rn_bf16_f32(p);
}

__device__ __forceinline__ void store_taps(const Params& params, unsigned row, float max, float sum) {
#if WW_TAPS
    if (threadIdx.x == 0) {
        params.row_max[row] = max;
        params.row_sum[row] = sum;
    }
#endif
}

}  // namespace softmax

// SPDX-License-Identifier: Apache-2.0
// Smoothing and quantisers, compiled for one type (WW_TYPE: F16 or Bf16).
#include "sage3_quantize.cuh"
#include "sage3_smooth.cuh"

using sage3::Strided;

extern "C" __global__ void __launch_bounds__(sage3::kSmoothThreads)
sage3_mean(const WW_TYPE* x, long long batch, long long head, long long token, float* means, int heads,
           int length, int depth, int rows_per_mean) {
    sage3::mean<WW_TYPE>({x, batch, head, token}, means, heads, length, depth, rows_per_mean);
}

extern "C" __global__ void __launch_bounds__(sage3::kSmoothThreads)
sage3_subtract_mean(const WW_TYPE* x, long long batch, long long head, long long token, const float* means,
                    WW_TYPE* smooth, int heads, int length, int depth, int rows_per_mean,
                    long long elements) {
    sage3::subtract_mean<WW_TYPE>({x, batch, head, token}, means, smooth, heads, length, depth,
                                  rows_per_mean, elements);
}

extern "C" __global__ void __launch_bounds__(sage3::kTile)
sage3_key_bias(const float* q_means, const WW_TYPE* k_smooth, float* bias, int heads, int kv_heads,
               int query_tiles, int lk, int depth) {
    sage3::key_bias<WW_TYPE>(q_means, k_smooth, bias, heads, kv_heads, query_tiles, lk, depth);
}

extern "C" __global__ void __launch_bounds__(sage3::kSmoothThreads)
sage3_row_shift(const WW_TYPE* q, long long batch, long long head, long long token, const float* k_means,
                float* shift, int heads, int kv_heads, int lq, int depth, long long rows) {
    sage3::row_shift<WW_TYPE>({q, batch, head, token}, k_means, shift, heads, kv_heads, lq, depth, rows);
}

extern "C" __global__ void __launch_bounds__(sage3::kQuantizeThreads)
sage3_quantize_q(const WW_TYPE* x, unsigned char* codes, unsigned char* scales, int length, int depth,
                 int padded_depth, long long groups) {
    sage3::quantize_rows<false, WW_TYPE>(x, codes, scales, length, depth, padded_depth, groups);
}

extern "C" __global__ void __launch_bounds__(sage3::kQuantizeThreads)
sage3_quantize_k(const WW_TYPE* x, unsigned char* codes, unsigned char* scales, int length, int depth,
                 int padded_depth, long long groups) {
    sage3::quantize_rows<true, WW_TYPE>(x, codes, scales, length, depth, padded_depth, groups);
}

extern "C" __global__ void __launch_bounds__(sage3::kQuantizeThreads)
sage3_quantize_v(const WW_TYPE* x, long long batch, long long head, long long token, unsigned char* codes,
                 unsigned char* scales, int heads, int length, int depth, int padded_depth,
                 long long groups) {
    sage3::quantize_columns<WW_TYPE>({x, batch, head, token}, codes, scales, heads, length, depth,
                                     padded_depth, groups);
}

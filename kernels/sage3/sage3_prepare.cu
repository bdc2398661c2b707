// SPDX-License-Identifier: Apache-2.0
// Smoothing and quantisers, compiled for one type (WW_TYPE: F16 or Bf16).
#include "sage3_quantize.cuh"
#include "sage3_row_shift.cuh"
#include "sage3_sequence.cuh"

using sage3::Side;
using sage3::Strided;

extern "C" __global__ void __launch_bounds__(sage3::kSequenceThreads, 2)
sage3_mean(const WW_TYPE* x, long long batch, long long head, long long token, const int* starts, int sequences,
           int tokens, int longest, int stored, float* means, int heads, int depth) {
    sage3::sequence_mean<WW_TYPE>({x, batch, head, token}, Side{starts, sequences, tokens, longest, stored}, means, heads,
                                  depth);
}

extern "C" __global__ void __launch_bounds__(sage3::kTileMeanThreads)
sage3_mean_tiles(const WW_TYPE* x, long long batch, long long head, long long token, const int* starts, int sequences,
                 int tokens, int longest, int stored, float* means, int heads, int depth) {
    sage3::tile_mean<WW_TYPE>({x, batch, head, token}, Side{starts, sequences, tokens, longest, stored}, means, heads,
                               depth);
}

extern "C" __global__ void __launch_bounds__(sage3::kSmoothThreads)
sage3_subtract_mean(const WW_TYPE* x, long long batch, long long head, long long token, const int* starts,
                    int sequences, int tokens, int longest, int stored, const float* means, unsigned of_tiles,
                    WW_TYPE* smooth, int heads, int depth) {
    sage3::subtract_mean<WW_TYPE>({x, batch, head, token}, Side{starts, sequences, tokens, longest, stored}, means,
                                  of_tiles != 0, smooth, heads, depth);
}

extern "C" __global__ void __launch_bounds__(sage3::kTile)
sage3_key_bias(const float* q_means, unsigned of_tiles, int rows, const int* q_starts, int q_sequences, int q_tokens,
               int q_longest, int q_stored, const WW_TYPE* k_smooth, const int* k_starts, int k_sequences,
               int k_tokens, int k_longest, int k_stored, float* bias, int columns, int heads, int kv_heads,
               int depth) {
    sage3::key_bias<WW_TYPE>(q_means, of_tiles != 0, rows, Side{q_starts, q_sequences, q_tokens, q_longest, q_stored},
                             k_smooth, Side{k_starts, k_sequences, k_tokens, k_longest, k_stored}, bias, columns,
                             heads, kv_heads, depth);
}

extern "C" __global__ void __launch_bounds__(sage3::kQuantizeThreads)
sage3_quantize_q(const WW_TYPE* x, const int* starts, int sequences, int tokens, int longest, int stored,
                 unsigned char* codes, unsigned char* scales, int heads, int depth, int padded_depth) {
    sage3::quantize_rows<false, WW_TYPE>(x, Side{starts, sequences, tokens, longest, stored}, codes, scales, heads,
                                         depth, padded_depth);
}

extern "C" __global__ void __launch_bounds__(sage3::kQuantizeThreads)
sage3_quantize_k(const WW_TYPE* x, const int* starts, int sequences, int tokens, int longest, int stored,
                 unsigned char* codes, unsigned char* scales, int heads, int depth, int padded_depth) {
    sage3::quantize_rows<true, WW_TYPE>(x, Side{starts, sequences, tokens, longest, stored}, codes, scales, heads,
                                        depth, padded_depth);
}

extern "C" __global__ void __launch_bounds__(sage3::kQuantizeThreads)
sage3_quantize_v(const WW_TYPE* x, long long batch, long long head, long long token, const int* starts, int sequences,
                 int tokens, int longest, int stored, const float* means, unsigned char* codes, unsigned char* scales,
                 int heads, int depth, int padded_depth, int key_tile) {
    sage3::quantize_columns<WW_TYPE>({x, batch, head, token}, Side{starts, sequences, tokens, longest, stored}, means,
                                     codes, scales, heads, depth, padded_depth, key_tile);
}

// SPDX-License-Identifier: Apache-2.0
// What goes before the attention of the Hopper path, compiled for one head dimension (WW_HEAD_DIM, padded) and one type
// (WW_TYPE: F16 or Bf16).
#include "hopper_means.cuh"
#include "hopper_quantize.cuh"
#include "sage3_row_shift.cuh"

using sage3::Side;

extern "C" __global__ void __launch_bounds__(sage3::kSequenceThreads, 2)
hopper_means(const WW_TYPE* k, long long k_batch, long long k_head, long long k_token, const WW_TYPE* v, long long v_batch,
             long long v_head, long long v_token, const int* starts, int sequences, int tokens, int longest, int stored,
             float* k_means, float* v_means, float* v_largest, unsigned smooth_v, int heads, int depth) {
    sage3::means_and_largest<WW_HEAD_DIM, WW_TYPE>({k, k_batch, k_head, k_token}, {v, v_batch, v_head, v_token},
                                                   Side{starts, sequences, tokens, longest, stored}, k_means, v_means,
                                                   v_largest, smooth_v != 0, heads, depth);
}

extern "C" __global__ void __launch_bounds__(sage3::quantize_threads(WW_HEAD_DIM), 512 / WW_HEAD_DIM)
hopper_quantize(const WW_TYPE* q, long long q_batch, long long q_head, long long q_token, const int* q_starts, int q_sequences,
                int q_tokens, int q_longest, int q_stored, signed char* q_codes, float* q_scales, const WW_TYPE* k,
                long long k_batch, long long k_head, long long k_token, const WW_TYPE* v, long long v_batch, long long v_head,
                long long v_token, const int* k_starts, int k_sequences, int k_tokens, int k_longest, int k_stored,
                const float* k_means, signed char* k_codes, float* k_scales, const float* v_means, const float* v_largest,
                unsigned char* v_codes, unsigned* taken, int key_tiles, int heads, int kv_heads, int depth) {
    const Side keys{k_starts, k_sequences, k_tokens, k_longest, k_stored};
    sage3::quantize<WW_HEAD_DIM, WW_TYPE>(
        {{q, q_batch, q_head, q_token}, {q_starts, q_sequences, q_tokens, q_longest, q_stored}, nullptr, q_codes, heads}, q_scales,
        {{k, k_batch, k_head, k_token}, keys, k_means, k_codes, kv_heads}, k_scales,
        {{v, v_batch, v_head, v_token}, keys, v_means, v_codes, kv_heads}, v_largest, key_tiles, depth);
    if (blockIdx.x == 0 && threadIdx.x == 0) *taken = 0;  // for the attention kernel
}

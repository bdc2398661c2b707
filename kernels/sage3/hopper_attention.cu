// SPDX-License-Identifier: Apache-2.0
// Compiled for one head dimension (WW_HEAD_DIM, padded), one type (WW_TYPE: F16 or Bf16), one kind of mask (WW_MASK: none,
// bytes, of_type or f32), and V without its mean or not (WW_V_MEAN: 1 or 0).
#include "hopper_attention.cuh"

extern "C" __global__ void __launch_bounds__(sage3::hopper::kThreads, 1)
hopper_attention(const signed char* q_codes, const float* q_scales, const signed char* k_codes, const float* k_scales,
                 const unsigned char* v_codes, const float* v_largest, unsigned* taken, const float* shift, WW_TYPE* o, float* lse,
                 long long o_batch, long long o_head, long long o_token, const int* q_starts, int q_sequences, int q_tokens,
                 int q_longest, int q_stored, const int* k_starts, int k_sequences, int k_tokens, int k_longest,
                 int k_stored, int heads, int kv_heads, int depth, int batch_heads, int columns, int left, int right,
                 unsigned from_the_end, unsigned longest_first, float scale, const void* mask, long long mask_batch,
                 long long mask_head, long long mask_query, const float* v_mean
#if WW_TAPS
                 , float* s, unsigned char* p_codes, float* row_max, float* row_sum
#endif
) {
    sage3::hopper::attention<WW_HEAD_DIM, sage3::Mask::WW_MASK, WW_TYPE>(
        {{{q_starts, q_sequences, q_tokens, q_longest, q_stored}, {k_starts, k_sequences, k_tokens, k_longest, k_stored},
          heads, kv_heads, depth, batch_heads, left, right, from_the_end, longest_first, scale, 0.0f, mask, mask_batch,
          mask_head, mask_query, shift, WW_V_MEAN ? v_mean : nullptr, o, lse, o_batch, o_head, o_token},
         q_codes, q_scales, k_codes, k_scales, v_codes, v_largest, taken,
#if WW_TAPS
         columns, s, p_codes, row_max, row_sum,
#endif
        });
}

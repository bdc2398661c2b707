// SPDX-License-Identifier: Apache-2.0
// Compiled for one head dimension (WW_HEAD_DIM, padded), one type (WW_TYPE: F16 or Bf16) and one kind of mask
// (WW_MASK: none, bytes, of_type or f32).
#include "exact_attention.cuh"

extern "C" __global__ void __launch_bounds__(sage3::exact::kThreads, 1)
exact_attention(const unsigned char* q, const unsigned char* k, const unsigned char* v, const float* bias,
                const float* shift, const float* v_mean, const void* mask, long long mask_batch, long long mask_head,
                long long mask_query, WW_TYPE* o, float* lse, long long o_batch, long long o_head, long long o_token,
                const int* q_starts, int q_sequences, int q_tokens, int q_longest, int q_stored, const int* k_starts,
                int k_sequences, int k_tokens, int k_longest, int k_stored, int heads, int kv_heads, int depth,
                int batch_heads, int bias_columns, unsigned bias_of_tiles, int left, int right, unsigned from_the_end,
                unsigned longest_first, float scale, float mask_scale
#if WW_TAPS
                , float* s, float* group_max, unsigned* p_codes, unsigned char* p_scales, float* row_max,
                float* row_sum, float* o_tile
#endif
) {
    sage3::exact::attention<sage3::Config{.head_dim = WW_HEAD_DIM, .mask = sage3::Mask::WW_MASK}, WW_TYPE>(
        {{{{q_starts, q_sequences, q_tokens, q_longest, q_stored}, {k_starts, k_sequences, k_tokens, k_longest, k_stored},
           heads, kv_heads, depth, batch_heads, left, right, from_the_end, longest_first, scale, mask_scale, mask, mask_batch,
           mask_head, mask_query, shift, v_mean, o, lse, o_batch, o_head, o_token},
          bias, bias_columns, bias_of_tiles,
#if WW_TAPS
          s, group_max, p_codes, p_scales, row_max, row_sum, o_tile,
#endif
         },
         q, k, v});
}

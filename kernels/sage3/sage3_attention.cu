// SPDX-License-Identifier: Apache-2.0
// Compiled for one head dimension (WW_HEAD_DIM, padded) and one type (WW_TYPE: F16 or Bf16).
#include "sage3_attention.cuh"

extern "C" __global__ void __launch_bounds__(sage3::kAttentionThreads, 1)
sage3_attention(const unsigned char* q_codes, const unsigned char* q_scales, const unsigned char* k_codes,
                const unsigned char* k_scales, const unsigned char* v_codes, const unsigned char* v_scales,
                const float* bias, const float* shift, WW_TYPE* o, float* lse, long long o_batch,
                long long o_head, long long o_token, int heads, int kv_heads, int lq, int lk, int depth,
                unsigned causal, float scale
#if WW_TAPS
                , float* s, float* group_max, unsigned* p_codes, unsigned char* p_scales, float* row_max,
                float* row_sum, float* o_tile
#endif
) {
    sage3::attention<sage3::Config{.head_dim = WW_HEAD_DIM}, WW_TYPE>(
        {q_codes, q_scales, k_codes, k_scales, v_codes, v_scales, bias, shift, o, lse, o_batch, o_head,
         o_token, heads, kv_heads, lq, lk, depth, causal, scale,
#if WW_TAPS
         s, group_max, p_codes, p_scales, row_max, row_sum, o_tile,
#endif
        });
}

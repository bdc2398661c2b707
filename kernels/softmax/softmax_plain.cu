// SPDX-License-Identifier: Apache-2.0
// Row softmax, plain form: one block a row, scores read from global memory in each of three passes.
// Grid: rows. Block: 128. Runs on sm_80 and later.
#include "softmax_common.cuh"

using namespace softmax;

extern "C" __global__ void __launch_bounds__(128)
softmax_plain(const Bf16* scores, float* p_f32, Bf16* p_bf16, unsigned rows, unsigned lq,
              unsigned lk, float scale, unsigned causal
#if WW_TAPS
              ,
              float* row_max, float* row_sum
#endif
) {
    __shared__ float partial_max[kWarps];
    __shared__ float partial_sum[kWarps];
    Params params{scores, p_f32, p_bf16, rows, lq, lk, scale, causal};
#if WW_TAPS
    params.row_max = row_max;
    params.row_sum = row_sum;
#endif
    const unsigned row = blockIdx.x;
    const size_t first = static_cast<size_t>(row) * lk;
    const unsigned visible = visible_columns(params, row);
    const float scale2 = scale_base2(params);

    float max = minus_infinity();
    for (unsigned j = threadIdx.x; j < visible; j += kThreads)
        max = ptx::max_f32(max, ptx::mul_rn_f32(widen(scores[first + j]), scale2));
    max = block_max(max, partial_max);

    const float base = finite_base(max);
    float sum = 0.0f;
    for (unsigned j = threadIdx.x; j < visible; j += kThreads)
        sum = ptx::add_rn_f32(sum, numerator(scores[first + j], scale2, base));
    sum = block_sum(sum, partial_sum);
    store_taps(params, row, max, sum);

    const float inverse = reciprocal(sum);
    for (unsigned j = threadIdx.x; j < visible; j += kThreads)
        store(params, first + j, ptx::mul_rn_f32(numerator(scores[first + j], scale2, base), inverse));
    for (unsigned j = visible + threadIdx.x; j < lk; j += kThreads) store(params, first + j, 0.0f);
}

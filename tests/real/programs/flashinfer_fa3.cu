// SPDX-License-Identifier: Apache-2.0
// flashinfer's FA3 prefill for Hopper, through the package's own host side: causal, grouped queries,
// lengths that are no multiples of the tile. P is rounded to bf16.
#include "../units/flashinfer_fa3.cu"

#include "attention.cuh"

int main(int argc, char** argv) {
    using namespace real;
    Outcome outcome(argc, argv);
    const real::Attention a{200, 328, 2, 1, 128, true, 1 / std::sqrt(128.0)};
    using T = cutlass::bfloat16_t;
    const auto q = uniform<T>(size_t(a.queries) * a.query_heads * a.dimension, 1, 2);
    const auto k = uniform<T>(size_t(a.keys) * a.kv_heads * a.dimension, 2, 2);
    const auto v = uniform<T>(size_t(a.keys) * a.kv_heads * a.dimension, 3, 2);
    Array<T> on_q(q), on_k(k), on_v(v), on_o(q.size());
    Array<float> on_lse(size_t(a.queries) * a.query_heads);
    Params params{};
    params.q_ptr = on_q.get(), params.k_ptr = on_k.get(), params.v_ptr = on_v.get(), params.o_ptr = on_o.get();
    params.lse_ptr = on_lse.get();
    params.additional_params.sm_scale = static_cast<float>(a.scale);
    params.q_stride_n = params.o_stride_n = a.query_heads * a.dimension;
    params.k_stride_n = params.v_stride_n = a.kv_heads * a.dimension;
    params.q_stride_h = params.k_stride_h = params.v_stride_h = params.o_stride_h = a.dimension;
    params.qo_len = a.queries, params.kv_len = a.keys;
    params.num_qo_heads = a.query_heads, params.num_kv_heads = a.kv_heads;
    params.group_size = a.query_heads / a.kv_heads;
    params.window_left = -1;
    params.causal = true;
    check(SinglePrefillWithKVCacheKernelTraitsDispatched<Traits, false, true>(params, nullptr), "the launch");
    outcome.launched("PrefillWithKVCacheKernel");
    compare_attention(outcome, a, q, k, v, on_o.host(), half_ulp_bf16, std::ldexp(1.0, -8));
    compare_log_sums(outcome, a, q, k, v, on_lse.host());
    return outcome.finish();
}

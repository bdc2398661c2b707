// SPDX-License-Identifier: Apache-2.0
// flashinfer's FA2 prefill: causal, grouped queries, a length that is no multiple of the tile. P is
// rounded to bf16.
#include "../units/flashinfer_prefill.cu"

#include "attention.cuh"

int main(int argc, char** argv) {
    real::Outcome outcome(argc, argv);
    const real::Attention a{150, 210, 4, 2, 128, true, 1 / std::sqrt(128.0)};
    using T = nv_bfloat16;
    const auto q = real::uniform<T>(size_t(a.queries) * a.query_heads * a.dimension, 1, 2);
    const auto k = real::uniform<T>(size_t(a.keys) * a.kv_heads * a.dimension, 2, 2);
    const auto v = real::uniform<T>(size_t(a.keys) * a.kv_heads * a.dimension, 3, 2);
    real::Array<T> on_q(q), on_k(k), on_v(v), on_o(q.size());
    real::Array<float> on_lse(size_t(a.queries) * a.query_heads);
    Params params(on_q.get(), on_k.get(), on_v.get(), nullptr, on_o.get(), on_lse.get(), nullptr, a.query_heads, a.kv_heads, a.queries,
                  a.keys, a.query_heads * a.dimension, a.dimension, a.kv_heads * a.dimension, a.dimension, a.dimension, -1, 0.0f,
                  static_cast<float>(a.scale), 1.0f, 1e4f);
    constexpr size_t shared = sizeof(typename Traits::SharedStorage);
    real::check(cudaFuncSetAttribute(single, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "cudaFuncSetAttribute");
    const int group = a.query_heads / a.kv_heads;
    single<<<dim3((a.queries * group + 127) / 128, 1, a.kv_heads), dim3(32, 4, 1), shared>>>(params);
    outcome.launched("SinglePrefillWithKVCacheKernel");
    real::compare_attention(outcome, a, q, k, v, on_o.host(), real::half_ulp_bf16, std::ldexp(1.0, -8));
    real::compare_log_sums(outcome, a, q, k, v, on_lse.host(), std::ldexp(1.0, -7));
    return outcome.finish();
}

// SPDX-License-Identifier: Apache-2.0
// flashinfer's decode attention of one sequence, four query heads a KV head. Probabilities stay in
// float32.
#include "../units/flashinfer_decode.cu"

#include "attention.cuh"

int main(int argc, char** argv) {
    real::Outcome outcome(argc, argv);
    const real::Attention a{1, 203, 8, 2, 128, false, 1 / std::sqrt(128.0)};
    const auto q = real::uniform<half>(size_t(a.query_heads) * a.dimension, 1, 2);
    const auto k = real::uniform<half>(size_t(a.keys) * a.kv_heads * a.dimension, 2, 2);
    const auto v = real::uniform<half>(size_t(a.keys) * a.kv_heads * a.dimension, 3, 2);
    real::Array<half> on_q(q), on_k(k), on_v(v), on_o(q.size());
    SingleDecodeParams<half, half, half> params(on_q.get(), on_k.get(), on_v.get(), on_o.get(), nullptr, a.keys, a.query_heads, a.kv_heads,
                                                QKVLayout::kNHD, a.dimension, -1, 0.0f, static_cast<float>(a.scale), 1.0f, 1e4f);
    real::Array<float> on_lse(a.query_heads);
    params.lse = on_lse.get();
    params.kv_chunk_size = a.keys;
    // As SingleDecodeWithKVCacheDispatched computes it: two stages, tiles of 4 x 1 x 2 rows of K and of V.
    constexpr uint32_t shared = 2 * 2 * 4 * 1 * 2 * 128 * sizeof(half) + 2 * 4 * 2 * sizeof(float);
    single<<<dim3(1, a.kv_heads), dim3(16, 4, 2), shared>>>(params);
    outcome.launched("SingleDecodeWithKVCacheKernel");
    real::compare_attention(outcome, a, q, k, v, on_o.host(), real::half_ulp_f16, 1e-5);
    real::compare_log_sums(outcome, a, q, k, v, on_lse.host());
    return outcome.finish();
}

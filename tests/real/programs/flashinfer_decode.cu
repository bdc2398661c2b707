// SPDX-License-Identifier: Apache-2.0
// flashinfer's decode attention of one sequence, four query heads a KV head. Probabilities stay in
// float32. The long form has an odd number of steps, so that the loop's remainder runs too, and runs once
// more with K and V of e4m3, where the exchange of partial results lies over both buffers.
#include "../units/flashinfer_decode.cu"

#include "attention.cuh"

namespace {

constexpr uint32_t kHeadsOfKv = 4, kDimension = 128, kStages = 2;

// As SingleDecodeWithKVCacheDispatched computes it.
template <class KV>
struct Shape {
    static constexpr uint32_t vector = 16 / sizeof(KV), x = kDimension / vector, z = 128 / (x * kHeadsOfKv);
    static constexpr uint32_t rows = kHeadsOfKv * z;
    static constexpr uint32_t buffers = 2 * kStages * rows * kDimension * sizeof(KV), partial = rows * kDimension * sizeof(float);
    static constexpr uint32_t shared = (buffers > partial ? buffers : partial) + 2 * rows * sizeof(float);
};

template <class KV>
using Kernel = void (*)(SingleDecodeParams<half, KV, half>);

template <class KV>
void run(real::Outcome& outcome, Kernel<KV> kernel, const char* name, const real::Attention& a) {
    const auto q = real::uniform<half>(size_t(a.query_heads) * a.dimension, 1, 2);
    const auto k = real::uniform<KV>(size_t(a.keys) * a.kv_heads * a.dimension, 2, 2);
    const auto v = real::uniform<KV>(size_t(a.keys) * a.kv_heads * a.dimension, 3, 2);
    real::Array<half> on_q(q), on_o(q.size());
    real::Array<KV> on_k(k), on_v(v);
    SingleDecodeParams<half, KV, half> params(on_q.get(), on_k.get(), on_v.get(), on_o.get(), nullptr, a.keys, a.query_heads, a.kv_heads,
                                              QKVLayout::kNHD, a.dimension, -1, 0.0f, static_cast<float>(a.scale), 1.0f, 1e4f);
    real::Array<float> on_lse(a.query_heads);
    params.lse = on_lse.get();
    params.kv_chunk_size = a.keys;
    kernel<<<dim3(1, a.kv_heads), dim3(Shape<KV>::x, kHeadsOfKv, Shape<KV>::z), Shape<KV>::shared>>>(params);
    outcome.launched(name);
    std::vector<half> wide_k, wide_v;  // exact
    for (const KV each : k) wide_k.push_back(half(float(each)));
    for (const KV each : v) wide_v.push_back(half(float(each)));
    real::compare_attention(outcome, a, q, wide_k, wide_v, on_o.host(), real::half_ulp_f16, 1e-5);
    real::compare_log_sums(outcome, a, q, wide_k, wide_v, on_lse.host());
}

}  // namespace

int main(int argc, char** argv) {
    real::Outcome outcome(argc, argv);
    const real::Attention a{1, outcome.is_long() ? 197 : 203, 8, 2, static_cast<int>(kDimension), false, 1 / std::sqrt(128.0)};
    run<half>(outcome, single, "SingleDecodeWithKVCacheKernel", a);
    using Fp8 = Shape<__nv_fp8_e4m3>;
    if (outcome.is_long())
        run<__nv_fp8_e4m3>(outcome,
                           &SingleDecodeWithKVCacheKernel<PosEncodingMode::kNone, kStages, 1, Fp8::vector, Fp8::x, kHeadsOfKv, Fp8::z, Attention,
                                                          SingleDecodeParams<half, __nv_fp8_e4m3, half>>,
                           "SingleDecodeWithKVCacheKernel of e4m3", a);
    return outcome.finish();
}

// SPDX-License-Identifier: Apache-2.0
// CUTLASS's Hopper attention forward, causal, two heads. P is rounded to f16. The long form runs the
// example's persistent kernel, in which a block computes several tiles and loads Q through a ring, too.
#include "../units/cutlass_sm90_fmha.cu"

#include "attention.cuh"

namespace {

using Persistent = cutlass::fmha::kernel::FmhaBuilder<
    Element, float, float, cute::Shape<cute::_128, cute::_64, cute::_64>, Stride, Stride, Stride,
    cutlass::fmha::collective::CausalFusion, cutlass::gemm::KernelTmaWarpSpecializedPingpong>::Kernel;

template <class K>
bool run(real::Outcome& outcome, int length, int multiprocessors) {
    const real::Attention a{length, length, 2, 2, 64, true, 1 / std::sqrt(64.0)};
    const int row = a.query_heads * a.dimension;
    const auto q = real::uniform<Element>(size_t(a.queries) * row, 1, 2);
    const auto k = real::uniform<Element>(size_t(a.keys) * row, 2, 2);
    const auto v = real::uniform<Element>(size_t(a.keys) * row, 3, 2);
    real::Array<Element> on_q(q), on_k(k), on_v(v), on_o(q.size());
    real::Array<float> on_lse(size_t(a.queries) * a.query_heads);
    using Operation = cutlass::device::Universal<K>;
    const Stride stride{row, cute::_1{}, {a.queries * row, a.dimension}};
    typename Operation::Arguments arguments{
        {1, a.query_heads, a.queries, a.keys, a.dimension},
        {on_q.get(), stride, on_k.get(), stride, on_v.get(), stride},
        {on_o.get(), stride, on_lse.get(), {cute::_1{}, {a.query_heads * a.queries, a.queries}}},
        {0, multiprocessors}};
    Operation operation;
    real::Array<uint8_t> workspace(Operation::get_workspace_size(arguments) + 1);
    if (operation.can_implement(arguments) != cutlass::Status::kSuccess ||
        operation.initialize(arguments, workspace.get()) != cutlass::Status::kSuccess || operation.run() != cutlass::Status::kSuccess) {
        std::fprintf(stderr, "the kernel was refused\n");
        return false;
    }
    outcome.launched("the attention");
    real::compare_attention(outcome, a, q, k, v, on_o.host(), real::half_ulp_f16, std::ldexp(1.0, -10));
    outcome.compare("lse", on_lse.host(), [&](size_t i) {
        const auto exact = real::attend(a, q, k, v, static_cast<int>(i % a.queries), static_cast<int>(i / a.queries));
        return real::Wanted{exact.log2_sum * std::log(2.0), 1e-4};
    });
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    real::Outcome outcome(argc, argv);
    const bool ran = outcome.is_long() ? run<Persistent>(outcome, 640, 2) : run<Kernel>(outcome, 256, 8);
    return ran ? outcome.finish() : 2;
}

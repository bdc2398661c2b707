// SPDX-License-Identifier: Apache-2.0
// The block-scaled NVFP4 GEMM for consumer Blackwell, bf16 out: e2m1 values with a ue4m3 scale for
// each 16 of them, laid out as the collective says. Products and the sums of 64 are exact.
#include "cutlass_gemm.cuh"

#include "../units/cutlass_sm120_nvfp4.cu"

namespace {

using K = real::Kernel<Nvfp4>;
using Adapter = cutlass::gemm::device::GemmUniversalAdapter<K>;
using Config = typename K::CollectiveMainloop::Sm1xxBlkScaledConfig;
using Scale = typename K::CollectiveMainloop::ElementSF;
constexpr int kGroup = 16;

// rows x k: numbers of e2m1 with scales, as the kernel wants them and as numbers.
struct Operand {
    std::vector<uint8_t> packed;
    std::vector<Scale> scales;
    std::vector<float> numbers;
};
template <class Layout>
Operand make(int rows, int k, const Layout& layout, uint64_t seed) {
    static constexpr float kValues[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    real::Random random(seed);
    Operand out;
    out.packed.resize(size_t(rows) * k / 2);
    out.numbers.resize(size_t(rows) * k);
    out.scales.resize(cute::size(cute::filter_zeros(layout)));
    for (int row = 0; row < rows; ++row)
        for (int at = 0; at < k; ++at) {
            const uint8_t code = static_cast<uint8_t>(random.below(16));
            const size_t i = size_t(row) * k + at;
            out.packed[i / 2] |= static_cast<uint8_t>(code << (i % 2 * 4));
            auto& scale = out.scales[layout(cute::make_coord(row, at, 0))];
            if (at % kGroup == 0) scale = Scale(0.25f * static_cast<float>(1 + random.below(12)));
            out.numbers[i] = (code & 8 ? -1 : 1) * kValues[code & 7] * static_cast<float>(scale);
        }
    return out;
}

}  // namespace

int main(int argc, char** argv) {
    real::Outcome outcome(argc, argv);
    const int m = 256, n = 256, k = 384;
    const auto shape = cute::make_shape(m, n, k, 1);
    const auto layout_a = Config::tile_atom_to_shape_SFA(shape);
    const auto layout_b = Config::tile_atom_to_shape_SFB(shape);
    const Operand a = make(m, k, layout_a, 1), b = make(n, k, layout_b, 2);
    real::Array<uint8_t> on_a(a.packed), on_b(b.packed);
    real::Array<Scale> on_sfa(a.scales), on_sfb(b.scales);
    real::Array<Nvfp4::D> on_d(size_t(m) * n);
    using Element = cutlass::float_e2m1_t;
    const auto* data_a = reinterpret_cast<const Element*>(on_a.get());
    const auto* data_b = reinterpret_cast<const Element*>(on_b.get());
    const auto stride_a = cutlass::make_cute_packed_stride(typename K::StrideA{}, {m, k, 1});
    const auto stride_b = cutlass::make_cute_packed_stride(typename K::StrideB{}, {n, k, 1});
    const auto stride_d = cutlass::make_cute_packed_stride(typename K::StrideD{}, {m, n, 1});
    typename Adapter::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm,
                                          {m, n, k, 1},
                                          {data_a, stride_a, data_b, stride_b, on_sfa.get(), layout_a, on_sfb.get(), layout_b},
                                          {{1.0f, 0.0f}, on_d.get(), stride_d, on_d.get(), stride_d},
                                          {0, real::kMultiprocessors}};
    Adapter gemm;
    real::check(gemm.can_implement(arguments), "can_implement");
    real::Array<uint8_t> workspace(Adapter::get_workspace_size(arguments) + 1);
    real::check(gemm.initialize(arguments, workspace.get()), "initialize");
    real::check(gemm.run(), "run");
    outcome.launched("the GEMM");
    outcome.compare("d", on_d.host(), [&](size_t i) {
        const real::Dot exact = real::dot(&a.numbers[i / n * k], &b.numbers[i % n * k], k);
        return real::Wanted{exact.value, real::half_ulp_bf16(exact.value) + k / 64 * std::ldexp(1.0, -23) * exact.magnitude};
    });
    return outcome.finish();
}

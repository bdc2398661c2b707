// SPDX-License-Identifier: Apache-2.0
// The block-scaled NVFP4 GEMM of consumer Blackwell: ten tiles that blocks take from each other
// (clusterlaunchcontrol), edges in every dimension, a scale of the whole result, bf16 out. Codes and
// scales are drawn; float64 has the numbers from a table and by their bits, the kernel has the scales
// in CUTLASS's layout, padded with zeros.
#include "cutlass_gemm.cuh"

#include "../units/cutlass_sm120_nvfp4.cu"

namespace {

constexpr int kGroup = 16;  // numbers that share a scale
constexpr int kStep = 64;   // products that one mma adds

// Rows of k numbers of e2m1, two a byte, low nibble first, and a ue4m3 scale for each group.
struct Operand {
    int k;
    std::vector<uint8_t> packed, scales;

    Operand(int rows, int k, uint64_t seed)
        : k(k), packed(size_t(rows) * k / 2), scales(size_t(rows) * k / kGroup) {
        real::Random random(seed);
        for (uint8_t& each : packed) each = static_cast<uint8_t>(random.next());
        for (uint8_t& each : scales) each = static_cast<uint8_t>(0x28 + random.below(0x20));  // 0.25 to 3.75
    }

    // What they stand for: 6 significant bits, so that floats hold it.
    std::vector<float> numbers() const {
        static constexpr float kMagnitudes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
        std::vector<float> out(2 * packed.size());
        for (size_t i = 0; i < out.size(); ++i) {
            const int code = packed[i / 2] >> (i % 2 * 4) & 15, scale = scales[i / kGroup];
            const float number = (code & 8 ? -1 : 1) * kMagnitudes[code & 7];
            out[i] = number * std::ldexp(8.0f + (scale & 7), (scale >> 3) - 10);  // normal numbers only
        }
        return out;
    }

    // The scales where the kernel looks for them.
    template <class Scale, class Layout>
    std::vector<Scale> placed(const Layout& layout) const {
        std::vector<Scale> out(cute::cosize(layout), Scale::bitcast(0));
        const int groups = k / kGroup;
        for (size_t i = 0; i < scales.size(); ++i) {
            const int row = int(i) / groups, column = int(i) % groups * kGroup;
            out[layout(cute::make_coord(row, column, 0))] = Scale::bitcast(scales[i]);
        }
        return out;
    }
};

// A template, because nvcc copies templates to the host's compiler as they stand, and elsewhere writes
// the types of the collectives out.
template <class G>
void run(real::Outcome& outcome, const real::Problem& problem, float alpha) {
    using K = Nvfp4Kernel<G>;
    using Adapter = cutlass::gemm::device::GemmUniversalAdapter<K>;
    using Config = typename K::CollectiveMainloop::Sm1xxBlkScaledConfig;
    using Number = typename K::CollectiveMainloop::ElementA;
    using Scale = typename K::CollectiveMainloop::ElementSF;
    const int m = problem.m, n = problem.n, k = problem.k;
    const Operand a(m, k, 1), b(n, k, 2);
    const auto layout_a = Config::tile_atom_to_shape_SFA(cute::make_shape(m, n, k, 1));
    const auto layout_b = Config::tile_atom_to_shape_SFB(cute::make_shape(m, n, k, 1));
    real::Array<uint8_t> on_a(a.packed), on_b(b.packed);
    real::Array<Scale> scales_a(a.placed<Scale>(layout_a)), scales_b(b.placed<Scale>(layout_b));
    real::Array<typename G::D> on_d(size_t(m) * n);
    const auto stride_a = cutlass::make_cute_packed_stride(typename K::StrideA{}, {m, k, 1});
    const auto stride_b = cutlass::make_cute_packed_stride(typename K::StrideB{}, {n, k, 1});
    const auto stride_d = cutlass::make_cute_packed_stride(typename K::StrideD{}, {m, n, 1});
    typename Adapter::Arguments arguments{
        cutlass::gemm::GemmUniversalMode::kGemm,
        {m, n, k, 1},
        {reinterpret_cast<const Number*>(on_a.get()), stride_a,
         reinterpret_cast<const Number*>(on_b.get()), stride_b,
         scales_a.get(), layout_a, scales_b.get(), layout_b},
        {{alpha, 0.0f}, on_d.get(), stride_d, on_d.get(), stride_d},
        {0, problem.multiprocessors}};
    Adapter gemm;
    real::check(gemm.can_implement(arguments), "can_implement");
    real::Array<uint8_t> workspace(Adapter::get_workspace_size(arguments) + 1);
    real::check(gemm.initialize(arguments, workspace.get()), "initialize");
    real::check(gemm.run(), "run");
    outcome.launched("the GEMM");
    // An mma of 64 products is exact but for its result, cut to float32: less than 2^-23 of the
    // magnitudes so far is lost. One more for the product with alpha.
    const double accuracy = ((k + kStep - 1) / kStep + 1) * std::ldexp(1.0, -23);
    const std::vector<float> numbers_a = a.numbers(), numbers_b = b.numbers();
    outcome.compare("d", on_d.host(), [&](size_t i) {
        const real::Dot exact = real::dot(&numbers_a[i / n * k], &numbers_b[i % n * k], k);
        const double value = double(alpha) * exact.value;
        return real::Wanted{value, real::half_ulp_bf16(value) + accuracy * double(alpha) * exact.magnitude};
    });
}

}  // namespace

int main(int argc, char** argv) {
    real::Outcome outcome(argc, argv);
    run<Nvfp4>(outcome, {200, 520, 416}, 0.3f);
    return outcome.finish();
}

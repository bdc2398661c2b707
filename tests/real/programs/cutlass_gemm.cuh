// SPDX-License-Identifier: Apache-2.0
// Runs a GEMM of units/cutlass_collectives.cuh through CUTLASS's own host side (which chooses the
// grid and encodes the tensor maps) and compares it with float64.
#pragma once
#include "../units/cutlass_collectives.cuh"

#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/util/packed_stride.hpp>

#include "program.cuh"

namespace real {

struct Size {
    int m, n, k;
};

// Persistent kernels size their grid by it: the same on every device.
constexpr int kMultiprocessors = 8;

inline void check(cutlass::Status status, const char* what) {
    if (status == cutlass::Status::kSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cutlassGetStatusString(status));
    std::exit(2);
}

// Row i of a times row j of b, both along k: the product, and the sum of the magnitudes.
struct Dot {
    double value = 0, magnitude = 0;
};
template <class A, class B>
Dot dot(const A* a, const B* b, int k) {
    Dot out;
    for (int i = 0; i < k; ++i) {
        const double product = static_cast<double>(static_cast<float>(a[i])) * static_cast<float>(b[i]);
        out.value += product;
        out.magnitude += std::fabs(product);
    }
    return out;
}

// d = a b^T; half_ulp: of the type of d; accuracy: of the sums, relative to the magnitudes.
template <class G, class A, class B>
void run_gemm(Outcome& outcome, const Size& size, const std::vector<A>& a, const std::vector<B>& b,
              double (*half_ulp)(double), double accuracy,
              const typename Kernel<G>::TileSchedulerArguments& scheduler = {}) {
    using Adapter = cutlass::gemm::device::GemmUniversalAdapter<Kernel<G>>;
    const auto [m, n, k] = size;
    Array<A> on_a(a);
    Array<B> on_b(b);
    Array<typename G::D> on_d(size_t(m) * n);
    using K = Kernel<G>;
    const auto stride_a = cutlass::make_cute_packed_stride(typename K::StrideA{}, {m, k, 1});
    const auto stride_b = cutlass::make_cute_packed_stride(typename K::StrideB{}, {n, k, 1});
    const auto stride_c = cutlass::make_cute_packed_stride(typename K::StrideC{}, {m, n, 1});
    const auto stride_d = cutlass::make_cute_packed_stride(typename K::StrideD{}, {m, n, 1});
    typename Adapter::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm,
                                          {m, n, k, 1},
                                          {on_a.get(), stride_a, on_b.get(), stride_b},
                                          {{1.0f, 0.0f}, on_d.get(), stride_c, on_d.get(), stride_d},
                                          {0, kMultiprocessors},
                                          scheduler};
    Adapter gemm;
    check(gemm.can_implement(arguments), "can_implement");
    Array<uint8_t> workspace(Adapter::get_workspace_size(arguments) + 1);
    check(gemm.initialize(arguments, workspace.get()), "initialize");
    check(gemm.run(), "run");
    outcome.launched("the GEMM");
    outcome.compare("d", on_d.host(), [&, n = n, k = k](size_t i) {
        const Dot exact = dot(&a[i / n * k], &b[i % n * k], k);
        return Wanted{exact.value, half_ulp(exact.value) + accuracy * exact.magnitude};
    });
}

}  // namespace real

// SPDX-License-Identifier: Apache-2.0
// Runs a GEMM of units/cutlass_collectives.cuh through CUTLASS's own host side (which chooses the
// grid and encodes the tensor maps) and compares it with float64.
#pragma once
#include "../units/cutlass_collectives.cuh"

#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/util/packed_stride.hpp>

#include "program.cuh"

namespace real {

struct Problem {
    int m, n, k;
    // Persistent kernels size their grid by it: the same on every device.
    int multiprocessors = 8;
    float beta = 0;  // of C; 0: it is not read
};

// Without C the epilogue goes another way; the long form goes both.
inline std::vector<Problem> problems(const Outcome& outcome, const Problem& short_one, std::vector<Problem> long_ones) {
    return outcome.is_long() ? std::move(long_ones) : std::vector<Problem>{short_one};
}

inline void check(cutlass::Status status, const char* what) {
    if (status == cutlass::Status::kSuccess) return;
    std::fprintf(stderr, "%s: %s\n", what, cutlassGetStatusString(status));
    std::exit(2);
}

// Row i of a times row j of b, both along k: the product, and the sum of the magnitudes.
struct Dot {
    double value = 0, magnitude = 0;
};
inline Dot dot(const float* a, const float* b, int k) {
    Dot out;
    for (int i = 0; i < k; ++i) {
        const double product = static_cast<double>(a[i]) * b[i];
        out.value += product;
        out.magnitude += std::fabs(product);
    }
    return out;
}

// d = a b^T + beta c; half_ulp: of the type of d; accuracy: of the sums, relative to the magnitudes.
template <class T>
std::vector<float> floats(const std::vector<T>& values) {
    std::vector<float> out(values.size());
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(values[i]);
    return out;
}

template <class G, class A, class B>
void run_gemm(Outcome& outcome, const Problem& problem, const std::vector<A>& a, const std::vector<B>& b,
              double (*half_ulp)(double), double accuracy,
              const typename Kernel<G>::TileSchedulerArguments& scheduler = {}) {
    using Adapter = cutlass::gemm::device::GemmUniversalAdapter<Kernel<G>>;
    const auto [m, n, k, multiprocessors, beta] = problem;
    Array<A> on_a(a);
    Array<B> on_b(b);
    const auto c = integers<typename G::D>(size_t(m) * n, 9, beta == 0 ? 0 : 8);
    Array<typename G::D> on_c(c);
    Array<typename G::D> on_d(size_t(m) * n);
    using K = Kernel<G>;
    const auto stride_a = cutlass::make_cute_packed_stride(typename K::StrideA{}, {m, k, 1});
    const auto stride_b = cutlass::make_cute_packed_stride(typename K::StrideB{}, {n, k, 1});
    const auto stride_c = cutlass::make_cute_packed_stride(typename K::StrideC{}, {m, n, 1});
    const auto stride_d = cutlass::make_cute_packed_stride(typename K::StrideD{}, {m, n, 1});
    typename Adapter::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm,
                                          {m, n, k, 1},
                                          {on_a.get(), stride_a, on_b.get(), stride_b},
                                          {{1.0f, beta}, on_c.get(), stride_c, on_d.get(), stride_d},
                                          {0, multiprocessors},
                                          scheduler};
    Adapter gemm;
    check(gemm.can_implement(arguments), "can_implement");
    Array<uint8_t> workspace(Adapter::get_workspace_size(arguments) + 1);
    check(gemm.initialize(arguments, workspace.get()), "initialize");
    check(gemm.run(), "run");
    outcome.launched("the GEMM");
    const auto rows = floats(a), columns = floats(b), added = floats(c);
    outcome.compare("d", on_d.host(), [&, n = n, k = k, beta = beta](size_t i) {
        const Dot exact = dot(&rows[i / n * k], &columns[i % n * k], k);
        const double value = exact.value + double(beta) * added[i];
        return Wanted{value, half_ulp(value) + accuracy * exact.magnitude};
    });
}

}  // namespace real

// SPDX-License-Identifier: Apache-2.0
// CUTLASS 2's parallel split-K: a tf32 GEMM by slices of K, and the kernel that sums the slices. The
// inputs are numbers of tf32, so that products are exact.
#include "../units/cutlass_sm80_splitk.cu"

#include "program.cuh"

int main(int argc, char** argv) {
    real::Outcome outcome(argc, argv);
    constexpr int m = 160, n = 96, slices = 3;
    const int k = outcome.is_long() ? 768 : 256;
    const auto on_grid = [](size_t count, uint64_t seed) {
        auto values = real::uniform<float>(count, seed);
        for (float& each : values) each = std::round(each * 1024) / 1024;
        return values;
    };
    const auto a = on_grid(m * k, 1), b = on_grid(n * k, 2);
    real::Array<float> on_a(a), on_b(b), on_d(m * n);
    SplitK::Arguments arguments({m, n, k}, {on_a.get(), k}, {on_b.get(), k}, {on_d.get(), n}, {on_d.get(), n}, {1.0f, 0.0f}, slices);
    SplitK gemm;
    real::Array<uint8_t> workspace(SplitK::get_workspace_size(arguments));
    if (gemm.initialize(arguments, workspace.get()) != cutlass::Status::kSuccess || gemm.run() != cutlass::Status::kSuccess) {
        std::fprintf(stderr, "the GEMM was refused\n");
        return 2;
    }
    outcome.launched("GemmSplitKParallel");
    outcome.compare("d", on_d.host(), [&](size_t i) {
        double value = 0, magnitude = 0;
        for (int j = 0; j < k; ++j) {
            const double product = double(a[i / n * k + j]) * double(b[i % n * k + j]);
            value += product, magnitude += std::fabs(product);
        }
        return real::Wanted{value, real::half_ulp_f32(value) + k * std::ldexp(1.0, -23) * magnitude};
    });
    return outcome.finish();
}

// SPDX-License-Identifier: Apache-2.0
// Triton's silu(x) * y into FP8 with a scale.
#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include "triton.hpp"

int main(int argc, char** argv) {
    real::Outcome outcome(argc, argv);
    constexpr int rows = 3, d = 1200;
    constexpr float scale = 0.5f;
    const auto x = real::uniform<__nv_bfloat16>(rows * 2 * d, 1, 6);
    real::Array<__nv_bfloat16> on_x(x);
    real::Array<__nv_fp8_e4m3> on_out(rows * d);
    real::Array<float> on_scale(std::vector<float>{scale}), no_scale(1);
    real::Triton kernel;
    kernel.launch(dim3(rows, (d + 1023) / 1024), on_out.get(), d, on_scale.get(), on_x.get(), 2 * d, no_scale.get(), d);
    outcome.launched("silu_and_mul_kernel");
    outcome.compare("out", on_out.host(), [&](size_t i) {
        const auto* row = &x[i / d * 2 * d];
        const double gate = float(row[i % d]), value = gate / (1 + std::exp(-gate)) * float(row[d + i % d]) * scale;
        return real::Wanted{value, real::half_ulp_e4m3(value) + 1e-5 * std::fabs(value)};
    });
    return outcome.finish();
}

// SPDX-License-Identifier: Apache-2.0
// Triton's RMSNorm with residual and an output scale, bf16. The residual is rounded before it is normed.
#include <cuda_bf16.h>

#include "triton.hpp"

int main(int argc, char** argv) {
    real::Outcome outcome(argc, argv);
    using T = __nv_bfloat16;
    constexpr int rows = 3, d = 1504;
    constexpr float scale = 0.25f, eps = 1e-5f;
    const auto x = real::uniform<T>(rows * d, 1, 3), r = real::uniform<T>(rows * d, 2, 3), weight = real::uniform<T>(d, 3);
    real::Array<T> on_x(x), on_r(r), on_weight(weight), on_out(rows * d);
    real::Array<float> on_scale(std::vector<float>{scale}), no_scale(1);
    real::Triton kernel;
    kernel.launch(rows, d, rows, on_x.get(), d, no_scale.get(), on_r.get(), d, on_weight.get(), on_out.get(), d, on_scale.get());
    outcome.launched("rms_norm_kernel");
    const auto sum = [&](size_t i) { return float(x[i]) + float(r[i]); };
    outcome.compare("residual", on_r.host(), [&](size_t i) { return real::Wanted{sum(i), real::half_ulp_bf16(sum(i))}; });
    outcome.compare("out", on_out.host(), [&](size_t i) {
        double squares = 0;
        for (size_t j = i / d * d; j < i / d * d + d; ++j) squares += double(sum(j)) * sum(j);
        const double value = float(T(sum(i))) / std::sqrt(squares / d + eps) * float(weight[i % d]) * scale;
        return real::Wanted{value, real::half_ulp_bf16(value) + 1e-5 * std::fabs(value)};
    });
    return outcome.finish();
}

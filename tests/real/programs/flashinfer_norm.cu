// SPDX-License-Identifier: Apache-2.0
// flashinfer's RMSNorm kernels on a few rows, as the package's own callers launch them.
#include "../units/flashinfer_norm.cu"

#include "program.cuh"

namespace {

constexpr float kEps = 1e-5f;
constexpr uint32_t kRows = 5;
// rsqrt is good to 2 ulp, the sum of squares to some more: far below the rounding of any output.
constexpr double kAccuracy = 1e-5;

dim3 warps(uint32_t d) { return dim3(32, (std::min(1024u, d / 8) + 31) / 32); }

// x[i] * weight[i] / rms(x), in float64; x: a row.
template <class T, class W>
double normed(const T* x, const W* weight, uint32_t d, uint32_t i) {
    double squares = 0;
    for (uint32_t j = 0; j < d; ++j) squares += double(float(x[j])) * double(float(x[j]));
    return double(float(x[i])) * double(float(weight[i])) / std::sqrt(squares / d + kEps);
}
template <class T, class W>
auto wanted(const std::vector<T>& x, const std::vector<W>& weight, uint32_t d, double (*half_ulp)(double), double factor = 1) {
    return [&x, &weight, d, half_ulp, factor](size_t i) {
        const double value = factor * normed(&x[i / d * d], weight.data(), d, i % d);
        return real::Wanted{value, half_ulp(value) + kAccuracy * std::fabs(value)};
    };
}

void run_plain(real::Outcome& outcome) {
    constexpr uint32_t d = 2048;
    const auto x = real::uniform<nv_bfloat16>(kRows * d, 1, 3), weight = real::uniform<nv_bfloat16>(d, 2);
    real::Array<nv_bfloat16> on_x(x), on_weight(weight), on_out(kRows * d);
    plain<<<kRows, warps(d), warps(d).y * 4>>>(on_x.get(), on_weight.get(), on_out.get(), d, d, d, 0.0f, kEps);
    outcome.launched("RMSNormKernel");
    outcome.compare("plain", on_out.host(), wanted(x, weight, d, real::half_ulp_bf16));
}

void run_quantised(real::Outcome& outcome) {
    constexpr uint32_t d = 1024;
    constexpr float kScale = 0.25f;
    const auto x = real::uniform<half>(kRows * d, 3, 3), weight = real::uniform<half>(d, 4);
    real::Array<half> on_x(x), on_weight(weight);
    real::Array<__nv_fp8_e4m3> on_out(kRows * d);
    real::Array<float> on_scale(std::vector<float>{kScale});
    quantised<<<kRows, warps(d), warps(d).y * 4>>>(on_x.get(), on_weight.get(), on_out.get(), d, d, d, 0.0f, on_scale.get(), kEps);
    outcome.launched("RMSNormQuantKernel");
    outcome.compare("quantised", on_out.host(), wanted(x, weight, d, real::half_ulp_e4m3, 1 / kScale));
}

void run_qk(real::Outcome& outcome) {
    constexpr uint32_t d = 128, kHeads = 6;
    const auto x = real::uniform<nv_bfloat16>(kRows * kHeads * d, 5, 3), weight = real::uniform<nv_bfloat16>(d, 6);
    real::Array<nv_bfloat16> on_x(x), on_weight(weight), on_out(x.size());
    qk<<<3, dim3(32, 4)>>>(on_x.get(), on_weight.get(), on_out.get(), d, kRows, kHeads, kHeads * d, d, kHeads * d, d, 0.0f, kEps);
    outcome.launched("QKRMSNormKernel");
    outcome.compare("qk", on_out.host(), wanted(x, weight, d, real::half_ulp_bf16));
}

void run_fused_add(real::Outcome& outcome) {
    constexpr uint32_t d = 1536;
    const auto x = real::uniform<half>(kRows * d, 7, 3), residual = real::uniform<half>(kRows * d, 8, 3), weight = real::uniform<half>(d, 9);
    std::vector<float> sum(x.size());
    for (size_t i = 0; i < sum.size(); ++i) sum[i] = float(x[i]) + float(residual[i]);
    real::Array<half> on_x(x), on_residual(residual), on_weight(weight);
    const uint32_t shared = (warps(d).y + 3) / 4 * 16 + d * 4;
    fused_add<<<kRows, warps(d), shared>>>(on_x.get(), on_residual.get(), on_weight.get(), d, d, d, 0.0f, kEps);
    outcome.launched("FusedAddRMSNormKernel");
    outcome.compare("fused_add", on_x.host(), wanted(sum, weight, d, real::half_ulp_f16));
    outcome.compare("residual", on_residual.host(), [&](size_t i) {
        return real::Wanted{sum[i], real::half_ulp_f16(sum[i])};
    });
}

}  // namespace

int main(int argc, char** argv) {
    real::Outcome outcome(argc, argv);
    run_plain(outcome);
    run_quantised(outcome);
    run_qk(outcome);
    run_fused_add(outcome);
    return outcome.finish();
}

// SPDX-License-Identifier: Apache-2.0
// flashinfer's merging of two partial attention results: v = (2^s v + 2^t w) / (2^s + 2^t).
#include "../units/flashinfer_cascade.cu"

#include "program.cuh"

int main(int argc, char** argv) {
    real::Outcome outcome(argc, argv);
    constexpr uint32_t rows = 7, heads = 6, d = 128;
    const auto v = real::uniform<half>(rows * heads * d, 1, 4), w = real::uniform<half>(rows * heads * d, 2, 4);
    const auto s = real::uniform<float>(rows * heads, 3, 8), t = real::uniform<float>(rows * heads, 4, 8);
    real::Array<half> on_v(v), on_w(w);
    real::Array<float> on_s(s), on_t(t);
    in_place<<<rows, dim3(d / 8, heads)>>>(on_v.get(), on_s.get(), on_w.get(), on_t.get(), nullptr, heads, d);
    outcome.launched("MergeStateInPlaceKernel");
    const auto weight = [&](size_t i, const std::vector<float>& of) { return std::exp2(double(of[i])); };
    outcome.compare("v", on_v.host(), [&](size_t i) {
        const double a = weight(i / d, s), b = weight(i / d, t);
        const double x = double(float(v[i])), y = double(float(w[i])), value = (a * x + b * y) / (a + b);
        return real::Wanted{value, real::half_ulp_f16(value) + 1e-6 * (a * std::fabs(x) + b * std::fabs(y)) / (a + b)};
    });
    outcome.compare("s", on_s.host(), [&](size_t i) { return real::Wanted{std::log2(weight(i, s) + weight(i, t)), 4e-6}; });
    return outcome.finish();
}

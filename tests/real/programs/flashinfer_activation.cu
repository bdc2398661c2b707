// SPDX-License-Identifier: Apache-2.0
// flashinfer's silu(x) * y. __expf and the division are approximate, to some units of 2^-22.
#include "../units/flashinfer_activation.cu"

#include "program.cuh"

namespace {

constexpr uint32_t kRows = 3;

template <class T>
auto wanted(const std::vector<T>& x, uint32_t d, double (*half_ulp)(double)) {
    return [&x, d, half_ulp](size_t i) {
        const T* row = &x[i / d * 2 * d];
        const double gate = float(row[i % d]), value = gate / (1 + std::exp(-gate)) * float(row[d + i % d]);
        return real::Wanted{value, half_ulp(value) + 1e-6 * (std::fabs(value) + 1e-3)};
    };
}

}  // namespace

int main(int argc, char** argv) {
    real::Outcome outcome(argc, argv);
    constexpr uint32_t d = 1184, split = 2;
    const auto x = real::uniform<nv_bfloat16>(kRows * 2 * d, 1, 8);
    real::Array<nv_bfloat16> on_x(x), on_out(kRows * d);
    whole_rows<<<kRows, d / 8>>>(on_out.get(), on_x.get(), d);
    outcome.launched("act_and_mul_kernel");
    outcome.compare("whole_rows", on_out.host(), wanted(x, d, real::half_ulp_bf16));

    constexpr uint32_t wide = 20000;
    const auto y = real::uniform<half>(kRows * 2 * wide, 2, 8);
    real::Array<half> on_y(y), on_split(kRows * wide);
    split_rows<<<kRows * split, 256>>>(on_split.get(), on_y.get(), wide, split);
    outcome.launched("act_and_mul_split_kernel");
    outcome.compare("split_rows", on_split.host(), wanted(y, wide, real::half_ulp_f16));
    return outcome.finish();
}

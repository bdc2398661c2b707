// SPDX-License-Identifier: Apache-2.0
// Row softmax the naive way, in double: what the kernels are judged by. No cleverness.
#include <cmath>
#include <limits>
#include <vector>

#include "references.hpp"

namespace ww::kernels {

Status softmax_reference(const ladder::LibraryCall& call) {
    WW_TRY(readable, call.require({"scores"}, {"Lq", "Lk", "causal"}, {"scale"}));
    (void)readable;
    const port::Tensor& scores = call.input("scores");
    port::Tensor* p_f32 = call.output("p_f32");
    port::Tensor* p_bf16 = call.output("p_bf16");
    port::Tensor* row_max = call.tap("row_max");
    port::Tensor* row_sum = call.tap("row_sum");
    const int64_t lq = call.integer("Lq"), lk = call.integer("Lk");
    const bool causal = call.integer("causal") != 0;
    // The kernel receives the scale as a float; log2(e) is exact here.
    const double scale = static_cast<float>(call.real("scale"));
    const double log2e = std::log2(std::exp(1.0));
    std::vector<double> numerator(static_cast<size_t>(lk));

    const int64_t rows = scores.layout.elements / lk;
    for (const char* name : {"p_f32", "p_bf16"}) {
        WW_TRY(fits, call.require_elements(name, rows * lk));
        (void)fits;
    }
    for (const char* name : {"row_max", "row_sum"}) {
        WW_TRY(fits, call.require_elements(name, rows));
        (void)fits;
    }
    for (int64_t row = 0; row < rows; ++row) {
        const int64_t query = row % lq;
        double max = -std::numeric_limits<double>::infinity(), sum = 0;
        for (int64_t key = 0; key < lk; ++key) {
            const bool visible = !causal || key <= query + lk - lq;
            if (visible) max = std::fmax(max, scores.get(row * lk + key) * scale * log2e);
        }
        for (int64_t key = 0; key < lk; ++key) {
            const bool visible = !causal || key <= query + lk - lq;
            double& e = numerator[static_cast<size_t>(key)];
            e = 0;
            if (visible && !std::isinf(max))
                e = std::exp2(scores.get(row * lk + key) * scale * log2e - max);
            sum += e;
        }
        for (int64_t key = 0; key < lk; ++key) {
            const double p = sum == 0 ? 0 : numerator[static_cast<size_t>(key)] / sum;
            if (p_f32) p_f32->set(row * lk + key, p);
            if (p_bf16) p_bf16->set(row * lk + key, p);
        }
        if (row_max) row_max->set(row, max);
        if (row_sum) row_sum->set(row, sum);
    }
    return ok();
}

}  // namespace ww::kernels

// SPDX-License-Identifier: Apache-2.0
// Triton's merging of partial attention results: sums weighted by 2^s, over index sets; scalar loops.
#include "triton.hpp"

int main(int argc, char** argv) {
    real::Outcome outcome(argc, argv);
    // 128 dimensions and 32 heads are constants of the compilation, which also took all integers for
    // multiples of 16.
    constexpr int rows = 1, sets = 16, heads = 32, d = 128;
    const auto v = real::uniform<float>(rows * sets * heads * d, 1, 4), s = real::uniform<float>(rows * sets * heads, 2, 8);
    real::Array<float> on_v(v), on_s(s), on_merged(rows * heads * d), on_sums(rows * heads);
    real::Triton kernel;
    kernel.launch(rows, on_v.get(), on_s.get(), on_merged.get(), on_sums.get(), sets, heads, d);
    outcome.launched("merge_states_kernel");
    const auto weight = [&](int row, int set, int head) { return std::exp2(double(s[(row * sets + set) * heads + head])); };
    outcome.compare("v", on_merged.host(), [&](size_t i) {
        const int at = i % d, head = i / d % heads, row = i / d / heads;
        double sum = 0, total = 0, magnitude = 0;
        for (int set = 0; set < sets; ++set) {
            const double w = weight(row, set, head), x = v[((row * sets + set) * heads + head) * d + at];
            sum += w * x, total += w, magnitude += w * std::fabs(x);
        }
        return real::Wanted{sum / total, 2e-6 * magnitude / total};
    });
    outcome.compare("s", on_sums.host(), [&](size_t i) {
        double total = 0;
        for (int set = 0; set < sets; ++set) total += weight(i / heads, set, i % heads);
        return real::Wanted{std::log2(total), 1e-5};
    });
    return outcome.finish();
}

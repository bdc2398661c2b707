// SPDX-License-Identifier: Apache-2.0
// Rows of attention by sample against plain attention of the whole.
#include <gtest/gtest.h>

#include <cmath>

#include "port/distribution.hpp"
#include "references.hpp"
#include "sage3/sage3_setting.hpp"

namespace ww::kernels {
namespace {

using port::Tensor;

struct Problem {
    sage3::Problem p;
    std::vector<int64_t> starts{0};
};

Tensor random(const char* name, std::vector<int64_t> shape) {
    return *port::generate({}, name, *port::make_layout(port::Dtype::bf16, std::move(shape)), 3);
}

Tensor integers(const char* name, std::vector<int64_t> shape, const std::vector<int64_t>& values, port::Dtype dtype) {
    Tensor out = *Tensor::zeros(name, *port::make_layout(dtype, std::move(shape)));
    for (size_t i = 0; i < values.size(); ++i) out.set_code(static_cast<int64_t>(i), static_cast<uint64_t>(values[i]));
    return out;
}

port::Scope scope_of(const sage3::Problem& p) {
    port::Scope out;
    out.integers = {{"B", p.b}, {"H", p.h}, {"Hkv", p.h_kv}, {"Lq", p.lq}, {"Lk", p.lk}, {"D", p.d}, {"S", p.packed},
                    {"longest_q", p.longest_q}, {"longest_k", p.longest_k}, {"causal", static_cast<int64_t>(p.causal)},
                    {"left", p.left == sage3::kUnbounded ? -1 : p.left}, {"right", -1}, {"mask_type", static_cast<int64_t>(p.mask)},
                    {"global_mean", 0}, {"smooth_v", 0}};
    out.reals = {{"sm_scale", p.scale}};
    return out;
}

// Every row, in an order that jumps between heads; the largest difference from plain attention, or -1 where it fails.
double largest_difference(const Problem& problem) {
    const sage3::Problem& p = problem.p;
    const Tensor q = random("q", {p.b, p.h, p.lq, p.d}), k = random("k", {p.b, p.h_kv, p.lk, p.d}), v = random("v", {p.b, p.h_kv, p.lk, p.d});
    const auto starts = static_cast<int64_t>(problem.starts.size());
    const Tensor q_starts = integers("q_starts", {starts}, problem.starts, port::Dtype::i32);
    const Tensor k_starts = integers("k_starts", {starts}, problem.starts, port::Dtype::i32);
    const int64_t count = p.b * p.h * p.lq;
    std::vector<int64_t> coordinates, rows;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t row = i * 7 % count;
        rows.push_back(row);
        coordinates.insert(coordinates.end(), {row / p.lq / p.h, row / p.lq % p.h, row % p.lq});
    }
    const Tensor sampled = integers("rows", {count, 3}, coordinates, port::Dtype::i64);
    Tensor o = *Tensor::zeros("o", *port::make_layout(port::Dtype::f64, {count, p.d}));
    const port::Scope scope = scope_of(p);
    ladder::LibraryCall call{.scope = &scope};
    call.inputs = {{"q", &q}, {"k", &k}, {"v", &v}, {"q_starts", &q_starts}, {"k_starts", &k_starts}, {"rows", &sampled}};
    call.outputs = {{"o", &o}};
    if (!sage3_rows(call)) return -1;
    const sage3::Sequences sequences =
        p.packed ? sage3::Sequences{sage3::sequences(p, problem.starts, p.lq, p.longest_q),
                                    sage3::sequences(p, problem.starts, p.lk, p.longest_k)}
                 : sage3::whole_batches(p);
    const sage3::Output due =
        sage3::plain_attention(p, sequences, sage3::values_of(q), sage3::values_of(k), sage3::values_of(v));
    double out = 0;
    for (int64_t i = 0; i < count; ++i)
        for (int64_t d = 0; d < p.d; ++d)
            out = std::max(out, std::fabs(o.get(i * p.d + d) - due.o[sage3::at(rows[sage3::at(i)] * p.d + d)]));
    return out;
}

TEST(Sage3Rows, AreThoseOfPlainAttention) {
    sage3::Problem p{.b = 2, .h = 3, .h_kv = 1, .lq = 9, .lk = 13, .d = 5, .scale = 0.5};
    EXPECT_NEAR(largest_difference({p}), 0, 1e-12);
    for (const auto causal : {sage3::Causal::bottom_right, sage3::Causal::top_left}) {
        p.causal = causal;
        EXPECT_NEAR(largest_difference({p}), 0, 1e-12);
    }
    p.left = 2;
    EXPECT_NEAR(largest_difference({p}), 0, 1e-12);
    p = {.b = 1, .h = 2, .h_kv = 2, .lq = 12, .lk = 12, .d = 4, .scale = 0.5, .causal = sage3::Causal::bottom_right};
    p.packed = 3, p.longest_q = 7, p.longest_k = 7;
    EXPECT_NEAR(largest_difference({p, {0, 5, 5, 12}}), 0, 1e-12);
    p.mask = sage3::Mask::bytes;
    EXPECT_EQ(largest_difference({p, {0, 5, 5, 12}}), -1);
}

}  // namespace
}  // namespace ww::kernels

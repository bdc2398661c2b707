// SPDX-License-Identifier: Apache-2.0
#include "sage3_ablated.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "numerics/formats.hpp"

namespace ww::sage3 {
namespace {

// x [n, rows, d] -> means of runs of rows_per_mean rows (the last may be shorter), [n, runs, d].
Values mean_rows(const Values& x, int64_t rows, int64_t d, int64_t rows_per_mean) {
    Values out;
    for (int64_t n = 0; n < static_cast<int64_t>(x.size()) / (rows * d); ++n)
        for (int64_t first = 0; first < rows; first += rows_per_mean) {
            const int64_t count = std::min(rows_per_mean, rows - first);
            const Values mean =
                mean_of(std::span(x).subspan(at((n * rows + first) * d), at(count * d)), d);
            out.insert(out.end(), mean.begin(), mean.end());
        }
    return out;
}

// x - mean as the kernels do it: in float, then as f16. means: [BH, runs, D].
Values smoothed(const Values& x, const Values& means, int64_t rows, int64_t d,
                int64_t rows_per_mean) {
    Values out(x.size());
    const int64_t runs = (rows + rows_per_mean - 1) / rows_per_mean;
    for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
        const int64_t row = i / d, run = row / rows * runs + row % rows / rows_per_mean;
        const float difference =
            static_cast<float>(x[at(i)]) - static_cast<float>(means[at(run * d + i % d)]);
        out[at(i)] = numerics::decode(
            numerics::Format::f16,
            numerics::encode(numerics::Format::f16, static_cast<double>(difference)));
    }
    return out;
}

// x [n, rows, d] as NVFP4 and back, padded with zeros to [n, padded_rows, padded_d]; groups along
// the channels, or along the rows.
Values quantised(const Values& x, int64_t rows, int64_t d, int64_t padded_rows, int64_t padded_d,
                 bool along_rows) {
    const int64_t n = static_cast<int64_t>(x.size()) / (rows * d);
    Values out(at(n * padded_rows * padded_d), 0.0);
    const int64_t across = along_rows ? padded_d : padded_rows,
                  along = along_rows ? padded_rows : padded_d;
    for (int64_t matrix = 0; matrix < n; ++matrix)
        for (int64_t i = 0; i < across; ++i)
            for (int64_t first = 0; first < along; first += kGroup) {
                const auto place = [&](int64_t j) {
                    return along_rows ? std::pair(first + j, i) : std::pair(i, first + j);
                };
                std::array<float, kGroup> group{};
                for (int64_t j = 0; j < kGroup; ++j)
                    if (const auto [r, c] = place(j); r < rows && c < d)
                        group[at(j)] = static_cast<float>(x[at((matrix * rows + r) * d + c)]);
                const Group codes = quantize_group(group);
                const double scale = numerics::decode(numerics::Format::e4m3, codes.scale);
                for (int64_t j = 0; j < kGroup; ++j) {
                    const auto [r, c] = place(j);
                    out[at((matrix * padded_rows + r) * padded_d + c)] =
                        scale * numerics::decode(numerics::Format::e2m1, codes.codes[at(j)]);
                }
            }
    return out;
}

// The first `rows` rows of each matrix of [n, padded, d].
Values first_rows(const Values& x, int64_t padded, int64_t rows, int64_t d) {
    Values out;
    for (int64_t n = 0; n < static_cast<int64_t>(x.size()) / (padded * d); ++n)
        out.insert(out.end(), x.begin() + n * padded * d, x.begin() + (n * padded + rows) * d);
    return out;
}

}  // namespace

Result<Data> generated(std::string name, const Problem& problem, const port::Distribution& q, const port::Distribution& k,
                       const port::Distribution& v, uint64_t seed) {
    Data out{.name = std::move(name), .problem = problem, .q = {}, .k = {}, .v = {}};
    const auto made = [&](const port::Distribution& distribution, const char* tensor,
                          int64_t length) -> Result<port::Tensor> {
        WW_TRY(layout, port::make_layout(port::Dtype::f16, {problem.h, length, problem.d}));
        return port::generate(distribution, tensor, layout, seed);
    };
    WW_TRY(queries, made(q, "q", problem.lq));
    WW_TRY(keys, made(k, "k", problem.lk));
    WW_TRY(values, made(v, "v", problem.lk));
    out.q = values_of(queries), out.k = values_of(keys), out.v = values_of(values);
    return out;
}

Values ablated_attention(const Data& data, const Variant& variant) {
    const Problem& p = data.problem;
    const int64_t heads = p.b * p.h;
    Values k_mean = mean_rows(data.k, p.lk, p.d, p.lk);
    if (!variant.smooth_k) k_mean.assign(k_mean.size(), 0.0);
    Values q_mean = mean_rows(data.q, p.lq, p.d, kTile);
    if (variant.q_mean == QMean::none) q_mean.assign(q_mean.size(), 0.0);
    if (variant.q_mean == QMean::global) {
        const Values whole = mean_rows(data.q, p.lq, p.d, p.lq);
        for (int64_t i = 0; i < static_cast<int64_t>(q_mean.size()); ++i)
            q_mean[at(i)] = whole[at(i / (p.query_tiles() * p.d) * p.d + i % p.d)];
    }
    const Values k = smoothed(data.k, k_mean, p.lk, p.d, p.lk),
                 q = smoothed(data.q, q_mean, p.lq, p.d, kTile);
    Values bias(at(heads * p.query_tiles() * p.lkp()), 0.0);
    for (int64_t row = 0; row < heads * p.query_tiles(); ++row)
        for (int64_t key = 0; key < p.lk; ++key)
            for (int64_t c = 0; c < p.d; ++c)
                bias[at(row * p.lkp() + key)] +=
                    q_mean[at(row * p.d + c)] *
                    k[at((row / p.query_tiles() * p.lk + key) * p.d + c)];
    const Values shift(at(heads * p.lq), 0.0);  // for the log-sum-exp alone
    const Values q4 =
        first_rows(quantised(q, p.lq, p.d, p.lqp(), p.dp(), false), p.lqp(), p.lq, p.dp());
    // V's mean is taken away where the codes are made, in float, and added to o.
    const Values v_mean = mean_rows(data.v, p.lk, p.d, p.lk);
    Values v = data.v;
    for (int64_t i = 0; variant.smooth_v && i < static_cast<int64_t>(v.size()); ++i)
        v[at(i)] = static_cast<float>(v[at(i)]) -
                   static_cast<float>(v_mean[at(i / (p.lk * p.d) * p.d + i % p.d)]);
    return quantised_attention(
               p, whole_batches(p), q4, quantised(k, p.lk, p.d, p.lkp(), p.dp(), false),
               quantised(v, p.lk, p.d, p.lkp(), p.dp(), true), bias, shift,
               {.quantisation = variant.p, .v_mean = variant.smooth_v ? &v_mean : nullptr})
        .o;
}

Errors errors_of(const Values& got, const Values& truth) {
    double product = 0, of_got = 0, of_truth = 0, l1 = 0, l1_truth = 0, l2 = 0;
    for (size_t i = 0; i < got.size(); ++i) {
        product += got[i] * truth[i];
        of_got += got[i] * got[i];
        of_truth += truth[i] * truth[i];
        l1 += std::fabs(got[i] - truth[i]);
        l1_truth += std::fabs(truth[i]);
        l2 += (got[i] - truth[i]) * (got[i] - truth[i]);
    }
    return {product / std::sqrt(of_got * of_truth), std::sqrt(l2 / of_truth), l1 / l1_truth};
}

}  // namespace ww::sage3

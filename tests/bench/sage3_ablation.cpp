// SPDX-License-Identifier: Apache-2.0
// What each idea of sage3 is worth: the reference algorithm with one of them left out, on data that
// is kind and on data that is not, against attention in double. Prints a table; judges nothing.
//   sage3_ablation tests/data/minilm_qkv.safetensors
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "numerics/formats.hpp"
#include "port/distribution.hpp"
#include "port/safetensors.hpp"
#include "sage3/sage3_reference.hpp"

namespace ww::sage3 {
namespace {

using port::Distribution;

size_t at(int64_t index) { return static_cast<size_t>(index); }

struct Data {
    std::string name;
    Problem problem;
    Values q, k, v;  // [BH, L, D], values of f16
};

enum class QMean { block, global, none };
struct Variant {
    std::string name;
    bool smooth_k = true;
    QMean q_mean = QMean::block;
    bool smooth_v = false;
    PQuantisation p = PQuantisation::two_level;
};

Values values_of(const port::Tensor& tensor) {
    Values out(at(tensor.layout.elements));
    for (int64_t i = 0; i < tensor.layout.elements; ++i) out[at(i)] = tensor.get(i);
    return out;
}

Result<Data> generated(std::string name, const Distribution& q, const Distribution& k,
                       const Distribution& v) {
    Data out{.name = std::move(name),
             .problem = {.b = 1, .h = 2, .h_kv = 2, .lq = 512, .lk = 1024, .d = 128}};
    const Problem& p = out.problem;
    const auto made = [&](const Distribution& distribution, const char* tensor,
                          int64_t length) -> Result<port::Tensor> {
        WW_TRY(layout, port::make_layout(port::Dtype::f16, {p.h, length, p.d}));
        return port::generate(distribution, tensor, layout, 10);
    };
    WW_TRY(queries, made(q, "q", p.lq));
    WW_TRY(keys, made(k, "k", p.lk));
    WW_TRY(values, made(v, "v", p.lk));
    out.q = values_of(queries), out.k = values_of(keys), out.v = values_of(values);
    return out;
}

Result<Data> real(const std::string& file, int layer) {
    Data out{.name = fmt::format("MiniLM, layer {}", layer)};
    for (const auto& [name, into] :
         {std::pair("q", &out.q), std::pair("k", &out.k), std::pair("v", &out.v)}) {
        WW_TRY(tensor, port::read_safetensor(file, fmt::format("layer{}.{}", layer, name)));
        const std::vector<int64_t>& shape = tensor.layout.shape;
        const size_t rank = shape.size();
        if (rank < 3)
            return fail(fmt::format("{}: layer{}.{} is {}; heads, tokens and channels are wanted",
                                    file, layer, name, tensor.layout.text()));
        out.problem = {.b = 1,
                       .h = shape[rank - 3],
                       .h_kv = shape[rank - 3],
                       .lq = shape[rank - 2],
                       .lk = shape[rank - 2],
                       .d = shape[rank - 1]};
        *into = values_of(tensor);
    }
    return out;
}

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

Values attention(const Data& data, const Variant& variant) {
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

std::string errors_of(const Values& got, const Values& truth) {
    double product = 0, of_got = 0, of_truth = 0, l1 = 0, l1_truth = 0, l2 = 0;
    for (size_t i = 0; i < got.size(); ++i) {
        product += got[i] * truth[i];
        of_got += got[i] * got[i];
        of_truth += truth[i] * truth[i];
        l1 += std::fabs(got[i] - truth[i]);
        l1_truth += std::fabs(truth[i]);
        l2 += (got[i] - truth[i]) * (got[i] - truth[i]);
    }
    return fmt::format("{:.4f} / {:.4f} / {:.4f}", product / std::sqrt(of_got * of_truth),
                       std::sqrt(l2 / of_truth), l1 / l1_truth);
}

std::vector<Variant> variants() {
    return {{.name = "full algorithm"},
            {.name = "K not smoothed", .smooth_k = false},
            {.name = "Q not smoothed", .q_mean = QMean::none},
            {.name = "neither", .smooth_k = false, .q_mean = QMean::none},
            {.name = "one mean of all Q", .q_mean = QMean::global},
            {.name = "V smoothed, too", .smooth_v = true},
            {.name = "P at one level", .p = PQuantisation::direct},
            {.name = "P not quantised", .p = PQuantisation::none}};
}

Result<std::vector<Data>> data_of(const std::string& file) {
    using Kind = Distribution::Kind;
    const Distribution normal, correlated{.kind = Kind::correlated, .axis = -2},
        tails{.kind = Kind::student_t, .count = 3};
    const auto biased = [](double value) {
        return Distribution{.kind = Kind::biased, .value = value, .fraction = 0.1};
    };
    const Distribution shifted{.mean = 0.5};
    const Distribution sink_keys{.kind = Kind::sinks, .value = 1.6, .axis = -2},
        sink_values{.kind = Kind::sinks, .scale = 0.01, .axis = -2};
    std::vector<Data> out;
    const auto add = [&](Result<Data> made) -> Status {
        if (!made) return made.failure();
        out.push_back(std::move(*made));
        return ok();
    };
    WW_TRY(first, add(generated("N(0, 1)", normal, normal, normal)));
    WW_TRY(second, add(generated("10 % of the channels biased (Q 6, K 12)", biased(6), biased(12),
                                 normal)));
    WW_TRY(biased_v, add(generated("10 % of V's channels biased (4)", normal, normal, biased(4))));
    WW_TRY(third,
           add(generated("correlated tokens, AR(1) 0.97", correlated, correlated, correlated)));
    WW_TRY(fourth, add(generated("sinks", shifted, sink_keys, sink_values)));
    WW_TRY(fifth, add(generated("heavy tails, t with 3", tails, tails, tails)));
    (void)first, (void)second, (void)biased_v, (void)third, (void)fourth, (void)fifth;
    for (const int layer : {0, 2, 5}) {
        WW_TRY(added, add(real(file, layer)));
        (void)added;
    }
    return out;
}

Status print_table(const std::string& file) {
    WW_TRY(data, data_of(file));
    std::string head = "| data |", line = "|---|";
    for (const Variant& variant : variants())
        head += fmt::format(" {} |", variant.name), line += "---|";
    fmt::print("{}\n{}\n", head, line);
    for (Data& each : data) {
        each.problem.scale = 1 / std::sqrt(static_cast<double>(each.problem.d));
        const Values truth =
            plain_attention(each.problem, whole_batches(each.problem), each.q, each.k, each.v).o;
        fmt::print("| {} |", each.name);
        for (const Variant& variant : variants())
            fmt::print(" {} |", errors_of(attention(each, variant), truth));
        fmt::print("\n");
    }
    return ok();
}

}  // namespace
}  // namespace ww::sage3

int main(int argc, char** argv) {
    if (argc != 2) {
        fmt::print(stderr, "usage: sage3_ablation tests/data/minilm_qkv.safetensors\n");
        return 2;
    }
    const ww::Status printed = ww::sage3::print_table(argv[1]);
    if (printed) return 0;
    fmt::print(stderr, "{}", ww::format(printed.error()));
    return 2;
}

// SPDX-License-Identifier: Apache-2.0
// What each idea of sage3 is worth: the reference algorithm with one of them left out, on data that
// is kind and on data that is not, against attention in double. Prints a table; judges nothing.
//   sage3_ablation tests/data/minilm_qkv.safetensors
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "port/safetensors.hpp"
#include "sage3_ablated.hpp"

namespace ww::sage3 {
namespace {

using port::Distribution;

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

std::string text_of(const Errors& errors) {
    return fmt::format("{:.4f} / {:.4f} / {:.4f}", errors.cosine, errors.relative_l2, errors.relative_l1);
}

Result<Data> drawn(std::string name, const Distribution& q, const Distribution& k, const Distribution& v) {
    return generated(std::move(name), {.b = 1, .h = 2, .h_kv = 2, .lq = 512, .lk = 1024, .d = 128}, q, k, v, 10);
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
    WW_TRY(first, add(drawn("N(0, 1)", normal, normal, normal)));
    WW_TRY(second, add(drawn("10 % of the channels biased (Q 6, K 12)", biased(6), biased(12),
                                 normal)));
    WW_TRY(biased_v, add(drawn("10 % of V's channels biased (4)", normal, normal, biased(4))));
    WW_TRY(third,
           add(drawn("correlated tokens, AR(1) 0.97", correlated, correlated, correlated)));
    WW_TRY(fourth, add(drawn("sinks", shifted, sink_keys, sink_values)));
    WW_TRY(fifth, add(drawn("heavy tails, t with 3", tails, tails, tails)));
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
            fmt::print(" {} |", text_of(errors_of(ablated_attention(each, variant), truth)));
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

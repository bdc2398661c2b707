// SPDX-License-Identifier: Apache-2.0
#include "sage3/sage3_setting.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "sage3/sage3_axes.hpp"

namespace ww::sage3 {

using ladder::LibraryCall;
using port::Tensor;

Values values_of(const Tensor& tensor) {
    Values out(at(tensor.layout.elements));
    for (int64_t i = 0; i < tensor.layout.elements; ++i) out[at(i)] = tensor.get(i);
    return out;
}

Status fill(const LibraryCall& call, const char* name, Tensor* tensor, const Values& values) {
    WW_TRY(fits, call.require_elements(name, static_cast<int64_t>(values.size())));
    (void)fits;
    if (tensor)
        for (int64_t i = 0; i < tensor->layout.elements; ++i) tensor->set(i, values[at(i)]);
    return ok();
}

Status fill_output(const LibraryCall& call, const char* name, const Values& values) {
    return fill(call, name, call.output(name), values);
}

namespace {

std::vector<int64_t> starts_of(const LibraryCall& call, const char* name, const Problem& p) {
    std::vector<int64_t> out;
    for (int64_t i = 0; p.packed && i <= p.packed; ++i) out.push_back(static_cast<int64_t>(call.input(name).get(i)));
    return out;
}

}  // namespace

Result<Setting> setting_of(const LibraryCall& call, std::initializer_list<std::string_view> inputs, bool q_starts, bool k_starts) {
    WW_TRY(readable, call.require(inputs, {"B", "H", "Hkv", "Lq", "Lk", "D", "S", "longest_q", "longest_k", "causal", "left",
                                           "right", "mask_type", "global_mean", "smooth_v"},
                                  {"sm_scale"}));
    (void)readable;
    Setting out{problem_of([&](const char* name) { return call.integer(name); }, call.real("sm_scale")), {}};
    const Problem& p = out.p;
    if (q_starts) {
        WW_TRY(there, call.require({"q_starts"}, {}));
        (void)there;
        out.sequences.q = sequences(p, starts_of(call, "q_starts", p), p.lq, p.max_lq());
    }
    if (k_starts) {
        WW_TRY(there, call.require({"k_starts"}, {}));
        (void)there;
        out.sequences.k = sequences(p, starts_of(call, "k_starts", p), p.lk, p.max_lk());
    }
    return out;
}

Values means_of_sequences(const LibraryCall& call, const Problem& p, const std::vector<Sequence>& sequences, const char* x_name,
                          int64_t heads, int64_t length) {
    const Values x = values_of(call.input(x_name));
    Values out;
    for_each_head(sequences, heads, length, [&](int64_t, const Sequence& each, int64_t, int64_t row) {
        const Values mean = mean_of({&x[at(row * p.d)], at(each.length * p.d)}, p.d);
        out.insert(out.end(), mean.begin(), mean.end());
    });
    return out;
}

Values without_padding(const Values& x, const std::vector<Sequence>& sequences, int64_t heads, int64_t rows,
                       int64_t length, int64_t d) {
    Values out(x.size() / at(rows) * at(length), 0.0);
    for_each_head(sequences, heads, length, [&](int64_t, const Sequence& each, int64_t head, int64_t to) {
        const int64_t from = (each.batch * heads + head) * rows + each.stored;
        std::copy_n(x.begin() + from * d, each.length * d, out.begin() + to * d);
    });
    return out;
}

MaskFunction mask_of(const LibraryCall& call, const Problem& p) {
    if (p.mask == Mask::none) return {};
    const Tensor& mask = call.input(mask_name(p.mask));
    return [&mask, p](int64_t bh, int64_t query, int64_t key) {
        const auto& shape = mask.layout.shape;
        const std::array<int64_t, 4> index = {bh / p.h, bh % p.h, query, key};
        int64_t element = 0;
        for (size_t i = 0; i < 4; ++i) element = element * shape[i] + (shape[i] == 1 ? 0 : index[i]);
        const double value = mask.get(element);
        if (p.mask != Mask::bytes) return value;
        return value == 0 ? -std::numeric_limits<double>::infinity() : 0.0;
    };
}

}  // namespace ww::sage3

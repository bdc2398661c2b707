// SPDX-License-Identifier: Apache-2.0
// The reference as the stages of port.toml: tensors in, tensors out. The algorithm is in
// sage3_reference.cpp.
#include <optional>

#include "references.hpp"
#include "sage3/sage3_setting.hpp"

namespace ww::kernels {
namespace {

using ladder::LibraryCall;
using port::Tensor;
using sage3::Problem;
using sage3::Setting;
using sage3::Values;
using sage3::at;
using sage3::fill_output;
using sage3::for_each_head;
using sage3::mask_of;
using sage3::means_of_sequences;
using sage3::setting_of;
using sage3::values_of;
using sage3::without_padding;

// Row of the means that belongs to a query of a sequence.
int64_t q_mean_row(const Problem& p, int64_t number, const sage3::Sequence& sequence, int64_t head, int64_t query) {
    if (p.global_mean) return number * p.h + head;
    return (sequence.batch * p.h + head) * p.query_tiles() + (sequence.stored + query) / sage3::kTile;
}

// x - mean in float, then rounded to the type of x: two roundings, as the kernel does. mean_row(number, sequence, head,
// token of the sequence).
template <class F>
Status smooth(const LibraryCall& call, const Problem& p, const std::vector<sage3::Sequence>& sequences, const char* x_name,
              const char* mean_name, const char* out_name, int64_t heads, int64_t length, F mean_row) {
    const Tensor& x = call.input(x_name);
    const Tensor& means = call.input(mean_name);
    Values out(at(x.layout.elements));
    for_each_head(sequences, heads, length, [&](int64_t number, const sage3::Sequence& each, int64_t head, int64_t row) {
        for (int64_t i = 0; i < each.length * p.d; ++i) {
            const int64_t mean = mean_row(number, each, head, i / p.d);
            out[at(row * p.d + i)] = static_cast<float>(x.get(row * p.d + i)) - static_cast<float>(means.get(mean * p.d + i % p.d));
        }
    });
    return fill_output(call, out_name, out);
}

enum class Matrix { queries, keys, values };

// Where the code of (row, element) and the scale of its group lie: rows of Q and K are tokens, those of V channels.
struct CodePlace {
    Matrix kind;
    const Problem& p;

    int64_t at(int64_t matrix, int64_t rows, int64_t row, int64_t element, int64_t elements) const {
        if (kind == Matrix::queries) return (matrix * rows + row) * elements + element;
        if (kind == Matrix::keys) return sage3::code_index(matrix * rows + row, element, elements);
        const int64_t size = p.key_tile(), tile = matrix * (elements / size) + element / size;
        return sage3::code_index(tile * rows + row, element % size, size);
    }
    int64_t scale_at(int64_t matrix, int64_t rows, int64_t row, int64_t column, int64_t columns) const {
        const int64_t run = kind == Matrix::values ? p.column_run() : p.row_run();
        return matrix * rows * columns + sage3::scale_index(row, column, columns, run);
    }
};

// Writes a group of codes and its scale where the kernel keeps them.
struct Packed {
    Tensor* codes;
    Tensor* scales;
    CodePlace place;

    void set(int64_t matrix, int64_t rows, int64_t row, int64_t column, int64_t columns,
             const std::array<float, sage3::kGroup>& x) const {
        const sage3::Group group = sage3::quantize_group(x);
        const int64_t first = place.at(matrix, rows, row, column * sage3::kGroup, columns * sage3::kGroup);
        for (int64_t j = 0; codes && j < sage3::kGroup; ++j) codes->set_code(first + j, group.codes[at(j)]);
        if (scales)
            scales->set_code(place.scale_at(matrix, rows, row, column, columns), group.scale);
    }
};

// The token, counted over the tensor, that is stored in a row of a batch and head; none: padding. Rows of K are permuted.
std::optional<int64_t> token_at(const std::vector<sage3::Sequence>& sequences, int64_t batch, int64_t stored, bool permuted) {
    const int64_t natural = permuted ? sage3::token_of_stored_key(stored) : stored;
    for (const sage3::Sequence& each : sequences)
        if (each.batch == batch && natural >= each.stored && natural < each.stored + each.length)
            return each.first + natural - each.stored;
    return std::nullopt;
}

Status quantize(const LibraryCall& call, const Problem& p, const std::vector<sage3::Sequence>& sequences, const char* x_name,
                const char* codes_name, const char* scales_name, int64_t heads, int64_t length, Matrix kind) {
    const Tensor& x = call.input(x_name);
    const int64_t columns = p.dp() / sage3::kGroup, rows = p.stored(length);
    WW_TRY(codes_fit, call.require_elements(codes_name, p.b * heads * rows * p.dp()));
    WW_TRY(scales_fit, call.require_elements(scales_name, p.b * heads * rows * columns));
    (void)codes_fit, (void)scales_fit;
    const Packed out{call.output(codes_name), call.output(scales_name), {kind, p}};
    for (int64_t bh = 0; bh < p.b * heads; ++bh)
        for (int64_t row = 0; row < rows; ++row) {
            const std::optional<int64_t> token = token_at(sequences, bh / heads, row, kind == Matrix::keys);
            for (int64_t column = 0; column < columns; ++column) {
                std::array<float, sage3::kGroup> group{};
                for (int64_t j = 0; token && j < sage3::kGroup; ++j)
                    if (const int64_t c = column * sage3::kGroup + j; c < p.d)
                        group[at(j)] = static_cast<float>(x.get((bh * length + *token) * p.d + c));
                out.set(bh, rows, row, column, columns, group);
            }
        }
    return ok();
}

// [n, rows, columns * 16] of codes and scales by value; row r of the result is row token(r) ... of K
// back in its natural order.
Values dequantised(const Tensor& codes, const Tensor& scales, int64_t rows, int64_t columns, const CodePlace& place) {
    Values out(at(codes.layout.elements));
    for (int64_t i = 0; i < codes.layout.elements; ++i) {
        const int64_t c = i % (columns * sage3::kGroup), line = i / (columns * sage3::kGroup);
        const int64_t row = line % rows, matrix = line / rows;
        const double scale = scales.get(place.scale_at(matrix, rows, row, c / sage3::kGroup, columns));
        const int64_t to = place.kind == Matrix::keys ? sage3::token_of_stored_key(row) : row;
        out[at((matrix * rows + to) * columns * sage3::kGroup + c)] =
            codes.get(place.at(matrix, rows, row, c, columns * sage3::kGroup)) * scale;
    }
    return out;
}

// [n, DP, LkP] -> [n, LkP, DP].
Values by_token(const Values& x, const Problem& p) {
    Values out(x.size());
    for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
        const int64_t token = i % p.lkp(), channel = i / p.lkp() % p.dp(), n = i / p.lkp() / p.dp();
        out[at((n * p.lkp() + token) * p.dp() + channel)] = x[at(i)];
    }
    return out;
}

Status fill_taps(const LibraryCall& call, const sage3::Taps& taps) {
    const auto tap = [&](const char* name, const Values& values) { return sage3::fill(call, name, call.tap(name), values); };
    WW_TRY(s, tap("s", taps.s));
    WW_TRY(group_max, tap("group_max", taps.group_max));
    WW_TRY(p_codes, tap("p_codes", taps.p_codes));
    WW_TRY(p_scales, tap("p_scales", taps.p_scales));
    WW_TRY(row_max, tap("row_max", taps.row_max));
    WW_TRY(row_sum, tap("row_sum", taps.row_sum));
    WW_TRY(o_tile, tap("o_tile", taps.o_tile));
    (void)s, (void)group_max, (void)p_codes, (void)p_scales, (void)row_max, (void)row_sum, (void)o_tile;
    return ok();
}

// The algorithm's output and taps; plain: the output of attention without quantisation instead. A
// kernel's own P and row maxima, where they are among the inputs, take the place of the reference's;
// the output is then what follows from them.
Status attention(const LibraryCall& call, bool plain) {
    WW_TRY(setting, setting_of(call, {"q", "k", "v", "q_codes", "q_scales", "k_codes", "k_scales", "v_codes",
                                      "v_scales", "bias", "shift", "v_mean", "mask", "mask_bytes"}, true, true));
    const Problem& p = setting.p;
    const auto deq = [&](const char* codes, const char* scales, int64_t rows, int64_t depth, Matrix kind) {
        return dequantised(call.input(codes), call.input(scales), rows, depth / sage3::kGroup, {kind, p});
    };
    const Values q = without_padding(deq("q_codes", "q_scales", p.lqp(), p.dp(), Matrix::queries), setting.sequences.q,
                                     p.h, p.lqp(), p.lq, p.dp());
    const Values k = deq("k_codes", "k_scales", p.lkp(), p.dp(), Matrix::keys);
    const Values v = by_token(deq("v_codes", "v_scales", p.dp(), p.lkp(), Matrix::values), p);
    const Values v_mean = values_of(call.input("v_mean"));
    sage3::Taps taps(p);
    sage3::Options options{.taps = &taps, .mask = mask_of(call, p)};
    if (p.smooth_v) options.v_mean = &v_mean;
    sage3::Given given;
    if (call.inputs.count("p_codes")) {
        WW_TRY(readable, call.require({"p_codes", "p_scales", "row_max"}, {}));
        (void)readable;
        given = {values_of(call.input("p_codes")), values_of(call.input("p_scales")), values_of(call.input("row_max"))};
        options.given = &given;
    }
    sage3::Output out = sage3::quantised_attention(p, setting.sequences, q, k, v, values_of(call.input("bias")),
                                                   values_of(call.input("shift")), options);
    if (plain && !options.given)
        out = sage3::plain_attention(p, setting.sequences, values_of(call.input("q")), values_of(call.input("k")),
                                     values_of(call.input("v")), options.mask);
    WW_TRY(o, fill_output(call, "o", out.o));
    WW_TRY(lse, fill_output(call, "lse", out.lse));
    (void)o, (void)lse;
    return fill_taps(call, taps);
}

}  // namespace

Status sage3_mean_q(const LibraryCall& call) {
    WW_TRY(setting, setting_of(call, {"q"}, true, false));
    const Problem& p = setting.p;
    if (p.global_mean)
        return fill_output(call, "q_mean", means_of_sequences(call, p, setting.sequences.q, "q", p.h, p.lq));
    const Values x = values_of(call.input("q"));
    Values out(at(p.means() * p.d), 0.0);
    for_each_head(setting.sequences.q, p.h, p.lq, [&](int64_t number, const sage3::Sequence& each, int64_t head, int64_t row) {
        for (int64_t first = 0; first < each.length; first += sage3::kTile) {
            const int64_t rows = std::min(sage3::kTile, each.length - first);
            const Values mean = sage3::mean_of({&x[at((row + first) * p.d)], at(rows * p.d)}, p.d);
            std::copy(mean.begin(), mean.end(), out.begin() + q_mean_row(p, number, each, head, first) * p.d);
        }
    });
    return fill_output(call, "q_mean", out);
}

Status sage3_mean_k(const LibraryCall& call) {
    WW_TRY(setting, setting_of(call, {"k"}, false, true));
    return fill_output(call, "k_mean",
                       means_of_sequences(call, setting.p, setting.sequences.k, "k", setting.p.h_kv, setting.p.lk));
}

Status sage3_mean_v(const LibraryCall& call) {
    WW_TRY(setting, setting_of(call, {"v"}, false, true));
    return fill_output(call, "v_mean",
                       means_of_sequences(call, setting.p, setting.sequences.k, "v", setting.p.h_kv, setting.p.lk));
}

Status sage3_smooth_q(const LibraryCall& call) {
    WW_TRY(setting, setting_of(call, {"q", "q_mean"}, true, false));
    const Problem& p = setting.p;
    return smooth(call, p, setting.sequences.q, "q", "q_mean", "q_smooth", p.h, p.lq,
                  [&](int64_t number, const sage3::Sequence& each, int64_t head, int64_t query) {
                      return q_mean_row(p, number, each, head, query);
                  });
}

Status sage3_smooth_k(const LibraryCall& call) {
    WW_TRY(setting, setting_of(call, {"k", "k_mean"}, false, true));
    const Problem& p = setting.p;
    return smooth(call, p, setting.sequences.k, "k", "k_mean", "k_smooth", p.h_kv, p.lk,
                  [&](int64_t number, const sage3::Sequence&, int64_t head, int64_t) { return number * p.h_kv + head; });
}

Status sage3_key_bias(const LibraryCall& call) {
    WW_TRY(setting, setting_of(call, {"q_mean", "k_smooth"}, true, true));
    const Problem& p = setting.p;
    const Values q = values_of(call.input("q_mean")), k = values_of(call.input("k_smooth"));
    Values bias(at(p.means() * p.columns()), 0.0);
    const auto fill_row = [&](int64_t row, const sage3::Sequence& keys, int64_t head) {
        const int64_t first = (keys.batch * p.h_kv + p.kv_head(head)) * p.lk + keys.first;
        for (int64_t key = 0; key < keys.length; ++key)
            for (int64_t c = 0; c < p.d; ++c)
                bias[at(row * p.columns() + key)] += q[at(row * p.d + c)] * k[at((first + key) * p.d + c)];
    };
    for_each_head(setting.sequences.q, p.h, p.lq, [&](int64_t number, const sage3::Sequence& each, int64_t head, int64_t) {
        const int64_t step = p.global_mean ? std::max<int64_t>(each.length, 1) : sage3::kTile;
        for (int64_t query = 0; query < std::max<int64_t>(each.length, p.global_mean); query += step)
            fill_row(q_mean_row(p, number, each, head, query), setting.sequences.k[at(number)], head);
    });
    return fill_output(call, "bias", bias);
}

Status sage3_row_shift(const LibraryCall& call) {
    WW_TRY(setting, setting_of(call, {"q", "k_mean"}, true, false));
    const Problem& p = setting.p;
    const Values q = values_of(call.input("q")), means = values_of(call.input("k_mean"));
    Values shift(at(p.b * p.h * p.lq), 0.0);
    for_each_head(setting.sequences.q, p.h, p.lq, [&](int64_t number, const sage3::Sequence& each, int64_t head, int64_t row) {
        const int64_t mean = number * p.h_kv + p.kv_head(head);
        for (int64_t query = 0; query < each.length; ++query)
            for (int64_t c = 0; c < p.d; ++c)
                shift[at(row + query)] += q[at((row + query) * p.d + c)] * means[at(mean * p.d + c)];
    });
    return fill_output(call, "shift", shift);
}

Status sage3_quantize_q(const LibraryCall& call) {
    WW_TRY(setting, setting_of(call, {"q_smooth"}, true, false));
    const Problem& p = setting.p;
    return quantize(call, p, setting.sequences.q, "q_smooth", "q_codes", "q_scales", p.h, p.lq, Matrix::queries);
}

Status sage3_quantize_k(const LibraryCall& call) {
    WW_TRY(setting, setting_of(call, {"k_smooth"}, false, true));
    const Problem& p = setting.p;
    return quantize(call, p, setting.sequences.k, "k_smooth", "k_codes", "k_scales", p.h_kv, p.lk, Matrix::keys);
}

Status sage3_quantize_v(const LibraryCall& call) {
    WW_TRY(setting, setting_of(call, {"v", "v_mean"}, false, true));
    const Problem& p = setting.p;
    const Tensor &v = call.input("v"), &means = call.input("v_mean");
    const int64_t columns = p.lkp() / sage3::kGroup;
    WW_TRY(codes_fit, call.require_elements("v_codes", p.b * p.h_kv * p.dp() * p.lkp()));
    WW_TRY(scales_fit, call.require_elements("v_scales", p.b * p.h_kv * p.dp() * columns));
    (void)codes_fit, (void)scales_fit;
    const Packed out{call.output("v_codes"), call.output("v_scales"), {Matrix::values, p}};
    for (int64_t bh = 0; bh < p.b * p.h_kv; ++bh)  // zeros where no sequence is
        for (int64_t channel = 0; channel < p.dp(); ++channel)
            for (int64_t column = 0; column < columns; ++column) out.set(bh, p.dp(), channel, column, columns, {});
    for_each_head(setting.sequences.k, p.h_kv, p.lk, [&](int64_t number, const sage3::Sequence& each, int64_t head, int64_t row) {
        for (int64_t channel = 0; channel < p.d; ++channel)
            for (int64_t first = 0; first < each.length; first += sage3::kGroup) {
                const auto mean = static_cast<float>(p.smooth_v ? means.get((number * p.h_kv + head) * p.d + channel) : 0);
                std::array<float, sage3::kGroup> group{};
                for (int64_t j = 0; j < std::min(sage3::kGroup, each.length - first); ++j)
                    group[at(j)] = static_cast<float>(v.get((row + first + j) * p.d + channel)) - mean;
                out.set(each.batch * p.h_kv + head, p.dp(), channel, (each.stored + first) / sage3::kGroup, columns, group);
            }
    });
    return ok();
}

Status sage3_attention(const LibraryCall& call) { return attention(call, false); }
Status sage3_attention_unquantised(const LibraryCall& call) { return attention(call, true); }

}  // namespace ww::kernels

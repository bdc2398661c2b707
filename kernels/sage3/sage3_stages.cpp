// SPDX-License-Identifier: Apache-2.0
// The reference as the stages of port.toml: tensors in, tensors out. The algorithm is in
// sage3_reference.cpp.
#include "numerics/formats.hpp"
#include "references.hpp"
#include "sage3/sage3_reference.hpp"

namespace ww::kernels {
namespace {

using ladder::LibraryCall;
using port::Tensor;
using sage3::Problem;
using sage3::Values;

size_t at(int64_t index) { return static_cast<size_t>(index); }

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

Result<Problem> problem_of(const LibraryCall& call, std::initializer_list<std::string_view> inputs) {
    WW_TRY(readable, call.require(inputs, {"B", "H", "Hkv", "Lq", "Lk", "D", "causal"}, {"sm_scale"}));
    (void)readable;
    Problem p{.b = call.integer("B"), .h = call.integer("H"), .h_kv = call.integer("Hkv"),
              .lq = call.integer("Lq"), .lk = call.integer("Lk"), .d = call.integer("D"),
              .scale = static_cast<double>(static_cast<float>(call.real("sm_scale"))),
              .causal = static_cast<sage3::Causal>(call.integer("causal"))};
    return p;
}

// x - mean in float, then rounded to the type of x: two roundings, as the kernel does.
Status smooth(const LibraryCall& call, const char* x_name, const char* mean_name, const char* out_name,
              int64_t rows, int64_t d, int64_t rows_per_mean) {
    const Tensor& x = call.input(x_name);
    const Tensor& means = call.input(mean_name);
    const int64_t runs = (rows + rows_per_mean - 1) / rows_per_mean;
    Values out(at(x.layout.elements));
    for (int64_t i = 0; i < x.layout.elements; ++i) {
        const int64_t row = i / d, run = row / rows * runs + row % rows / rows_per_mean;
        out[at(i)] = static_cast<float>(x.get(i)) - static_cast<float>(means.get(run * d + i % d));
    }
    return fill_output(call, out_name, out);
}

enum class Matrix { queries, keys, values };

// Where the code of (row, element) lies: rows of Q and K are tokens, those of V channels.
int64_t code_at(Matrix kind, int64_t matrix, int64_t rows, int64_t row, int64_t element, int64_t elements) {
    if (kind == Matrix::queries) return (matrix * rows + row) * elements + element;
    if (kind == Matrix::keys) return sage3::code_index(matrix * rows + row, element, elements);
    const int64_t tile = matrix * (elements / sage3::kTile) + element / sage3::kTile;
    return sage3::code_index(tile * rows + row, element % sage3::kTile, sage3::kTile);
}

// Writes a group of codes and its scale where the kernel keeps them.
struct Packed {
    Tensor* codes;
    Tensor* scales;
    Matrix kind;

    void set(int64_t matrix, int64_t rows, int64_t row, int64_t column, int64_t columns,
             const std::array<float, sage3::kGroup>& x) const {
        const sage3::Group group = sage3::quantize_group(x);
        const int64_t first = code_at(kind, matrix, rows, row, column * sage3::kGroup, columns * sage3::kGroup);
        for (int64_t j = 0; codes && j < sage3::kGroup; ++j) codes->set_code(first + j, group.codes[at(j)]);
        if (scales)
            scales->set_code(matrix * rows * columns + sage3::scale_index(row, column, columns), group.scale);
    }
};

Status quantize(const LibraryCall& call, const char* x_name, const char* codes_name, const char* scales_name,
                int64_t heads, int64_t length, int64_t padded_length, const Problem& p, Matrix kind) {
    const Tensor& x = call.input(x_name);
    const int64_t columns = p.dp() / sage3::kGroup;
    WW_TRY(codes_fit, call.require_elements(codes_name, heads * padded_length * p.dp()));
    WW_TRY(scales_fit, call.require_elements(scales_name, heads * padded_length * columns));
    (void)codes_fit, (void)scales_fit;
    const Packed out{call.output(codes_name), call.output(scales_name), kind};
    for (int64_t bh = 0; bh < heads; ++bh)
        for (int64_t row = 0; row < padded_length; ++row) {
            const int64_t token = kind == Matrix::keys ? sage3::token_of_stored_key(row) : row;
            for (int64_t column = 0; column < columns; ++column) {
                std::array<float, sage3::kGroup> group{};
                for (int64_t j = 0; j < sage3::kGroup; ++j)
                    if (const int64_t c = column * sage3::kGroup + j; token < length && c < p.d)
                        group[at(j)] = static_cast<float>(x.get((bh * length + token) * p.d + c));
                out.set(bh, padded_length, row, column, columns, group);
            }
        }
    return ok();
}

// [n, rows, columns * 16] of codes and scales by value; row r of the result is row token(r) ... of K
// back in its natural order.
Values dequantised(const Tensor& codes, const Tensor& scales, int64_t rows, int64_t columns, Matrix kind) {
    Values out(at(codes.layout.elements));
    for (int64_t i = 0; i < codes.layout.elements; ++i) {
        const int64_t c = i % (columns * sage3::kGroup), line = i / (columns * sage3::kGroup);
        const int64_t row = line % rows, matrix = line / rows;
        const double scale = scales.get(matrix * rows * columns +
                                        sage3::scale_index(row, c / sage3::kGroup, columns));
        const int64_t to = kind == Matrix::keys ? sage3::token_of_stored_key(row) : row;
        out[at((matrix * rows + to) * columns * sage3::kGroup + c)] =
            codes.get(code_at(kind, matrix, rows, row, c, columns * sage3::kGroup)) * scale;
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

// [n, rows, DP] -> the first `length` rows of each.
Values without_padding(const Values& x, int64_t rows, int64_t length, int64_t d) {
    Values out;
    for (int64_t n = 0; n < static_cast<int64_t>(x.size()) / (rows * d); ++n)
        out.insert(out.end(), x.begin() + n * rows * d, x.begin() + (n * rows + length) * d);
    return out;
}

Status fill_taps(const LibraryCall& call, const sage3::Taps& taps) {
    const auto tap = [&](const char* name, const Values& values) { return fill(call, name, call.tap(name), values); };
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
    WW_TRY(p, problem_of(call, {"q", "k", "v", "q_codes", "q_scales", "k_codes", "k_scales", "v_codes",
                                "v_scales", "bias", "shift"}));
    const auto deq = [&](const char* codes, const char* scales, int64_t rows, int64_t depth, Matrix kind) {
        return dequantised(call.input(codes), call.input(scales), rows, depth / sage3::kGroup, kind);
    };
    const Values q = without_padding(deq("q_codes", "q_scales", p.lqp(), p.dp(), Matrix::queries), p.lqp(), p.lq, p.dp());
    const Values k = deq("k_codes", "k_scales", p.lkp(), p.dp(), Matrix::keys);
    const Values v = by_token(deq("v_codes", "v_scales", p.dp(), p.lkp(), Matrix::values), p);
    sage3::Taps taps(p);
    sage3::Options options{.taps = &taps};
    sage3::Given given;
    if (call.inputs.count("p_codes")) {
        WW_TRY(readable, call.require({"p_codes", "p_scales", "row_max"}, {}));
        (void)readable;
        given = {values_of(call.input("p_codes")), values_of(call.input("p_scales")), values_of(call.input("row_max"))};
        options.given = &given;
    }
    sage3::Output out = sage3::quantised_attention(p, q, k, v, values_of(call.input("bias")),
                                                   values_of(call.input("shift")), options);
    if (plain && !options.given)
        out = sage3::plain_attention(p, values_of(call.input("q")), values_of(call.input("k")),
                                     values_of(call.input("v")));
    WW_TRY(o, fill_output(call, "o", out.o));
    WW_TRY(lse, fill_output(call, "lse", out.lse));
    (void)o, (void)lse;
    return fill_taps(call, taps);
}

}  // namespace

Status sage3_mean_q(const LibraryCall& call) {
    WW_TRY(p, problem_of(call, {"q"}));
    return fill_output(call, "q_mean", sage3::mean_rows(values_of(call.input("q")), p.lq, p.d, sage3::kTile));
}

Status sage3_mean_k(const LibraryCall& call) {
    WW_TRY(p, problem_of(call, {"k"}));
    return fill_output(call, "k_mean", sage3::mean_rows(values_of(call.input("k")), p.lk, p.d, p.lk));
}

Status sage3_smooth_q(const LibraryCall& call) {
    WW_TRY(p, problem_of(call, {"q", "q_mean"}));
    return smooth(call, "q", "q_mean", "q_smooth", p.lq, p.d, sage3::kTile);
}

Status sage3_smooth_k(const LibraryCall& call) {
    WW_TRY(p, problem_of(call, {"k", "k_mean"}));
    return smooth(call, "k", "k_mean", "k_smooth", p.lk, p.d, p.lk);
}

Status sage3_key_bias(const LibraryCall& call) {
    WW_TRY(p, problem_of(call, {"q_mean", "k_smooth"}));
    const Values q = values_of(call.input("q_mean")), k = values_of(call.input("k_smooth"));
    Values bias(at(p.b * p.h * p.query_tiles() * p.lkp()), 0.0);
    for (int64_t row = 0; row < p.b * p.h * p.query_tiles(); ++row)
        for (int64_t key = 0; key < p.lk; ++key)
            for (int64_t c = 0; c < p.d; ++c)
                bias[at(row * p.lkp() + key)] +=
                    q[at(row * p.d + c)] * k[at((p.kv_of(row / p.query_tiles()) * p.lk + key) * p.d + c)];
    return fill_output(call, "bias", bias);
}

Status sage3_row_shift(const LibraryCall& call) {
    WW_TRY(p, problem_of(call, {"q", "k_mean"}));
    const Values q = values_of(call.input("q")), means = values_of(call.input("k_mean"));
    Values shift(at(p.b * p.h * p.lq), 0.0);
    for (size_t row = 0; row < shift.size(); ++row)
        for (int64_t c = 0; c < p.d; ++c)
            shift[row] += q[row * at(p.d) + at(c)] *
                          means[at(p.kv_of(static_cast<int64_t>(row) / p.lq) * p.d + c)];
    return fill_output(call, "shift", shift);
}

Status sage3_quantize_q(const LibraryCall& call) {
    WW_TRY(p, problem_of(call, {"q_smooth"}));
    return quantize(call, "q_smooth", "q_codes", "q_scales", p.b * p.h, p.lq, p.lqp(), p, Matrix::queries);
}

Status sage3_quantize_k(const LibraryCall& call) {
    WW_TRY(p, problem_of(call, {"k_smooth"}));
    return quantize(call, "k_smooth", "k_codes", "k_scales", p.b * p.h_kv, p.lk, p.lkp(), p, Matrix::keys);
}

Status sage3_quantize_v(const LibraryCall& call) {
    WW_TRY(p, problem_of(call, {"v"}));
    const Tensor& v = call.input("v");
    const int64_t columns = p.lkp() / sage3::kGroup;
    WW_TRY(codes_fit, call.require_elements("v_codes", p.b * p.h_kv * p.dp() * p.lkp()));
    WW_TRY(scales_fit, call.require_elements("v_scales", p.b * p.h_kv * p.dp() * columns));
    (void)codes_fit, (void)scales_fit;
    const Packed out{call.output("v_codes"), call.output("v_scales"), Matrix::values};
    for (int64_t bh = 0; bh < p.b * p.h_kv; ++bh)
        for (int64_t channel = 0; channel < p.dp(); ++channel)
            for (int64_t column = 0; column < columns; ++column) {
                std::array<float, sage3::kGroup> group{};
                for (int64_t j = 0; j < sage3::kGroup; ++j)
                    if (const int64_t token = column * sage3::kGroup + j; token < p.lk && channel < p.d)
                        group[at(j)] = static_cast<float>(v.get((bh * p.lk + token) * p.d + channel));
                out.set(bh, p.dp(), channel, column, columns, group);
            }
    return ok();
}

Status sage3_attention(const LibraryCall& call) { return attention(call, false); }
Status sage3_attention_unquantised(const LibraryCall& call) { return attention(call, true); }

}  // namespace ww::kernels

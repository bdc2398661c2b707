// SPDX-License-Identifier: Apache-2.0
// The reference of the Hopper path as the stages of its port.toml.
#include <algorithm>
#include <cmath>

#include "sage3/sage3_setting.hpp"
#include "sage3_hopper/hopper_reference.hpp"
#include "sage3_hopper/sage2_reference.hpp"

namespace ww::kernels {
namespace {

using ladder::LibraryCall;
using port::Tensor;
using sage3::at;
using sage3::fill_output;
using sage3::for_each_head;
using sage3::means_of_sequences;
using sage3::Problem;
using sage3::Sequence;
using sage3::setting_of;
using sage3::Values;
using sage3::values_of;

// Rows of a head, 0 where no token is stored: [B * heads, stored, D] of x less its means, if any.
std::vector<float> stored_rows(const Tensor& x, const Values* means, const Problem& p, const std::vector<Sequence>& sequences,
                               int64_t heads, int64_t length) {
    std::vector<float> out(at(p.b * heads * p.stored(length) * p.d), 0.0f);
    for_each_head(sequences, heads, length, [&](int64_t number, const Sequence& each, int64_t head, int64_t row) {
        const int64_t to = (each.batch * heads + head) * p.stored(length) + each.stored;
        for (int64_t i = 0; i < each.length * p.d; ++i) {
            const auto value = static_cast<float>(x.get(row * p.d + i));
            out[at(to * p.d + i)] =
                means ? value - static_cast<float>((*means)[at((number * heads + head) * p.d + i % p.d)]) : value;
        }
    });
    return out;
}

float largest(const float* x, int64_t count) {
    float out = 0;
    for (int64_t i = 0; i < count; ++i) out = std::max(out, std::fabs(x[i]));
    return out;
}

// rows_per_scale: 1, or 128 for one scale a tile.
Status quantize_int8(const LibraryCall& call, const Problem& p, const std::vector<float>& rows, const char* codes_name,
                     const char* scales_name, int64_t rows_per_scale) {
    const int64_t count = static_cast<int64_t>(rows.size()) / p.d;
    WW_TRY(codes_fit, call.require_elements(codes_name, count * p.dp()));
    WW_TRY(scales_fit, call.require_elements(scales_name, count / rows_per_scale));
    (void)codes_fit, (void)scales_fit;
    Tensor *codes = call.output(codes_name), *scales = call.output(scales_name);
    for (int64_t first = 0; first < count; first += rows_per_scale) {
        const float most = largest(&rows[at(first * p.d)], rows_per_scale * p.d);
        if (scales) scales->set(first / rows_per_scale, static_cast<double>(sage3::int8_scale(most)));
        for (int64_t row = first; codes && row < first + rows_per_scale; ++row)
            for (int64_t c = 0; c < p.dp(); ++c)
                codes->set(sage3::int8_index(row, c, p.dp()),
                           c < p.d ? sage3::int8_code(rows[at(row * p.d + c)], sage3::int8_inverse(most)) : 0);
    }
    return ok();
}

// [rows, row_bytes] of codes by value, in their natural columns; index: where they lie.
Values unswizzled(const Tensor& codes, int64_t row_bytes, int64_t (*index)(int64_t, int64_t, int64_t)) {
    Values out(at(codes.layout.elements));
    for (int64_t i = 0; i < codes.layout.elements; ++i) out[at(i)] = codes.get(index(i / row_bytes, i % row_bytes, row_bytes));
    return out;
}

// V by value: [BHkv, stored, DP].
Values dequantised_v(const Tensor& codes, const Tensor& most, const Problem& p, const std::vector<Sequence>& sequences) {
    const Values natural = unswizzled(codes, sage3::kTile, sage3::code_bytes_index);  // [BHkv, tiles, DP, 128], tokens permuted
    Values out(natural.size(), 0.0);
    for (size_t i = 0; i < sequences.size(); ++i)
        for (int64_t head = 0; head < p.h_kv; ++head)
            for (int64_t token = 0; token < sequences[i].length; ++token)
                for (int64_t d = 0; d < p.d; ++d) {
                    const Sequence& each = sequences[i];
                    const int64_t kv = each.batch * p.h_kv + head, row = each.stored + token;
                    int64_t position = row % sage3::kTile / 16 * 16;  // of the token among the stored ones
                    while (sage3::token_of_stored_value(position) != row % sage3::kTile) ++position;
                    const double scale = std::max(most.get((static_cast<int64_t>(i) * p.h_kv + head) * p.dp() + d), 1e-15) / 448;
                    out[at((kv * p.lkp() + row) * p.dp() + d)] =
                        scale * natural[at(((kv * p.lkp() + row) / sage3::kTile * p.dp() + d) * sage3::kTile + position)];
                }
    return out;
}

Status attention(const LibraryCall& call, bool plain) {
    WW_TRY(setting, setting_of(call, {"q", "k", "v", "q_codes", "q_scales", "k_codes", "k_scales", "v_codes", "v_largest",
                                      "shift", "v_mean", "mask", "mask_bytes"}, true, true));
    const Problem& p = setting.p;
    sage3::HopperTaps taps(p);
    sage3::HopperGiven given;
    sage3::HopperOptions options{.taps = &taps, .mask = sage3::mask_of(call, p)};
    const Values v_mean = values_of(call.input("v_mean"));
    if (p.smooth_v) options.v_mean = &v_mean;
    if (call.inputs.count("p_codes")) {
        WW_TRY(readable, call.require({"p_codes", "row_max"}, {}));
        (void)readable;
        given = {values_of(call.input("p_codes")), values_of(call.input("row_max"))};
        options.given = &given;
    }
    const sage3::HopperOperands operands{
        .q = sage3::without_padding(unswizzled(call.input("q_codes"), p.dp(), sage3::int8_index), setting.sequences.q, p.h, p.lqp(), p.lq, p.dp()),
        .q_scales = values_of(call.input("q_scales")),
        .k = unswizzled(call.input("k_codes"), p.dp(), sage3::int8_index),
        .k_scales = values_of(call.input("k_scales")),
        .v = dequantised_v(call.input("v_codes"), call.input("v_largest"), p, setting.sequences.k),
        .shift = values_of(call.input("shift"))};
    sage3::Output out = sage3::int8_attention(p, setting.sequences, operands, options);
    if (plain && !options.given)
        out = sage3::plain_attention(p, setting.sequences, values_of(call.input("q")), values_of(call.input("k")),
                                     values_of(call.input("v")), options.mask);
    WW_TRY(o, fill_output(call, "o", out.o));
    WW_TRY(lse, fill_output(call, "lse", out.lse));
    (void)o, (void)lse;
    for (const auto& [name, values] : {std::pair{"s", &taps.s}, std::pair{"p_codes", &taps.p_codes},
                                       std::pair{"row_max", &taps.row_max}, std::pair{"row_sum", &taps.row_sum}}) {
        WW_TRY(filled, sage3::fill(call, name, call.tap(name), *values));
        (void)filled;
    }
    return ok();
}

Status quantize_v(const LibraryCall& call, const Problem& p, const std::vector<Sequence>& sequences) {
    const Tensor& most = call.input("v_largest");
    const Values means = values_of(call.input("v_mean"));
    const std::vector<float> rows = stored_rows(call.input("v"), &means, p, sequences, p.h_kv, p.lk);
    WW_TRY(fits, call.require_elements("v_codes", p.b * p.h_kv * p.lkp() * p.dp()));
    (void)fits;
    Tensor* codes = call.output("v_codes");
    for (int64_t i = 0; codes && i < codes->layout.elements; ++i) codes->set_code(i, 0);
    for_each_head(sequences, p.h_kv, p.lk, [&](int64_t number, const Sequence& each, int64_t head, int64_t) {
        const int64_t kv = each.batch * p.h_kv + head;
        for (int64_t tile = 0; codes && tile * sage3::kTile < each.length; ++tile)
            for (int64_t d = 0; d < p.d; ++d)
                for (int64_t position = 0; position < sage3::kTile; ++position) {
                    const int64_t row = kv * p.lkp() + each.stored + tile * sage3::kTile + sage3::token_of_stored_value(position);
                    const float inverse = sage3::e4m3_inverse(static_cast<float>(most.get((number * p.h_kv + head) * p.dp() + d)));
                    codes->set(sage3::code_bytes_index((kv * p.lkp() + each.stored) / sage3::kTile * p.dp() + tile * p.dp() + d,
                                                       position, sage3::kTile),
                               static_cast<double>(rows[at(row * p.d + d)] * inverse));
                }
    });
    return ok();
}

// Largest magnitude of each channel of V less its means: [sequences, Hkv, DP].
Values largest_of_v(const LibraryCall& call, const Problem& p, const std::vector<Sequence>& sequences, const Values& means) {
    const std::vector<float> rows = stored_rows(call.input("v"), &means, p, sequences, p.h_kv, p.lk);
    Values out(at(p.sequences() * p.h_kv * p.dp()), 0.0);
    for_each_head(sequences, p.h_kv, p.lk, [&](int64_t number, const Sequence& each, int64_t head, int64_t) {
        const int64_t row = (each.batch * p.h_kv + head) * p.lkp() + each.stored;
        for (int64_t i = 0; i < each.length * p.d; ++i) {
            double& most = out[at((number * p.h_kv + head) * p.dp() + i % p.d)];
            most = std::max(most, static_cast<double>(std::fabs(rows[at(row * p.d + i)])));
        }
    });
    return out;
}

}  // namespace

// v_mean is 0 where V is not smoothed.
Status hopper_means(const LibraryCall& call) {
    WW_TRY(setting, setting_of(call, {"k", "v"}, false, true));
    const Problem& p = setting.p;
    WW_TRY(k_mean, fill_output(call, "k_mean", means_of_sequences(call, p, setting.sequences.k, "k", p.h_kv, p.lk)));
    const Values means = p.smooth_v ? means_of_sequences(call, p, setting.sequences.k, "v", p.h_kv, p.lk)
                                    : Values(at(p.sequences() * p.h_kv * p.d), 0.0);
    WW_TRY(v_mean, fill_output(call, "v_mean", means));
    (void)k_mean, (void)v_mean;
    return fill_output(call, "v_largest", largest_of_v(call, p, setting.sequences.k, means));
}

Status hopper_quantize(const LibraryCall& call) {
    WW_TRY(setting, setting_of(call, {"q", "k", "k_mean", "v", "v_mean", "v_largest"}, true, true));
    const Problem& p = setting.p;
    const Values k_means = values_of(call.input("k_mean"));
    WW_TRY(q, quantize_int8(call, p, stored_rows(call.input("q"), nullptr, p, setting.sequences.q, p.h, p.lq), "q_codes",
                            "q_scales", 1));
    WW_TRY(k, quantize_int8(call, p, stored_rows(call.input("k"), &k_means, p, setting.sequences.k, p.h_kv, p.lk), "k_codes",
                            "k_scales", sage3::kTile));
    WW_TRY(taken, fill_output(call, "taken", {0}));
    (void)q, (void)k, (void)taken;
    return quantize_v(call, p, setting.sequences.k);
}

Status hopper_attention(const LibraryCall& call) { return attention(call, false); }
Status hopper_attention_unquantised(const LibraryCall& call) { return attention(call, true); }

Status hopper_sage2(const LibraryCall& call) {
    WW_TRY(setting, setting_of(call, {"q", "k", "v", "mask", "mask_bytes"}, true, true));
    const sage3::Output out =
        sage3::sage2_attention(setting.p, setting.sequences, values_of(call.input("q")), values_of(call.input("k")),
                               values_of(call.input("v")), sage3::mask_of(call, setting.p));
    WW_TRY(o, fill_output(call, "o", out.o));
    (void)o;
    return fill_output(call, "lse", out.lse);
}

}  // namespace ww::kernels

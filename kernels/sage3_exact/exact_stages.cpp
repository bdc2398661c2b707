// SPDX-License-Identifier: Apache-2.0
// What the exact path adds to the reference of sage3, as stages of its port.toml: codes and scales by value, stored as wgmma
// wants f16 operands in shared memory.
#include "sage3/sage3_setting.hpp"

namespace ww::kernels {
namespace {

using ladder::LibraryCall;
using port::Tensor;
using sage3::at;
using sage3::Problem;
using sage3::setting_of;
using sage3::Values;

// Index of an element in a tile of so many rows: 64 elements of all rows lie together, in rows of eight chunks, of which
// chunk c of row r lies at c ^ r % 8.
int64_t operand_index(int64_t rows, int64_t row, int64_t element) {
    constexpr int64_t kLine = 64, kChunk = 8;
    return element / kLine * rows * kLine + row * kLine + (element % kLine / kChunk ^ row % kChunk) * kChunk + element % kChunk;
}

// Q (tile_rows 128), or K (of a tile of keys), whose rows stay in their stored order.
Status expand_rows(const LibraryCall& call, const Problem& p, const char* codes_name, const char* scales_name,
                   const char* operand_name, int64_t heads, int64_t stored, bool keys, int64_t tile_rows) {
    const Tensor &codes = call.input(codes_name), &scales = call.input(scales_name);
    const int64_t columns = p.dp() / sage3::kGroup;
    Values out(at(p.b * heads * stored * p.dp()));
    for (int64_t n = 0; n < p.b * heads; ++n)
        for (int64_t row = 0; row < stored; ++row)
            for (int64_t c = 0; c < p.dp(); ++c) {
                const int64_t line = n * stored + row;
                const double code = codes.get(keys ? sage3::code_index(line, c, p.dp()) : line * p.dp() + c);
                const double scale =
                    scales.get(n * stored * columns + sage3::scale_index(row, c / sage3::kGroup, columns, p.row_run()));
                out[at(line / tile_rows * tile_rows * p.dp() + operand_index(tile_rows, line % tile_rows, c))] = code * scale;
            }
    return sage3::fill_output(call, operand_name, out);
}

}  // namespace

Status exact_expand_q(const LibraryCall& call) {
    WW_TRY(setting, setting_of(call, {"q_codes", "q_scales"}, false, false));
    const Problem& p = setting.p;
    return expand_rows(call, p, "q_codes", "q_scales", "q_operand", p.h, p.lqp(), false, sage3::kTile);
}

Status exact_expand_k(const LibraryCall& call) {
    WW_TRY(setting, setting_of(call, {"k_codes", "k_scales"}, false, false));
    const Problem& p = setting.p;
    return expand_rows(call, p, "k_codes", "k_scales", "k_operand", p.h_kv, p.lkp(), true, p.key_tile());
}

// Rows are channels, their elements keys in the stored order of K.
Status exact_expand_v(const LibraryCall& call) {
    WW_TRY(setting, setting_of(call, {"v_codes", "v_scales"}, false, false));
    const Problem& p = setting.p;
    const Tensor &codes = call.input("v_codes"), &scales = call.input("v_scales");
    const int64_t size = p.key_tile(), tiles = p.lkp() / size, columns = p.lkp() / sage3::kGroup;
    Values out(at(p.b * p.h_kv * p.lkp() * p.dp()));
    for (int64_t tile = 0; tile < p.b * p.h_kv * tiles; ++tile)
        for (int64_t channel = 0; channel < p.dp(); ++channel)
            for (int64_t position = 0; position < size; ++position) {
                const int64_t token = sage3::token_of_stored_key(position);
                const double code = codes.get(sage3::code_index(tile * p.dp() + channel, token, size));
                const int64_t column = (tile % tiles * size + token) / sage3::kGroup;
                const double scale = scales.get(tile / tiles * p.dp() * columns +
                                                sage3::scale_index(channel, column, columns, p.column_run()));
                out[at(tile * p.dp() * size + operand_index(p.dp(), channel, position))] = code * scale;
            }
    return sage3::fill_output(call, "v_operand", out);
}

}  // namespace ww::kernels

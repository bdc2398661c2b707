// SPDX-License-Identifier: Apache-2.0
// NVFP4 quantisers: e2m1 codes with one ue4m3 scale for 16 elements. One thread makes one group.
// Every operation is a single rounding of PTX, so that codes and scales are the reference's bits.
#pragma once
#include "../common/e2m1.cuh"
#include "sage3_common.cuh"

namespace sage3 {

constexpr int kQuantizeThreads = 256;

// Codes of 16 values, the first in the low nibble, and their scale: the largest magnitude over 6,
// rounded to e4m3. Values are divided by the rounded scale. A NaN makes the scale NaN.
struct Quantized {
    unsigned codes[2];
    unsigned char scale;
};

__device__ __forceinline__ float value_of_scale(unsigned short code) {
    return ptx::cvt_f32_f16(static_cast<unsigned short>(ptx::cvt_rn_f16x2_e4m3x2(code)));
}

__device__ __forceinline__ Quantized quantize(const float (&x)[kGroup]) {
    float largest = 0.0f;
#pragma unroll
    for (int i = 0; i < kGroup; ++i) largest = ptx::max_NaN_f32(largest, ptx::abs_f32(x[i]));
    const unsigned short scale =
        ptx::cvt_rn_satfinite_e4m3x2_f32(0.0f, ptx::div_rn_f32(largest, 6.0f));
    const float inverse = scale == 0 ? 0.0f : ptx::rcp_rn_f32(value_of_scale(scale));
    Quantized out{{0, 0}, static_cast<unsigned char>(scale)};
#pragma unroll
    for (int i = 0; i < kGroup; i += 2)
        out.codes[i / 8] |= e2m1x2_codes(ptx::mul_rn_f32(x[i + 1], inverse), ptx::mul_rn_f32(x[i], inverse))
                            << i % 8 * 4;
    return out;
}

__device__ __forceinline__ void store(const Quantized& group, unsigned char* codes, unsigned char* scale) {
    uint2 words;
    words.x = group.codes[0];
    words.y = group.codes[1];
    *reinterpret_cast<uint2*>(codes) = words;
    *scale = group.scale;
}

// Groups along the channels: Q and K. x [BH, L, D] without gaps -> codes [BH, stored rows, DP / 2] and
// scales [BH, stored rows, DP / 16] (scale_offset). kPermute: of keys, whose rows are stored as token_of_stored_key
// says and their codes as code_offset says. One block a tile.
template <bool kPermute, class T>
__device__ void quantize_rows(const T* x, const Side& side, unsigned char* codes, unsigned char* scales, int heads,
                              int depth, int padded_depth) {
    const TileOf tile = TileOf::of(side, heads, blockIdx.x);
    const int columns = padded_depth / kGroup, row_bytes = padded_depth / 2, rows = tile.rows();
    const T* tokens = x + (static_cast<long long>(tile.bh) * side.tokens + tile.token(0)) * depth;
    unsigned char* head_scales = scales + static_cast<long long>(tile.bh) * side.stored * columns;
    for (int i = threadIdx.x; i < kTile * columns; i += kQuantizeThreads) {
        const int column = i % columns, row = i / columns, token = kPermute ? token_of_stored_key(row) : row;
        float values[kGroup];
#pragma unroll
        for (int j = 0; j < kGroup; ++j) {
            const int channel = column * kGroup + j;
            values[j] = token < rows && channel < depth ? widen(tokens[token * depth + channel]) : 0.0f;
        }
        const long long stored = static_cast<long long>(blockIdx.x) * kTile + row;  // over all heads
        const int byte = column * kGroup / 2;
        store(quantize(values), codes + (kPermute ? code_offset(stored, byte, row_bytes) : stored * row_bytes + byte),
              head_scales + scale_offset(tile.tile * kTile + row, column, columns, scale_run(columns)));
    }
}

// Groups along the tokens, transposed: V. x [B, H, L, D] less its means, if any ([sequences, H, D]) -> codes
// [BH, stored / key_tile, DP, key_tile / 2] (code_offset) and scales [BH, DP, stored / 16] (scale_offset). One block a
// tile of 128 keys; neighbouring threads read neighbouring channels.
template <class T>
__device__ void quantize_columns(const Strided<T>& x, const Side& side, const float* means, unsigned char* codes,
                                 unsigned char* scales, int heads, int depth, int padded_depth, int key_tile) {
    const TileOf tile = TileOf::of(side, heads, blockIdx.x);
    const int head = tile.bh % heads, rows = tile.rows(), columns = side.stored / kGroup;
    const long long of_sequence = static_cast<long long>(tile.sequence.number) * heads + head;
    unsigned char* head_scales = scales + static_cast<long long>(tile.bh) * padded_depth * columns;
    for (int i = threadIdx.x; i < padded_depth * (kTile / kGroup); i += kQuantizeThreads) {
        const int channel = i % padded_depth, column = i / padded_depth;
        const float mean = means && channel < depth ? means[of_sequence * depth + channel] : 0.0f;
        float values[kGroup];
#pragma unroll
        for (int j = 0; j < kGroup; ++j) {
            const int row = column * kGroup + j;
            values[j] = row < rows && channel < depth
                            ? ptx::sub_rn_f32(widen(x.row(tile.sequence.batch, head, tile.token(row))[channel]), mean)
                            : 0.0f;
        }
        const int first = column * kGroup;
        const long long key_tiles = static_cast<long long>(blockIdx.x) * (kTile / key_tile) + first / key_tile;
        store(quantize(values),
              codes + code_offset(key_tiles * padded_depth + channel, first % key_tile / 2, key_tile / 2),
              head_scales + scale_offset(channel, tile.tile * (kTile / kGroup) + column, columns,
                                         scale_run(key_tile / kGroup)));
    }
}

}  // namespace sage3

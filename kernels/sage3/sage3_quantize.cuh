// SPDX-License-Identifier: Apache-2.0
// NVFP4 quantisers: e2m1 codes with one ue4m3 scale for 16 elements. One thread makes one group.
// Every operation is a single rounding of PTX, so that codes and scales are the reference's bits.
#pragma once
#include "../common/ptx_fp4.cuh"
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
        out.codes[i / 8] |= ptx::cvt_rn_satfinite_e2m1x2_f32(ptx::mul_rn_f32(x[i + 1], inverse),
                                                             ptx::mul_rn_f32(x[i], inverse))
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

// Groups along the channels: Q and K. x [BH, L, D] without gaps -> codes [BH, LP, DP / 2] and
// scales [BH, LP, DP / 16] (scale_offset). kPermute: of keys, whose rows are stored as token_of_stored_key
// says and their codes as code_offset says.
template <bool kPermute, class T>
__device__ void quantize_rows(const T* x, unsigned char* codes, unsigned char* scales, int length, int depth,
                              int padded_depth, long long groups) {
    const long long i = static_cast<long long>(blockIdx.x) * kQuantizeThreads + threadIdx.x;
    if (i >= groups) return;
    const int columns = padded_depth / kGroup;
    const int column = static_cast<int>(i % columns);
    const long long stored = i / columns;  // row over all heads
    const int rows = padded(length), row = static_cast<int>(stored % rows);
    const long long bh = stored / rows;
    const int token = kPermute ? token_of_stored_key(row) : row;
    float values[kGroup];
#pragma unroll
    for (int j = 0; j < kGroup; ++j) {
        const int channel = column * kGroup + j;
        values[j] = token < length && channel < depth
                        ? widen(x[(bh * length + token) * depth + channel])
                        : 0.0f;
    }
    const int row_bytes = padded_depth / 2, byte = column * kGroup / 2;
    store(quantize(values), codes + (kPermute ? code_offset(stored, byte, row_bytes) : stored * row_bytes + byte),
          scales + bh * rows * columns + scale_offset(row, column, columns));
}

// Groups along the tokens, transposed: V. x [B, H, L, D] -> codes [BH, LP / 128, DP, 128 / 2] (code_offset)
// and scales [BH, DP, LP / 16] (scale_offset). Neighbouring threads read neighbouring channels.
template <class T>
__device__ void quantize_columns(const Strided<T>& x, unsigned char* codes, unsigned char* scales, int heads,
                                 int length, int depth, int padded_depth, long long groups) {
    const long long i = static_cast<long long>(blockIdx.x) * kQuantizeThreads + threadIdx.x;
    if (i >= groups) return;
    const int columns = padded(length) / kGroup;
    const int channel = static_cast<int>(i % padded_depth);
    const int column = static_cast<int>(i / padded_depth % columns);
    const long long bh = i / padded_depth / columns;
    float values[kGroup];
#pragma unroll
    for (int j = 0; j < kGroup; ++j) {
        const int token = column * kGroup + j;
        const int b = static_cast<int>(bh / heads), h = static_cast<int>(bh % heads);
        values[j] = token < length && channel < depth ? widen(x.row(b, h, token)[channel]) : 0.0f;
    }
    constexpr int kColumns = kTile / kGroup;  // of a tile
    const long long row = (bh * (columns / kColumns) + column / kColumns) * padded_depth + channel;
    store(quantize(values), codes + code_offset(row, column % kColumns * kGroup / 2, kTile / 2),
          scales + bh * padded_depth * columns + scale_offset(channel, column, columns));
}

}  // namespace sage3

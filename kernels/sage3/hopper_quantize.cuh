// SPDX-License-Identifier: Apache-2.0
// Quantisers for INT8 and FP8 tensor cores: Q and K as int8, Q with a scale for each row and K less its mean with one for
// each 128 keys; V as e4m3 with a scale for each channel. Tiles are stored as shared memory holds them.
#pragma once
#include "../common/ptx_fp4.cuh"
#include "../common/ptx_sync.cuh"
#include "sage3_channels.cuh"

namespace sage3 {

constexpr int kInt8Threads = 256;
constexpr float kLargestInt8 = 127.0f;

// Position p of 16 stored keys of V holds token t of them: what accumulators of S hold is then what P's registers want.
__device__ __forceinline__ int token_of_stored_value(int p) { return (p & ~15) | (p & 1) | (p & 2) << 2 | (p & 12) >> 1; }

// code = x * (127 / largest), to nearest even.
__device__ __forceinline__ signed char int8_code(float x, float inverse) {
    return static_cast<signed char>(ptx::cvt_rni_sat_s8_f32(ptx::mul_rn_f32(x, inverse)));
}

// Of kLanes neighbouring lanes.
template <int kLanes>
__device__ __forceinline__ float lanes_max(float x) {
#pragma unroll
    for (int mask = kLanes / 2; mask > 0; mask /= 2) x = ptx::max_NaN_f32(x, ptx::shfl_sync_bfly_f32(x, mask));
    return x;
}

// Of a row's channel among codes of Q or K. What a swizzle exchanges are 128 bytes at most: of wider rows the first 128
// channels of all of a tile's rows come before the others.
template <int kDepth>
__device__ __forceinline__ long long int8_offset(long long row, int channel) {
    if (kDepth <= 128) return code_offset(row, channel, kDepth);
    const long long panel = row / kTile * (kDepth / 128) + channel / 128;
    return code_offset(panel * kTile + row % kTile, channel % 128, 128);
}

// x [B, H, L, D] less its means, if any ([sequences, H, D]) -> codes [BH, stored rows, DP] (int8_offset) and scales: one a
// row ([BH, stored]) or, kOfTile, one a tile ([BH, stored / 128]). One block a tile of 128 rows, which it keeps in
// registers, a thread eight channels of some rows.
template <bool kOfTile, int kDepth, class T>
__device__ void quantize_int8(const Strided<T>& x, const Side& side, const float* means, signed char* codes, float* scales,
                              int heads, int depth) {
    constexpr int kLanes = kDepth / kChannels;                         // of a row
    constexpr int kRowsAtOnce = kInt8Threads / kLanes, kRows = kTile / kRowsAtOnce;
    __shared__ float largest_of[kInt8Threads / 32];
    const TileOf tile = TileOf::of(side, heads, blockIdx.x);
    const int head = tile.bh % heads, rows = tile.rows(), first = threadIdx.x / kLanes;
    const int channel = threadIdx.x % kLanes * kChannels;
    const bool whole = whole_vectors(x) && channel + kChannels <= depth;
    Channels<T> values[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const int row = first + i * kRowsAtOnce;
        values[i] = row < rows ? Channels<T>::of(x.row(tile.sequence.batch, head, tile.token(row)), channel, depth, whole)
                               : Channels<T>::zeros();
    }
    float mean[kChannels];
#pragma unroll
    for (int c = 0; c < kChannels; ++c)
        mean[c] = means && channel + c < depth
                      ? means[(static_cast<long long>(tile.sequence.number) * heads + head) * depth + channel + c]
                      : 0.0f;
    const auto value = [&](int i, int c) {  // 0 beyond the tokens
        const float less = ptx::sub_rn_f32(values[i].value(c), mean[c]);
        return first + i * kRowsAtOnce < rows ? less : 0.0f;
    };
    float largest[kRows], of_tile = 0.0f;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        largest[i] = 0.0f;
#pragma unroll
        for (int c = 0; c < kChannels; ++c) largest[i] = ptx::max_NaN_f32(largest[i], ptx::abs_f32(value(i, c)));
        if (kOfTile) of_tile = ptx::max_NaN_f32(of_tile, largest[i]);
        else largest[i] = lanes_max<kLanes>(largest[i]);
    }
    if (kOfTile) {
        of_tile = lanes_max<32>(of_tile);
        if (threadIdx.x % 32 == 0) largest_of[threadIdx.x / 32] = of_tile;
        ptx::bar_sync(0);
        for (int i = 0; i < kInt8Threads / 32; ++i) of_tile = ptx::max_NaN_f32(of_tile, largest_of[i]);
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        values[i].hide();  // what was computed of them is not kept: it would cost registers
        const float most = ptx::max_NaN_f32(kOfTile ? of_tile : largest[i], kSmallest);
        const float inverse = ptx::div_rn_f32(kLargestInt8, most);
        unsigned words[2] = {0, 0};
#pragma unroll
        for (int c = 0; c < kChannels; ++c)
            words[c / 4] |= static_cast<unsigned>(static_cast<unsigned char>(int8_code(value(i, c), inverse))) << c % 4 * 8;
        const long long stored = static_cast<long long>(blockIdx.x) * kTile + first + i * kRowsAtOnce;
        *reinterpret_cast<uint2*>(codes + int8_offset<kDepth>(stored, channel)) = make_uint2(words[0], words[1]);
        if (kOfTile ? threadIdx.x == 0 && i == 0 : threadIdx.x % kLanes == 0)
            scales[kOfTile ? blockIdx.x : stored] = ptx::div_rn_f32(most, kLargestInt8);
    }
}

// V less its means, if any, transposed: codes [BH, stored / 128, DP, 128] (code_offset, tokens permuted in sixteens) of
// x * (448 / largest), largest [sequences, H, DP]. One block a tile; a thread makes sixteen tokens of eight channels, so that eight threads write a
// channel's 128 bytes.
template <int kDepth, class T>
__device__ void quantize_e4m3(const Strided<T>& x, const Side& side, const float* means, const float* largest,
                              unsigned char* codes, int heads, int depth) {
    constexpr int kTokens = 16, kGroups = kTile / kTokens;
    const TileOf tile = TileOf::of(side, heads, blockIdx.x);
    const int head = tile.bh % heads, rows = tile.rows();
    const int first = threadIdx.x % kGroups * kTokens, channel = threadIdx.x / kGroups * kChannels;
    const bool whole = whole_vectors(x) && channel + kChannels <= depth;
    Channels<T> tokens[kTokens];
#pragma unroll
    for (int i = 0; i < kTokens; ++i)
        tokens[i] = first + i < rows
                        ? Channels<T>::of(x.row(tile.sequence.batch, head, tile.token(first + i)), channel, depth, whole)
                        : Channels<T>::zeros();
    const long long of_head = static_cast<long long>(tile.sequence.number) * heads + head;
#pragma unroll
    for (int c = 0; c < kChannels; ++c) {
        const bool there = channel + c < depth;
        const float mean = there && means ? means[of_head * depth + channel + c] : 0.0f;
        const float inverse =
            ptx::div_rn_f32(kLargestE4m3, ptx::max_NaN_f32(largest[of_head * kDepth + channel + c], kSmallest));
        const auto value = [&](int token) {
            const float less = ptx::mul_rn_f32(ptx::sub_rn_f32(tokens[token].value(c), mean), inverse);
            return there && first + token < rows ? less : 0.0f;
        };
        unsigned words[kTokens / 4];
#pragma unroll
        for (int p = 0; p < kTokens; p += 2) {
            const unsigned pair = ptx::cvt_rn_satfinite_e4m3x2_f32(value(token_of_stored_value(p + 1)),
                                                                   value(token_of_stored_value(p)));
            words[p / 4] = p % 4 == 0 ? pair : words[p / 4] | pair << 16;
        }
        const long long row = static_cast<long long>(blockIdx.x) * kDepth + channel + c;
        *reinterpret_cast<uint4*>(codes + code_offset(row, first, kTile)) = make_uint4(words[0], words[1], words[2], words[3]);
    }
}

}  // namespace sage3

// SPDX-License-Identifier: Apache-2.0
// Quantisers for INT8 and FP8 tensor cores: Q and K as int8, Q with a scale for each row and K less its mean with one for
// each 128 keys; V as e4m3 with a scale for each channel. Tiles are stored as shared memory holds them.
#pragma once
#include "../common/ptx_fp4.cuh"
#include "../common/ptx_sync.cuh"
#include "sage3_common.cuh"

namespace sage3 {

constexpr int kInt8Threads = 512, kMaxThreads = 1024;
constexpr float kLargestInt8 = 127.0f;

// Position p of 16 stored keys of V holds token t of them: what accumulators of S hold is then what P's registers want.
__device__ __forceinline__ int token_of_stored_value(int p) { return (p & ~15) | (p & 1) | (p & 2) << 2 | (p & 12) >> 1; }

// code = x * (127 / largest), to nearest even.
__device__ __forceinline__ signed char int8_code(float x, float inverse) {
    return static_cast<signed char>(ptx::cvt_rni_sat_s8_f32(ptx::mul_rn_f32(x, inverse)));
}

__device__ __forceinline__ float warp_max(float x) {
    for (int mask = 16; mask > 0; mask >>= 1) x = ptx::max_NaN_f32(x, ptx::shfl_sync_bfly_f32(x, mask));
    return x;
}

// x [B, H, L, D] less its means, if any ([sequences, H, D]) -> codes [BH, stored rows, DP] (code_offset) and scales: one a
// row ([BH, stored]) or, kOfTile, one a tile ([BH, stored / 128]). One block a tile of 128 rows; a warp keeps eight of them
// in registers, a lane four channels of each.
template <bool kOfTile, class T>
__device__ void quantize_int8(const Strided<T>& x, const Side& side, const float* means, signed char* codes, float* scales,
                              int heads, int depth, int padded_depth) {
    constexpr int kWarps = kInt8Threads / 32, kRows = kTile / kWarps;
    __shared__ float largest_of[kWarps];
    const TileOf tile = TileOf::of(side, heads, blockIdx.x);
    const int head = tile.bh % heads, rows = tile.rows(), warp = threadIdx.x / 32, channel = threadIdx.x % 32 * 4;
    const bool whole = ((reinterpret_cast<unsigned long long>(x.data) | (x.batch | x.head | x.token) * 2) & 7) == 0;
    float mean[4] = {}, values[kRows][4], largest[kRows], of_tile = 0.0f;
    if (means)
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (channel + i < depth)
                mean[i] = means[(static_cast<long long>(tile.sequence.number) * heads + head) * depth + channel + i];
    if (whole && channel + 4 <= depth) {  // all loads, then what waits for them
        uint2 words[kRows];
#pragma unroll
        for (int i = 0; i < kRows; ++i) {
            const int row = warp + i * kWarps;
            words[i] = row < rows ? *reinterpret_cast<const uint2*>(
                                        x.row(tile.sequence.batch, head, tile.token(row)) + channel)
                                  : uint2{};
        }
#pragma unroll
        for (int i = 0; i < kRows; ++i)
#pragma unroll
            for (int c = 0; c < 4; ++c)
                values[i][c] = widen(T{static_cast<unsigned short>((c < 2 ? words[i].x : words[i].y) >> c % 2 * 16)});
    } else {
#pragma unroll
        for (int i = 0; i < kRows; ++i)
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const int row = warp + i * kWarps;
                values[i][c] = row < rows && channel + c < depth
                                   ? widen(x.row(tile.sequence.batch, head, tile.token(row))[channel + c])
                                   : 0.0f;
            }
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
        for (int c = 0; c < 4; ++c)
            if (means) values[i][c] = warp + i * kWarps < rows ? ptx::sub_rn_f32(values[i][c], mean[c]) : 0.0f;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        largest[i] = 0.0f;
#pragma unroll
        for (int c = 0; c < 4; ++c) largest[i] = ptx::max_NaN_f32(largest[i], ptx::abs_f32(values[i][c]));
        if (kOfTile) of_tile = ptx::max_NaN_f32(of_tile, largest[i]);
        else largest[i] = warp_max(largest[i]);
    }
    if (kOfTile) {
        of_tile = warp_max(of_tile);
        if (threadIdx.x % 32 == 0) largest_of[warp] = of_tile;
        ptx::bar_sync(0);
        for (int i = 0; i < kWarps; ++i) of_tile = ptx::max_NaN_f32(of_tile, largest_of[i]);
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const float most = ptx::max_NaN_f32(kOfTile ? of_tile : largest[i], kSmallest);
        const float inverse = ptx::div_rn_f32(kLargestInt8, most);
        unsigned word = 0;
#pragma unroll
        for (int c = 0; c < 4; ++c)
            word |= static_cast<unsigned>(static_cast<unsigned char>(int8_code(values[i][c], inverse))) << c * 8;
        const long long stored = static_cast<long long>(blockIdx.x) * kTile + warp + i * kWarps;
        if (channel < padded_depth) *reinterpret_cast<unsigned*>(codes + code_offset(stored, channel, padded_depth)) = word;
        if (threadIdx.x % 32 == 0 && (!kOfTile || (warp == 0 && i == 0)))
            scales[kOfTile ? blockIdx.x : stored] = ptx::div_rn_f32(most, kLargestInt8);
    }
}

// Largest magnitude of each channel of a head over all tokens of a sequence: [sequences, H, D]. One block 32 channels. The
// bits of a float without its sign are in the order of magnitudes, NaNs above all.
template <class T>
__device__ void channel_max(const Strided<T>& x, const Side& side, float* largest, int heads, int depth) {
    constexpr int kChannels = 32, kParts = kMaxThreads / kChannels, kRun = 8;
    __shared__ unsigned parts[kParts][kChannels];
    const int slices = (depth + kChannels - 1) / kChannels, number = blockIdx.x / slices, head = number % heads;
    const Sequence sequence = side.sequence(number / heads);
    const int channel = blockIdx.x % slices * kChannels + threadIdx.x % kChannels, part = threadIdx.x / kChannels;
    unsigned most = 0;
    if (channel < depth) {
        const T* tokens = x.row(sequence.batch, head, sequence.first) + channel;
        int l = part;
        for (; l + kParts * (kRun - 1) < sequence.length; l += kParts * kRun) {
            unsigned bits[kRun];
#pragma unroll
            for (int i = 0; i < kRun; ++i) bits[i] = tokens[(l + i * kParts) * x.token].bits & 0x7fffu;
#pragma unroll
            for (int i = 0; i < kRun; ++i) most = bits[i] > most ? bits[i] : most;
        }
        for (; l < sequence.length; l += kParts) {
            const unsigned bits = tokens[l * x.token].bits & 0x7fffu;
            most = bits > most ? bits : most;
        }
    }
    parts[part][threadIdx.x % kChannels] = most;
    ptx::bar_sync(0);
    if (part != 0 || channel >= depth) return;
    for (int i = 1; i < kParts; ++i) most = parts[i][threadIdx.x] > most ? parts[i][threadIdx.x] : most;
    largest[static_cast<long long>(number) * depth + channel] = widen(T{static_cast<unsigned short>(most)});
}

// V, transposed: codes [BH, stored / 128, DP, 128] (code_offset, tokens permuted in sixteens) of x * (448 / largest). One
// block a tile; a thread makes 16 tokens of a channel, neighbours read neighbouring channels.
template <class T>
__device__ void quantize_e4m3(const Strided<T>& x, const Side& side, const float* largest, unsigned char* codes, int heads,
                              int depth, int padded_depth) {
    const TileOf tile = TileOf::of(side, heads, blockIdx.x);
    const int head = tile.bh % heads, rows = tile.rows();
    const float* of_channel = largest + (static_cast<long long>(tile.sequence.number) * heads + head) * depth;
    for (int i = threadIdx.x; i < padded_depth * (kTile / 16); i += kInt8Threads) {
        const int channel = i % padded_depth, first = i / padded_depth * 16;
        const float inverse = channel < depth ? ptx::div_rn_f32(kLargestE4m3, ptx::max_NaN_f32(of_channel[channel], kSmallest))
                                              : 0.0f;
        unsigned words[4];
#pragma unroll
        for (int p = 0; p < 16; p += 2) {
            float v[2];
#pragma unroll
            for (int c = 0; c < 2; ++c) {
                const int row = first + token_of_stored_value(p + c);
                v[c] = row < rows && channel < depth
                           ? ptx::mul_rn_f32(widen(x.row(tile.sequence.batch, head, tile.token(row))[channel]), inverse)
                           : 0.0f;
            }
            const unsigned pair = ptx::cvt_rn_satfinite_e4m3x2_f32(v[1], v[0]);
            words[p / 4] = p % 4 == 0 ? pair : words[p / 4] | pair << 16;
        }
        const long long row = static_cast<long long>(blockIdx.x) * padded_depth + channel;
        *reinterpret_cast<uint4*>(codes + code_offset(row, first, kTile)) = make_uint4(words[0], words[1], words[2], words[3]);
    }
}

}  // namespace sage3

// SPDX-License-Identifier: Apache-2.0
// Quantisers for INT8 and FP8 tensor cores: Q and K as int8, Q with a scale for each row and K less its mean with one for
// each 128 keys; V as e4m3 with a scale for each channel. Tiles are stored as the attention kernel's shared memory holds them.
#pragma once
#include "../common/ptx_fp4.cuh"
#include "../common/ptx_sync.cuh"
#include "sage3_channels.cuh"

namespace sage3 {

constexpr float kLargestInt8 = 127.0f;

// Of a block, which makes one tile: eight vectors of eight channels each.
__host__ __device__ constexpr int quantize_threads(int padded_depth) { return 2 * padded_depth; }

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

// x [B, H, L, D], kOfTile: less its means [sequences, H, D] -> codes [BH, stored rows, DP] (int8_offset) and scales: one a row
// ([BH, stored]) or, kOfTile, one a tile ([BH, stored / 128]). The block makes tile `number`, which it keeps in registers, a
// thread eight channels of some rows.
template <bool kOfTile, int kDepth, class T>
__device__ __forceinline__ void quantize_int8(const Strided<T>& x, const Side& side, const float* means, signed char* codes,
                                              float* scales, int number, int heads, int depth) {
    constexpr int kThreads = quantize_threads(kDepth), kLanes = kDepth / kChannels;  // lanes: of a row
    constexpr int kRowsAtOnce = kThreads / kLanes, kRows = kTile / kRowsAtOnce;
    __shared__ float largest_of[kThreads / 32];
    const TileOf tile = TileOf::of(side, heads, number);
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
        mean[c] = kOfTile && channel + c < depth
                      ? means[(static_cast<long long>(tile.sequence.number) * heads + head) * depth + channel + c]
                      : 0.0f;
    const auto value = [&](int i, int c) {  // 0 beyond the tokens
        if (!kOfTile) return values[i].value(c);
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
        for (int i = 0; i < kThreads / 32; ++i) of_tile = ptx::max_NaN_f32(of_tile, largest_of[i]);
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
        const long long stored = static_cast<long long>(number) * kTile + first + i * kRowsAtOnce;
        *reinterpret_cast<uint2*>(codes + int8_offset<kDepth>(stored, channel)) = make_uint2(words[0], words[1]);
        if (kOfTile ? threadIdx.x == 0 && i == 0 : threadIdx.x % kLanes == 0)
            scales[kOfTile ? number : stored] = ptx::div_rn_f32(most, kLargestInt8);
    }
}

// A tile of V's codes on its way from rows of tokens to rows of channels: kDepth rows of 32 words, each four tokens. The rows
// of a load's lanes differ in the order of their words, so that what they store lies in different banks.
template <int kDepth>
struct Transposed {
    static constexpr int kLanes = kDepth / kChannels, kWords = kTile / 4;
    uint4 chunks[kDepth][kWords / 4];

    __device__ __forceinline__ static int exchange(int channel) { return channel / kChannels * (kWords / kLanes); }
    __device__ __forceinline__ void set(int channel, int word, unsigned value) {
        reinterpret_cast<unsigned*>(chunks[channel])[word ^ exchange(channel)] = value;
    }
    // Words 4 chunk to 4 chunk + 3.
    __device__ __forceinline__ uint4 chunk(int channel, int chunk) const {
        const int by = exchange(channel);
        uint4 out = chunks[channel][chunk ^ by / 4];
        if (kDepth > 64 && (by & 2)) out = make_uint4(out.z, out.w, out.x, out.y);
        if (kDepth > 128 && (by & 1)) out = make_uint4(out.y, out.x, out.w, out.z);
        return out;
    }
};

// V less its means, transposed: codes [BH, stored / 128, DP, 128] (code_offset, tokens permuted in sixteens) of
// x * (448 / largest), largest [sequences, H, DP]. The block makes tile `number`; a thread loads eight channels of a token, as
// its neighbours do of the row's others, and of four tokens makes a word for each of the channels.
template <int kDepth, class T>
__device__ __forceinline__ void quantize_e4m3(const Strided<T>& x, const Side& side, const float* means, const float* largest,
                                              unsigned char* codes, int number, int heads, int depth) {
    constexpr int kThreads = quantize_threads(kDepth), kLanes = kDepth / kChannels;
    constexpr int kWordsAtOnce = kThreads / kLanes, kWords = kTile / 4 / kWordsAtOnce;
    __shared__ Transposed<kDepth> transposed;
    __shared__ __align__(16) float mean_of[kDepth], inverse_of[kDepth];
    const TileOf tile = TileOf::of(side, heads, number);
    const int head = tile.bh % heads, rows = tile.rows(), first = threadIdx.x / kLanes;
    const int channel = threadIdx.x % kLanes * kChannels;
    const bool whole = whole_vectors(x) && channel + kChannels <= depth;
    Channels<T> tokens[kWords][4];
    unsigned there[kWords] = {};  // bytes of a word: 0 beyond the tokens
#pragma unroll
    for (int i = 0; i < kWords; ++i)
#pragma unroll
        for (int t = 0; t < 4; ++t) {
            const int token = token_of_stored_value((first + i * kWordsAtOnce) * 4 + t);
            tokens[i][t] = token < rows ? Channels<T>::of(x.row(tile.sequence.batch, head, tile.token(token)), channel, depth, whole)
                                        : Channels<T>::zeros();
            if (token < rows) there[i] |= 0xffu << t * 8;
        }
    const long long of_head = static_cast<long long>(tile.sequence.number) * heads + head;
    if (static_cast<int>(threadIdx.x) < kDepth) {
        const float most = ptx::max_NaN_f32(largest[of_head * kDepth + threadIdx.x], kSmallest);
        inverse_of[threadIdx.x] = ptx::div_rn_f32(kLargestE4m3, most);
        mean_of[threadIdx.x] = static_cast<int>(threadIdx.x) < depth ? means[of_head * depth + threadIdx.x] : 0.0f;
    }
    ptx::bar_sync(0);
#pragma unroll
    for (int c = 0; c < kChannels; ++c) {
        const float mean = mean_of[channel + c], inverse = inverse_of[channel + c];
#pragma unroll
        for (int i = 0; i < kWords; ++i) {
            const auto value = [&](int t) { return ptx::mul_rn_f32(ptx::sub_rn_f32(tokens[i][t].value(c), mean), inverse); };
            const unsigned word = ptx::cvt_rn_satfinite_e4m3x2_f32(value(1), value(0)) |
                                  static_cast<unsigned>(ptx::cvt_rn_satfinite_e4m3x2_f32(value(3), value(2))) << 16;
            transposed.set(channel + c, first + i * kWordsAtOnce, word & there[i]);
        }
    }
    ptx::bar_sync(0);
#pragma unroll
    for (int i = 0; i < kDepth * (kTile / 16) / kThreads; ++i) {
        const int row = (threadIdx.x + i * kThreads) / (kTile / 16), chunk = threadIdx.x % (kTile / 16);
        *reinterpret_cast<uint4*>(codes + code_offset(static_cast<long long>(number) * kDepth + row, chunk * 16, kTile)) =
            transposed.chunk(row, chunk);
    }
}

// What is quantised of one tensor and where to.
template <class T, class Code>
struct Quantized {
    Strided<T> x;
    Side side;
    const float* means;  // [sequences, H, D]; null of Q
    Code* codes;
    int heads;
};

// Which tile of K or V comes `order`-th, of `heads` heads of both, V's first, with `tiles` tiles each: against the order in which
// their means were made, as what was read last is still in the L2 cache. kAtOnce heads were read side by side.
struct KeyTile {
    int head, tile;

    __device__ __forceinline__ static KeyTile of(int order, int heads, int tiles) {
        constexpr int kAtOnce = 256;
        const int left = heads * tiles - 1 - order, first = left / (kAtOnce * tiles) * kAtOnce;
        const int at_once = heads - first < kAtOnce ? heads - first : kAtOnce;
        return {first + (left - first * tiles) % at_once, (left - first * tiles) / at_once};
    }
};

// A block a tile: first those of K and V, then Q's.
template <int kDepth, class T>
__device__ __forceinline__ void quantize(const Quantized<T, signed char>& q, float* q_scales, const Quantized<T, signed char>& k,
                                         float* k_scales, const Quantized<T, unsigned char>& v, const float* v_largest,
                                         int key_tiles, int depth) {
    const int block = blockIdx.x, tiles = k.side.tiles(), heads = key_tiles / tiles;
    if (block >= 2 * key_tiles)
        return quantize_int8<false, kDepth>(q.x, q.side, q.means, q.codes, q_scales, block - 2 * key_tiles, q.heads, depth);
    const KeyTile key = KeyTile::of(block, 2 * heads, tiles);
    if (key.head < heads)
        quantize_e4m3<kDepth>(v.x, v.side, v.means, v_largest, v.codes, key.head * tiles + key.tile, v.heads, depth);
    else
        quantize_int8<true, kDepth>(k.x, k.side, k.means, k.codes, k_scales, (key.head - heads) * tiles + key.tile, k.heads,
                                    depth);
}

}  // namespace sage3

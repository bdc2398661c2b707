// SPDX-License-Identifier: Apache-2.0
// Smoothing: Q loses the mean of each 128 queries or of all, K and V that of all their keys, and what that takes
// from the logits comes back as a bias for each key. The tensors are not touched: the results are copies.
#pragma once
#include "../common/ptx_sync.cuh"
#include "sage3_sequence.cuh"

namespace sage3 {

constexpr int kSmoothThreads = 256, kTileMeanThreads = 256;
constexpr int kMeanChannels = 32;  // of a block
constexpr int kBiasRows = 32, kRowsAtOnce = 8;  // of Q means: of a block of key_bias, and of one reading of its keys

// Means over the tokens of each tile: [BH, stored / 128, D], zeros where a tile has none. One block makes 32 channels of
// one mean; of the kParts threads that share a channel each adds every kParts-th token.
template <class T>
__device__ void tile_mean(const Strided<T>& x, const Side& side, float* means, int heads, int depth) {
    constexpr int kParts = kTileMeanThreads / kMeanChannels;
    __shared__ float sums[kParts][kMeanChannels];
    const int slices = (depth + kMeanChannels - 1) / kMeanChannels, number = blockIdx.x / slices;
    const TileOf tile = TileOf::of(side, heads, number);
    const int channel = blockIdx.x % slices * kMeanChannels + threadIdx.x % kMeanChannels;
    const int part = threadIdx.x / kMeanChannels, rows = tile.rows();
    float tokens[kTile / kParts], sum = 0.0f;  // all loads, then what waits for them
#pragma unroll
    for (int i = 0; i < kTile / kParts; ++i) {
        const int row = part + i * kParts;
        tokens[i] = channel < depth && row < rows
                        ? widen(x.row(tile.sequence.batch, tile.bh % heads, tile.token(row))[channel])
                        : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < kTile / kParts; ++i) sum = ptx::add_rn_f32(sum, tokens[i]);
    sums[part][threadIdx.x % kMeanChannels] = sum;
    ptx::bar_sync(0);
    if (part != 0 || channel >= depth) return;
    for (int i = 1; i < kParts; ++i) sum = ptx::add_rn_f32(sum, sums[i][threadIdx.x]);
    means[static_cast<long long>(number) * depth + channel] =
        rows == 0 ? 0.0f : ptx::div_rn_f32(sum, static_cast<float>(rows));
}

// x - its mean, rounded to T, without gaps: [BH, L, D]. One block a tile; means as mean() lays them out.
template <class T>
__device__ void subtract_mean(const Strided<T>& x, const Side& side, const float* means, bool of_tiles, T* smooth,
                              int heads, int depth) {
    const TileOf tile = TileOf::of(side, heads, blockIdx.x);
    const int head = tile.bh % heads;
    const float* mean = means + (of_tiles ? static_cast<long long>(blockIdx.x)
                                          : static_cast<long long>(tile.sequence.number) * heads + head) * depth;
    T* out = smooth + (static_cast<long long>(tile.bh) * side.tokens + tile.token(0)) * depth;
    for (int i = threadIdx.x; i < tile.rows() * depth; i += kSmoothThreads) {
        const int channel = i % depth;
        out[i] = narrow<T>(ptx::sub_rn_f32(
            widen(x.row(tile.sequence.batch, head, tile.token(i / depth))[channel]), mean[channel]));
    }
}

// bias[r * columns] = mean r . k, channel by channel, for r < count <= kRows; 0 without a key. Mean r begins at r * row_floats, a
// multiple of 8.
template <int kRows, class T>
__device__ __forceinline__ void bias_of_rows(const float* means, int row_floats, const T* k, int depth, float* bias, int columns,
                                             int count) {
    const bool whole = depth % kChannels == 0;  // k_smooth has no gaps
    float dots[kRows] = {};
    if (k)
        for (int first = 0; first < depth; first += kChannels) {
            const Channels<T> x = Channels<T>::of(k, first, depth, whole);
#pragma unroll
            for (int r = 0; r < kRows; ++r) {
                const float4 low = *reinterpret_cast<const float4*>(means + r * row_floats + first);
                const float4 high = *reinterpret_cast<const float4*>(means + r * row_floats + first + 4);
                const float q[kChannels] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
                for (int i = 0; i < kChannels; ++i) dots[r] = ptx::fma_rn_f32(q[i], x.value(i), dots[r]);
            }
        }
#pragma unroll
    for (int r = 0; r < kRows; ++r)
        if (r < count) bias[static_cast<long long>(r) * columns] = dots[r];
}

// bias[rows of Q means, columns] = q_mean . k_smooth: what each key's logit lacks for all queries of that mean, 0 for
// keys of the padding. Grid: kBiasRows rows by 128 columns a block, one thread a key, which is read once for all rows of one
// head and sequence.
template <class T>
__device__ void key_bias(const float* q_means, bool of_tiles, int rows, const Side& queries, const T* k_smooth, const Side& keys,
                         float* bias, int columns, int heads, int kv_heads, int depth) {
    __shared__ __align__(16) float means[kBiasRows * kMaxDepth];
    const int key_tiles = columns / kTile, row_floats = (depth + 7) / 8 * 8;
    const int key = blockIdx.x % key_tiles * kTile + threadIdx.x;
    int row = static_cast<int>(blockIdx.x / key_tiles) * kBiasRows;
    const int end = row + kBiasRows < rows ? row + kBiasRows : rows;
    while (row < end) {
        const auto number_of = [&](int each) {
            return of_tiles ? TileOf::of(queries, heads, each).sequence.number : each / heads;
        };
        const auto head_of = [&](int each) { return (of_tiles ? each / queries.tiles() : each) % heads; };
        const int number = number_of(row), head = head_of(row);
        int count = 1;  // of rows that have these keys
        while (row + count < end && number_of(row + count) == number && head_of(row + count) == head) ++count;
        ptx::bar_sync(0);  // the means before have been read
        for (int i = threadIdx.x; i < kBiasRows * row_floats; i += kTile) {
            const int r = i / row_floats, d = i % row_floats;
            means[i] = r < count && d < depth ? q_means[static_cast<long long>(row + r) * depth + d] : 0.0f;
        }
        ptx::bar_sync(0);
        const Sequence sequence = keys.sequence(number);
        const int kv = sequence.batch * kv_heads + key_head(head, heads, kv_heads);
        const T* k = key < sequence.length
                         ? k_smooth + (static_cast<long long>(kv) * keys.tokens + sequence.first + key) * depth
                         : nullptr;
        float* const out = bias + static_cast<long long>(row) * columns + key;
#pragma unroll 1
        for (int r = 0; r < count; r += kRowsAtOnce)  // more at once take NVRTC half a second longer
            bias_of_rows<kRowsAtOnce>(means + r * row_floats, row_floats, k, depth, out + static_cast<long long>(r) * columns,
                                      columns, count - r);
        row += count;
    }
}

// shift[BH, L] = q . k_mean: what every logit of a row lacks. It leaves the weights alone; only the
// log-sum-exp wants it back. One block a tile, one warp a row.
template <class T>
__device__ void row_shift(const Strided<T>& q, const Side& side, const float* k_means, float* shift, int heads,
                          int kv_heads, int depth) {
    const TileOf tile = TileOf::of(side, heads, blockIdx.x);
    const int head = tile.bh % heads, lane = threadIdx.x % 32;
    const float* mean = k_means + (static_cast<long long>(tile.sequence.number) * kv_heads +
                                   key_head(head, heads, kv_heads)) * depth;
    for (int i = threadIdx.x / 32; i < tile.rows(); i += kSmoothThreads / 32) {
        const T* x = q.row(tile.sequence.batch, head, tile.token(i));
        float dot = 0.0f;
        for (int d = lane; d < depth; d += 32) dot = ptx::fma_rn_f32(widen(x[d]), mean[d], dot);
        for (int mask = 16; mask > 0; mask >>= 1)
            dot = ptx::add_rn_f32(dot, ptx::shfl_sync_bfly_f32(dot, mask));
        if (lane == 0) shift[static_cast<long long>(tile.bh) * side.tokens + tile.token(i)] = dot;
    }
}

}  // namespace sage3

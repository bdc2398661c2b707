// SPDX-License-Identifier: Apache-2.0
// Smoothing: Q loses the mean of each 128 queries or of all, K and V that of all their keys, and what that takes
// from the logits comes back as a bias for each key. The tensors are not touched: the results are copies.
#pragma once
#include "../common/ptx_sync.cuh"
#include "sage3_sequence.cuh"

namespace sage3 {

constexpr int kSmoothThreads = 256, kMeanThreads = 1024;
constexpr int kMeanChannels = 32;  // of a block

// Means over the tokens of each tile: [BH, stored / 128, D], zeros where a tile has none. One block makes 32 channels of
// one mean; of 32 threads that share a channel each adds every 32nd token.
template <class T>
__device__ void tile_mean(const Strided<T>& x, const Side& side, float* means, int heads, int depth) {
    constexpr int kParts = kMeanThreads / kMeanChannels;
    __shared__ float sums[kParts][kMeanChannels];
    const int slices = (depth + kMeanChannels - 1) / kMeanChannels, number = blockIdx.x / slices;
    const TileOf tile = TileOf::of(side, heads, number);
    const int channel = blockIdx.x % slices * kMeanChannels + threadIdx.x % kMeanChannels;
    const int part = threadIdx.x / kMeanChannels, rows = tile.rows();
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kTile / kParts; ++i) {
        const int row = part + i * kParts;
        if (channel < depth && row < rows)
            sum = ptx::add_rn_f32(sum, widen(x.row(tile.sequence.batch, tile.bh % heads, tile.token(row))[channel]));
    }
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

// bias[rows of Q means, columns] = q_mean . k_smooth: what each key's logit lacks for all queries of that mean, 0 for
// keys of the padding. Grid: rows * columns / 128; one thread a key.
template <class T>
__device__ void key_bias(const float* q_means, bool of_tiles, const Side& queries, const T* k_smooth, const Side& keys,
                         float* bias, int columns, int heads, int kv_heads, int depth) {
    __shared__ float q_mean[kMaxDepth];
    const int key_tiles = columns / kTile;
    const int row = blockIdx.x / key_tiles;  // of q_means and bias
    const int key = blockIdx.x % key_tiles * kTile + threadIdx.x;
    const int number = of_tiles ? TileOf::of(queries, heads, row).sequence.number : row / heads;
    const int head = (of_tiles ? row / queries.tiles() : row) % heads;
    const Sequence sequence = keys.sequence(number);
    for (int d = threadIdx.x; d < depth; d += kTile) q_mean[d] = q_means[static_cast<long long>(row) * depth + d];
    ptx::bar_sync(0);
    float dot = 0.0f;
    if (key < sequence.length) {
        const int kv = sequence.batch * kv_heads + key_head(head, heads, kv_heads);
        const T* k = k_smooth + (static_cast<long long>(kv) * keys.tokens + sequence.first + key) * depth;
        for (int d = 0; d < depth; ++d) dot = ptx::fma_rn_f32(q_mean[d], widen(k[d]), dot);
    }
    bias[static_cast<long long>(row) * columns + key] = dot;
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

// SPDX-License-Identifier: Apache-2.0
// Smoothing: Q loses the mean of each 128 queries, K the mean of all its keys, and what that takes
// from the logits comes back as a bias for each key. K itself is not touched: the result is a copy.
#pragma once
#include "../common/ptx_sync.cuh"
#include "sage3_common.cuh"

namespace sage3 {

constexpr int kSmoothThreads = 256;

// Means over rows of rows_per_mean tokens each, the last shorter. One block makes one row of
// means [BH, ceil(L / rows_per_mean), D], D <= 128. Threads t and t + 128 share a channel.
template <class T>
__device__ void mean(const Strided<T>& x, float* means, int heads, int length, int depth,
                     int rows_per_mean) {
    constexpr int kChannels = 128, kRun = 16;
    __shared__ float partial[kChannels];
    const int groups = (length + rows_per_mean - 1) / rows_per_mean;
    const int group = blockIdx.x % groups, bh = blockIdx.x / groups;
    const int channel = threadIdx.x % kChannels, part = threadIdx.x / kChannels;
    const int first = group * rows_per_mean;
    const int end = first + rows_per_mean < length ? first + rows_per_mean : length;
    float sum = 0.0f;
    if (channel < depth)
        for (int run = first + part; run < end; run += 2 * kRun) {  // short runs lose fewer bits
            float of_run = 0.0f;
            for (int l = run; l < run + 2 * kRun && l < end; l += 2)
                of_run = ptx::add_rn_f32(of_run, widen(x.row(bh / heads, bh % heads, l)[channel]));
            sum = ptx::add_rn_f32(sum, of_run);
        }
    if (part == 1) partial[channel] = sum;
    ptx::bar_sync(0);
    if (part == 0 && channel < depth)
        means[static_cast<long long>(blockIdx.x) * depth + channel] = ptx::div_rn_f32(
            ptx::add_rn_f32(sum, partial[channel]), static_cast<float>(end - first));
}

// x - its mean, rounded to T, without gaps: [BH, L, D]. One thread an element.
template <class T>
__device__ void subtract_mean(const Strided<T>& x, const float* means, T* smooth, int heads, int length,
                              int depth, int rows_per_mean, long long elements) {
    const long long i = static_cast<long long>(blockIdx.x) * kSmoothThreads + threadIdx.x;
    if (i >= elements) return;
    const int channel = static_cast<int>(i % depth);
    const long long row = i / depth;
    const int l = static_cast<int>(row % length), bh = static_cast<int>(row / length);
    const int groups = (length + rows_per_mean - 1) / rows_per_mean;
    const float m = means[(static_cast<long long>(bh) * groups + l / rows_per_mean) * depth + channel];
    smooth[i] = narrow<T>(ptx::sub_rn_f32(widen(x.row(bh / heads, bh % heads, l)[channel]), m));
}

// bias[BH, Lq / 128, LkP] = q_mean . k_smooth: what each key's logit lacks for all queries of a
// tile, 0 for keys of the padding. Grid: B * H * query tiles * key tiles; one thread a key.
template <class T>
__device__ void key_bias(const float* q_means, const T* k_smooth, float* bias, int heads, int kv_heads,
                         int query_tiles, int lk, int depth) {
    __shared__ float q_mean[128];
    const int key_tiles = padded(lk) / kTile;
    const int row = blockIdx.x / key_tiles;  // of q_means and bias
    const int key = blockIdx.x % key_tiles * kTile + threadIdx.x;
    const int bh = row / query_tiles;
    const int kv = bh / heads * kv_heads + bh % heads / (heads / kv_heads);
    if (threadIdx.x < static_cast<unsigned>(depth))
        q_mean[threadIdx.x] = q_means[static_cast<long long>(row) * depth + threadIdx.x];
    ptx::bar_sync(0);
    float dot = 0.0f;
    if (key < lk) {
        const T* k = k_smooth + (static_cast<long long>(kv) * lk + key) * depth;
        for (int d = 0; d < depth; ++d) dot = ptx::fma_rn_f32(q_mean[d], widen(k[d]), dot);
    }
    bias[static_cast<long long>(row) * key_tiles * kTile + key] = dot;
}

// shift[BH, L] = q . k_mean: what every logit of a row lacks. It leaves the weights alone; only the
// log-sum-exp wants it back. One warp a row.
template <class T>
__device__ void row_shift(const Strided<T>& q, const float* k_means, float* shift, int heads, int kv_heads,
                          int lq, int depth, long long rows) {
    const long long row = (static_cast<long long>(blockIdx.x) * kSmoothThreads + threadIdx.x) / 32;
    if (row >= rows) return;  // whole warps leave
    const int lane = threadIdx.x % 32;
    const int l = static_cast<int>(row % lq), bh = static_cast<int>(row / lq);
    const int kv = bh / heads * kv_heads + bh % heads / (heads / kv_heads);
    const T* x = q.row(bh / heads, bh % heads, l);
    float dot = 0.0f;
    for (int d = lane; d < depth; d += 32)
        dot = ptx::fma_rn_f32(widen(x[d]), k_means[static_cast<long long>(kv) * depth + d], dot);
    for (int mask = 16; mask > 0; mask >>= 1)
        dot = ptx::add_rn_f32(dot, ptx::shfl_sync_bfly_f32(dot, mask));
    if (lane == 0) shift[row] = dot;
}

}  // namespace sage3

// SPDX-License-Identifier: Apache-2.0
// One value for each channel of a head and a sequence, of all its tokens: their mean, or their largest magnitude.
#pragma once
#include "../common/ptx_cluster.cuh"
#include "../common/ptx_cp_async.cuh"
#include "../common/ptx_sync.cuh"
#include "sage3_channels.cuh"

namespace sage3 {

constexpr int kSequenceThreads = 512, kSequenceBlocks = 8;  // of a cluster, which makes one row of values
constexpr int kMaxDepth = 256;

struct SumOf {
    __device__ __forceinline__ static float add(float all, float x, float) { return ptx::add_rn_f32(all, x); }
    __device__ __forceinline__ static float join(float a, float b) { return ptx::add_rn_f32(a, b); }
};
// Of x less its mean.
struct LargestOf {
    __device__ __forceinline__ static float add(float all, float x, float mean) {
        return ptx::max_NaN_f32(all, ptx::abs_f32(ptx::sub_rn_f32(x, mean)));
    }
    __device__ __forceinline__ static float join(float a, float b) { return ptx::max_NaN_f32(a, b); }
};

// What this block's threads have over the tokens that are theirs, joined: by thread c that of channel c.
template <class Op>
__device__ __forceinline__ float joined(const float (&mine)[kChannels], float* parts, int vectors, int rows) {
    const int channels = vectors * kChannels;
    if (static_cast<int>(threadIdx.x) < rows * vectors)
#pragma unroll
        for (int c = 0; c < kChannels; ++c) parts[threadIdx.x * kChannels + c] = mine[c];
    ptx::bar_sync(0);
    float out = 0.0f;
    if (static_cast<int>(threadIdx.x) < channels)
#pragma unroll 8
        for (int row = 0; row < rows; ++row) out = Op::join(out, parts[row * channels + threadIdx.x]);
    return out;
}

// x [B, H, L, D] -> by thread c of the cluster's first block: Op over all tokens of channel c. means [sequences, H, D] may
// be null. A cluster's blocks take turns in the tokens, a thread eight channels of each of its own.
template <class Op, class T>
__device__ __forceinline__ float of_sequence(const Strided<T>& x, const Sequence& sequence, int head, const float* means,
                                             int depth) {
    constexpr int kRun = 6;  // loads in flight
    __shared__ float parts[kSequenceThreads * kChannels];
    __shared__ float of_block[kMaxDepth];
    const int vectors = (depth + kChannels - 1) / kChannels, rows = kSequenceThreads / vectors;
    const int channel = threadIdx.x % vectors * kChannels, row = threadIdx.x / vectors, step = rows * kSequenceBlocks;
    const bool whole = whole_vectors(x) && channel + kChannels <= depth;
    float mean[kChannels], mine[kChannels] = {};
#pragma unroll
    for (int c = 0; c < kChannels; ++c) mean[c] = means && channel + c < depth ? means[channel + c] : 0.0f;
    if (row < rows)
        for (int first = ptx::cluster_ctarank() * rows + row; first < sequence.length; first += step * kRun) {
            Channels<T> tokens[kRun];
#pragma unroll
            for (int i = 0; i < kRun; ++i)
                if (first + i * step < sequence.length)
                    tokens[i] = Channels<T>::of(x.row(sequence.batch, head, sequence.first + first + i * step), channel,
                                                depth, whole);
#pragma unroll
            for (int i = 0; i < kRun; ++i)
                if (first + i * step < sequence.length)
#pragma unroll
                    for (int c = 0; c < kChannels; ++c) mine[c] = Op::add(mine[c], tokens[i].value(c), mean[c]);
        }
    const float of_mine = joined<Op>(mine, parts, vectors, rows);
    if (static_cast<int>(threadIdx.x) < depth) of_block[threadIdx.x] = of_mine;
    ptx::barrier_cluster_arrive_release();
    ptx::barrier_cluster_wait_acquire();
    float out = 0.0f;
    if (ptx::cluster_ctarank() == 0 && static_cast<int>(threadIdx.x) < depth)
        for (unsigned rank = 0; rank < kSequenceBlocks; ++rank)
            out = Op::join(out, ptx::ld_shared_cluster_f32(
                                    ptx::mapa_shared_cluster(ptx::cvta_to_shared(&of_block[threadIdx.x]), rank)));
    ptx::barrier_cluster_arrive_release();  // a block's memory stays until it has been read
    ptx::barrier_cluster_wait_acquire();
    return out;
}

// Number of the row of values that this cluster makes.
__device__ __forceinline__ int cluster_row() { return blockIdx.x / kSequenceBlocks; }
__device__ __forceinline__ bool writes_channel(int depth) {
    return ptx::cluster_ctarank() == 0 && static_cast<int>(threadIdx.x) < depth;
}

// means [sequences, H, D]; 0 of a sequence without tokens.
template <class T>
__device__ void sequence_mean(const Strided<T>& x, const Side& side, float* means, int heads, int depth) {
    const Sequence sequence = side.sequence(cluster_row() / heads);
    const float sum = of_sequence<SumOf>(x, sequence, cluster_row() % heads, nullptr, depth);
    if (writes_channel(depth))
        means[static_cast<long long>(cluster_row()) * depth + threadIdx.x] =
            sequence.length == 0 ? 0.0f : ptx::div_rn_f32(sum, static_cast<float>(sequence.length));
}

// largest [sequences, H, kDepth]: the largest magnitude of x less its means, if any; 0 of channels beyond depth.
template <int kDepth, class T>
__device__ void sequence_largest(const Strided<T>& x, const Side& side, const float* means, float* largest, int heads,
                                 int depth) {
    const long long row = cluster_row();
    const float most = of_sequence<LargestOf>(x, side.sequence(cluster_row() / heads), cluster_row() % heads,
                                              means ? means + row * depth : nullptr, depth);
    if (writes_channel(kDepth)) largest[row * kDepth + threadIdx.x] = most;
}

}  // namespace sage3

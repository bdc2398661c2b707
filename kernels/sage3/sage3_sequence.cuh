// SPDX-License-Identifier: Apache-2.0
// One value for each channel of a head and a sequence, of all its tokens: their mean, or their largest magnitude. A cluster
// makes a row of values: its blocks take turns in the tokens, a thread eight channels of each of its own.
#pragma once
#include "../common/ptx_cluster.cuh"
#include "../common/ptx_cp_async.cuh"
#include "../common/ptx_sync.cuh"
#include "sage3_channels.cuh"

namespace sage3 {

constexpr int kMaxDepth = 256;
constexpr int kSequenceThreads = 512, kMostSequenceBlocks = 8;  // of a cluster
static_assert(kMaxDepth <= kSequenceThreads, "a thread joins a channel");

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

// In shared memory: what is joined of a block's warps, and, in each block that wants it, of the cluster's blocks; for each of
// two values that a kernel makes.
struct Parts {
    __align__(16) float of_warps[kSequenceThreads / 32][kMaxDepth];
    float of_blocks[2][kMostSequenceBlocks][kMaxDepth];
};

// Which tokens and channels a thread takes of all of a sequence's.
struct Share {
    int lanes;  // that take a token: a power of two
    int first, step, channel;

    __device__ __forceinline__ static Share of(int depth) {
        Share out;
        for (out.lanes = 1; out.lanes * kChannels < depth;) out.lanes *= 2;
        const int rows = kSequenceThreads / out.lanes;
        out.first = ptx::cluster_ctarank() * rows + threadIdx.x / out.lanes;
        out.step = rows * ptx::cluster_nctarank();
        out.channel = threadIdx.x % out.lanes * kChannels;
        return out;
    }
};

// Joins to `all` the tokens x, x + step, ... `there`: the channels that exist of eight. Half of the loads in flight are waited
// for while the others come.
template <class Op, bool kWhole, class T>
__device__ __forceinline__ void take_tokens(const T* x, long long step, int count, int there, const float (&mean)[kChannels],
                                            float (&all)[kChannels]) {
    constexpr int kRun = kWhole ? 2 : 1;
    Channels<T> tokens[2][kRun];
    const auto load = [&](int run, int first) {
#pragma unroll
        for (int i = 0; i < kRun; ++i)
            if (first + i < count) tokens[run][i] = Channels<T>::of(x + (first + i) * step, 0, there, kWhole);
    };
    load(0, 0);
    load(1, kRun);
#pragma unroll 1
    for (int first = 0; first < count; first += 2 * kRun)
#pragma unroll
        for (int run = 0; run < 2; ++run) {
#pragma unroll
            for (int i = 0; i < kRun; ++i)
                if (first + run * kRun + i < count)
#pragma unroll
                    for (int c = 0; c < kChannels; ++c) all[c] = Op::add(all[c], tokens[run][i].value(c), mean[c]);
            load(run, first + (run + 2) * kRun);
        }
}

// By thread c: of channel c over the tokens that are this block's; 0 beyond depth. mean: of the thread's channels.
template <class Op, class T>
__device__ __forceinline__ float of_block(const Strided<T>& x, const Sequence& sequence, int head, const Share& share,
                                          const float (&mean)[kChannels], int depth, Parts& parts) {
    const int there = depth - share.channel < kChannels ? depth - share.channel : kChannels;
    const int left = there > 0 ? sequence.length - share.first : 0;
    const int count = left > 0 ? (left + share.step - 1) / share.step : 0;
    const T* const first = x.row(sequence.batch, head, sequence.first + share.first) + share.channel;
    float all[kChannels] = {};
    if (whole_vectors(x) && there == kChannels) take_tokens<Op, true>(first, share.step * x.token, count, there, mean, all);
    else take_tokens<Op, false>(first, share.step * x.token, count, there, mean, all);
#pragma unroll 1
    for (int mask = 16; mask >= share.lanes; mask /= 2)  // a warp's rows
#pragma unroll
        for (int c = 0; c < kChannels; ++c) all[c] = Op::join(all[c], ptx::shfl_sync_bfly_f32(all[c], mask));
    if (static_cast<int>(threadIdx.x) % 32 < share.lanes) {
        float* const of_warp = &parts.of_warps[threadIdx.x / 32][share.channel];
        *reinterpret_cast<float4*>(of_warp) = make_float4(all[0], all[1], all[2], all[3]);
        *reinterpret_cast<float4*>(of_warp + 4) = make_float4(all[4], all[5], all[6], all[7]);
    }
    ptx::bar_sync(0);
    float out = 0.0f;
    if (static_cast<int>(threadIdx.x) < depth)
#pragma unroll
        for (int warp = 0; warp < kSequenceThreads / 32; ++warp) out = Op::join(out, parts.of_warps[warp][threadIdx.x]);
    return out;
}

// The same of all blocks, from each one's value; `everywhere`, else in the cluster's first block. All blocks must have begun.
template <class Op>
__device__ __forceinline__ float of_cluster(float of_block, bool everywhere, int depth,
                                            float (&of_blocks)[kMostSequenceBlocks][kMaxDepth]) {
    const unsigned rank = ptx::cluster_ctarank(), blocks = ptx::cluster_nctarank();
    if (static_cast<int>(threadIdx.x) < depth) {
        const unsigned place = ptx::cvta_to_shared(&of_blocks[rank][threadIdx.x]);
        for (unsigned to = 0; to < (everywhere ? blocks : 1u); ++to)
            ptx::st_shared_cluster_f32(ptx::mapa_shared_cluster(place, to), of_block);
    }
    ptx::barrier_cluster_arrive_release();
    if (!everywhere && rank != 0) return 0.0f;  // nobody writes here any more: the block may end
    ptx::barrier_cluster_wait_acquire();
    float out = 0.0f;
    if (static_cast<int>(threadIdx.x) < depth)
#pragma unroll
        for (unsigned block = 0; block < kMostSequenceBlocks; ++block)
            if (block < blocks) out = Op::join(out, of_blocks[block][threadIdx.x]);
    return out;
}

// Number of the row of values that this cluster makes.
__device__ __forceinline__ int cluster_row() { return blockIdx.x / ptx::cluster_nctarank(); }
__device__ __forceinline__ bool writes_channel(int depth) {
    return ptx::cluster_ctarank() == 0 && static_cast<int>(threadIdx.x) < depth;
}

// The mean of channel threadIdx.x, 0 of a sequence without tokens: `everywhere`, else in the cluster's first block. Behind
// barrier_cluster_arrive_relaxed, for which it waits.
template <class T>
__device__ __forceinline__ float mean_of_sequence(const Strided<T>& x, const Sequence& sequence, int head, const Share& share,
                                                  bool everywhere, int depth, Parts& parts) {
    const float of_mine = of_block<SumOf>(x, sequence, head, share, {}, depth, parts);
    ptx::barrier_cluster_wait_acquire();
    const float sum = of_cluster<SumOf>(of_mine, everywhere, depth, parts.of_blocks[0]);
    return sequence.length == 0 ? 0.0f : ptx::div_rn_f32(sum, static_cast<float>(sequence.length));
}

// means [sequences, H, D].
template <class T>
__device__ void sequence_mean(const Strided<T>& x, const Side& side, float* means, int heads, int depth) {
    __shared__ Parts parts;
    ptx::barrier_cluster_arrive_relaxed();
    const float mean = mean_of_sequence(x, side.sequence(cluster_row() / heads), cluster_row() % heads, Share::of(depth),
                                        false, depth, parts);
    if (writes_channel(depth)) means[static_cast<long long>(cluster_row()) * depth + threadIdx.x] = mean;
}

}  // namespace sage3

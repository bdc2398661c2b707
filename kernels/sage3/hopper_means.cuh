// SPDX-License-Identifier: Apache-2.0
// What the Hopper path's quantisers need of whole sequences, in one launch: the means of K, and V's largest magnitudes, less
// its means where it is smoothed.
#pragma once
#include "sage3_sequence.cuh"

namespace sage3 {

// k_means, v_means [sequences, H, D], the latter 0 without smooth_v; v_largest [sequences, H, kDepth], 0 beyond depth. V's
// clusters come first: smoothed it is read twice.
template <int kDepth, class T>
__device__ void means_and_largest(const Strided<T>& k, const Strided<T>& v, const Side& side, float* k_means, float* v_means,
                                  float* v_largest, bool smooth_v, int heads, int depth) {
    __shared__ Parts parts;
    __shared__ __align__(16) float mean_of[kMaxDepth];
    const int rows = gridDim.x / (2 * ptx::cluster_nctarank());
    const bool of_v = cluster_row() < rows;
    const Strided<T> x{of_v ? v.data : k.data, of_v ? v.batch : k.batch, of_v ? v.head : k.head, of_v ? v.token : k.token};
    const long long row = of_v ? cluster_row() : cluster_row() - rows;
    const Sequence sequence = side.sequence(static_cast<int>(row) / heads);
    const int head = static_cast<int>(row) % heads;
    const Share share = Share::of(depth);
    ptx::barrier_cluster_arrive_relaxed();
    float mean = 0.0f, less[kChannels] = {};
    if (!of_v || smooth_v) {
        mean = mean_of_sequence(x, sequence, head, share, of_v, depth, parts);
        if (!of_v) {
            if (writes_channel(depth)) k_means[row * depth + threadIdx.x] = mean;
            return;
        }
        if (threadIdx.x < kMaxDepth) mean_of[threadIdx.x] = mean;
        ptx::bar_sync(0);
#pragma unroll
        for (int c = 0; c < kChannels; ++c) less[c] = mean_of[share.channel + c];
    }
    const float of_mine = of_block<LargestOf>(x, sequence, head, share, less, depth, parts);
    if (!smooth_v) ptx::barrier_cluster_wait_acquire();
    const float most = of_cluster<LargestOf>(of_mine, false, depth, parts.of_blocks[1]);
    if (writes_channel(depth)) v_means[row * depth + threadIdx.x] = mean;
    if (writes_channel(kDepth)) v_largest[row * kDepth + threadIdx.x] = most;
}

}  // namespace sage3

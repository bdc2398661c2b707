// SPDX-License-Identifier: Apache-2.0
// Cooperative groups, asynchronous copies and barriers of libcu++.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

extern "C" __global__ void groups(const int* in, int* out, unsigned* hits) {
    const cg::thread_block block = cg::this_thread_block();
    const auto warp = cg::tiled_partition<32>(block);
    const int value = in[block.group_index().x * block.size() + block.thread_rank()];
    const int sum = cg::reduce(warp, value, cg::plus<int>());
    const auto active = cg::coalesced_threads();
    if (value > 3) {
        const auto equal = cg::labeled_partition(cg::coalesced_threads(), value);
        if (equal.thread_rank() == 0) atomicAdd(hits, equal.size());
    }
    out[threadIdx.x] = sum + warp.shfl_down(value, 2) + warp.any(value) + static_cast<int>(active.size());
    block.sync();
}

extern "C" __global__ void staged_copy(const float4* in, float4* out, cuda::atomic<int, cuda::thread_scope_device>* count) {
    __shared__ float4 tile[128];
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(Barrier) char storage[sizeof(Barrier)];
    Barrier& barrier = *reinterpret_cast<Barrier*>(storage);
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], cuda::aligned_size_t<16>(16), barrier);
    barrier.arrive_and_wait();
    out[threadIdx.x] = tile[127 - threadIdx.x];
    count->fetch_add(1, cuda::memory_order_release);
}

// SPDX-License-Identifier: Apache-2.0
// Block-wide algorithms of CUB, as the toolkit ships them.
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

constexpr int kThreads = 128, kItems = 4;

extern "C" __global__ void cub_scan(const int* in, int* out, int) {
    using Scan = cub::BlockScan<int, kThreads>;
    __shared__ typename Scan::TempStorage storage;
    int items[kItems];
    for (int k = 0; k < kItems; ++k) items[k] = in[threadIdx.x * kItems + k];
    Scan(storage).InclusiveSum(items, items);
    for (int k = 0; k < kItems; ++k) out[threadIdx.x * kItems + k] = items[k];
}

extern "C" __global__ void cub_reduce(const int* in, int* out, int) {
    using Reduce = cub::BlockReduce<int, kThreads>;
    __shared__ typename Reduce::TempStorage storage;
    int items[kItems];
    for (int k = 0; k < kItems; ++k) items[k] = in[threadIdx.x * kItems + k];
    const int sum = Reduce(storage).Sum(items);
    if (threadIdx.x == 0) out[0] = sum;
}

extern "C" __global__ void cub_sort(const int* in, int* out, int) {
    using Sort = cub::BlockRadixSort<int, kThreads, kItems>;
    __shared__ typename Sort::TempStorage storage;
    int items[kItems];
    for (int k = 0; k < kItems; ++k) items[k] = in[threadIdx.x * kItems + k];
    Sort(storage).Sort(items);
    for (int k = 0; k < kItems; ++k) out[threadIdx.x * kItems + k] = items[k];
}

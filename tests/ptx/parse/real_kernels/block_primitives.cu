// SPDX-License-Identifier: Apache-2.0
// CUB's block-wide sort, scan and reduction.
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

extern "C" __global__ void block_sort(int* keys) {
    using Sort = cub::BlockRadixSort<int, 128, 4>;
    __shared__ typename Sort::TempStorage storage;
    int mine[4];
    for (int i = 0; i < 4; ++i) mine[i] = keys[threadIdx.x * 4 + i];
    Sort(storage).Sort(mine);
    for (int i = 0; i < 4; ++i) keys[threadIdx.x * 4 + i] = mine[i];
}

extern "C" __global__ void block_scan(float* values, double* total) {
    using Scan = cub::BlockScan<float, 256>;
    using Reduce = cub::BlockReduce<double, 256>;
    __shared__ typename Scan::TempStorage scan;
    __shared__ typename Reduce::TempStorage reduce;
    float value = values[threadIdx.x];
    Scan(scan).InclusiveSum(value, value);
    values[threadIdx.x] = value;
    const double sum = Reduce(reduce).Sum(static_cast<double>(value));
    if (threadIdx.x == 0) *total = sum;
}

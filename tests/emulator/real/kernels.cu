// SPDX-License-Identifier: Apache-2.0
// Ordinary CUDA C++ for the emulator: what real_test.cpp runs and compares with the CPU.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void reduce_sum(const int* in, int* out, int n) {
    __shared__ int partial[32];
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
        for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
        if (threadIdx.x == 0) atomicAdd(out, sum);
    }
}

// Inclusive scan of one block by shuffles.
extern "C" __global__ void scan(const int* in, int* out, int n) {
    __shared__ int totals[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int value = threadIdx.x < n ? in[threadIdx.x] : 0;
    for (int d = 1; d < 32; d *= 2) {
        const int other = __shfl_up_sync(0xffffffff, value, d);
        if (lane >= d) value += other;
    }
    if (lane == 31) totals[warp] = value;
    __syncthreads();
    if (warp == 0) {
        int total = lane < (blockDim.x + 31) / 32 ? totals[lane] : 0;
        for (int d = 1; d < 32; d *= 2) {
            const int other = __shfl_up_sync(0xffffffff, total, d);
            if (lane >= d) total += other;
        }
        totals[lane] = total;
    }
    __syncthreads();
    if (warp > 0) value += totals[warp - 1];
    if (threadIdx.x < n) out[threadIdx.x] = value;
}

extern "C" __global__ void histogram(const int* in, int* out, int n) {
    extern __shared__ int bins[];
    for (int i = threadIdx.x; i < 64; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i] & 63], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 64; i += blockDim.x) atomicAdd(&out[i], bins[i]);
}

// n x n, tiles of 32 x 32, blocks of 32 x 8.
extern "C" __global__ void transpose(const int* in, int* out, int n) {
    __shared__ int tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < n && y + j < n) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < n && y + j < n) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

// One block sorts n = 2 * blockDim.x values.
extern "C" __global__ void bitonic_sort(const int* in, int* out, int n) {
    extern __shared__ int data[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = in[i];
    for (int k = 2; k <= n; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            const int i = 2 * threadIdx.x - (threadIdx.x & (j - 1)), other = i + j;
            const bool up = (i & k) == 0;
            if ((data[i] > data[other]) == up) {
                const int swap = data[i];
                data[i] = data[other];
                data[other] = swap;
            }
        }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = data[i];
}

// A virtual function, a table of function pointers, recursion, and a local array.
struct Shape {
    __device__ virtual int area(int x) const = 0;
};
struct Square : Shape {
    __device__ int area(int x) const override { return x * x; }
};
struct Strip : Shape {
    __device__ int area(int x) const override { return 3 * x + 1; }
};
__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int negated(int x) { return -x; }
__device__ int (*const functions[])(int) = {twice, negated, fibonacci};

extern "C" __global__ void dispatch(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int x = in[i] & 15;
    Square square;
    Strip strip;
    const Shape* shape = x & 1 ? static_cast<const Shape*>(&square) : &strip;
    int local[16];
    for (int k = 0; k < 16; ++k) local[(k + x) & 15] = k;
    out[i] = shape->area(x) * 1000 + functions[x % 3](x) + local[(x * 7) & 15];
}

// A ticket lock: critical sections of single lanes, over all blocks.
__device__ unsigned tickets, serving;
extern "C" __global__ void ticket_lock(const int* in, int* out, int n) {
    for (int lane = 0; lane < 32; ++lane)
        if (threadIdx.x % 32 == lane) {
            const unsigned mine = atomicAdd(&tickets, 1u);
            while (*reinterpret_cast<volatile unsigned*>(&serving) != mine) {
            }
            *reinterpret_cast<volatile int*>(out) += in[(blockIdx.x * blockDim.x + threadIdx.x) % n];
            __threadfence();
            atomicAdd(&serving, 1u);
        }
}

// Groups of cooperative groups: tiles, coalesced groups, the whole grid twice.
extern "C" __global__ void grid_sync(const int* in, int* out, int n) {
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int* const stage = out + n;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) stage[i] = in[i] * 3;
    grid.sync();
    for (int i = grid.thread_rank(); i < n; i += grid.size()) out[i] = stage[n - 1 - i];
    grid.sync();
    if (grid.thread_rank() < 8) {
        int sum = 0;
        for (int i = tile.thread_rank(); i < n; i += 8) sum += out[i];
        for (int offset = 4; offset > 0; offset /= 2) sum += tile.shfl_down(sum, offset);
        if (tile.thread_rank() == 0) out[0] = sum;
    }
}

extern "C" __global__ void coalesced(const int* in, int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        int start = 0;
        if (active.thread_rank() == 0) start = atomicAdd(out, static_cast<int>(active.size()));
        start = active.shfl(start, 0);
        out[1 + start + active.thread_rank()] = in[i];
    }
}

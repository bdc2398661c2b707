// SPDX-License-Identifier: Apache-2.0
// A Hopper GEMM in the shape that real ones have: one warp loads tiles by TMA into a ring of stages,
// one warpgroup multiplies by wgmma with one group in flight. C (64 x 128 a block, f32) = A * B^T;
// A and B are bf16, K contiguous, in tiles of 64 columns with a 128-byte swizzle.
#include <cuda/std/cstdint>

using namespace cuda::std;

struct alignas(64) Map { uint8_t bytes[128]; };

constexpr int kStages = 3, kM = 64, kN = 128, kK = 64;
constexpr int kABytes = kM * kK * 2, kBBytes = kN * kK * 2;

__device__ uint32_t shared(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ void init(uint64_t* bar, int count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(bar)), "r"(count)); }
__device__ void wait(uint64_t* bar, int parity) {
    asm volatile("{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra DONE; bra AGAIN; DONE: }" ::"r"(shared(bar)), "r"(parity) : "memory");
}
__device__ void arrive(uint64_t* bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared(bar)) : "memory"); }
__device__ void expect(uint64_t* bar, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [%0], %1;" ::"r"(shared(bar)), "r"(bytes) : "memory");
}
__device__ void load(void* to, const Map* map, int x, int y, uint64_t* bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(shared(to)), "l"(map), "r"(x), "r"(y), "r"(shared(bar)) : "memory");
}
__device__ uint64_t descriptor(const void* tile) {
    return (shared(tile) & 0x3ffff) >> 4 | uint64_t{1} << 16 | uint64_t{1024 >> 4} << 32 | uint64_t{1} << 62;
}

#define R4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define R16(i) R4(i), R4(i + 4), R4(i + 8), R4(i + 12)
__device__ void multiply(float (&d)[64], uint64_t a, uint64_t b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
        "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, "
        "%27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, "
        "%52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0;"
        : R16(0), R16(16), R16(32), R16(48) : "l"(a), "l"(b));
}

extern "C" __global__ void __launch_bounds__(160) hopper_gemm(const __grid_constant__ Map a_map, const __grid_constant__ Map b_map, float* c, int n, int k) {
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ uint64_t full[kStages], empty[kStages];
    const int warp = threadIdx.x / 32, steps = k / kK;
    if (threadIdx.x == 0) {
        for (int s = 0; s < kStages; ++s) init(&full[s], 1), init(&empty[s], 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (warp == 4) {
        if (threadIdx.x % 32 == 0)
#pragma unroll 1
            for (int i = 0; i < steps; ++i) {
                const int s = i % kStages;
                uint8_t* stage = memory + s * (kABytes + kBBytes);
                wait(&empty[s], (i / kStages & 1) ^ 1);
                expect(&full[s], kABytes + kBBytes);
                load(stage, &a_map, i * kK, blockIdx.y * kM, &full[s]);
                load(stage + kABytes, &b_map, i * kK, blockIdx.x * kN, &full[s]);
            }
        return;
    }
    float d[64] = {};
#pragma unroll 1
    for (int i = 0; i < steps; ++i) {
        const int s = i % kStages;
        const uint8_t* stage = memory + s * (kABytes + kBBytes);
        wait(&full[s], i / kStages & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int step = 0; step < kK / 16; ++step) multiply(d, descriptor(stage) + 2 * step, descriptor(stage + kABytes) + 2 * step);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (i > 0 && threadIdx.x == 0) arrive(&empty[(i - 1) % kStages]);
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 64; ++i) asm volatile("" : "+f"(d[i])::"memory");
    const int row = blockIdx.y * kM + warp * 16 + threadIdx.x % 32 / 4, column = blockIdx.x * kN + threadIdx.x % 4 * 2;
    for (int i = 0; i < 64; ++i) c[(row + i / 2 % 2 * 8) * n + column + i / 4 * 8 + i % 2] = d[i];
}

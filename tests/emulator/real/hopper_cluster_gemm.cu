// SPDX-License-Identifier: Apache-2.0
// The GEMM of hopper_gemm.cu for clusters of two blocks that share B: each loads half of a tile of B and
// multicasts it to both, so that a stage is empty when the consumers of both blocks say so. A block works
// through all tiles of its rows; C leaves through shared memory by tensor stores.
#include <cuda/std/cstdint>

using namespace cuda::std;

struct alignas(64) Map { uint8_t bytes[128]; };

constexpr int kStages = 3, kM = 64, kN = 128, kK = 64, kBlocks = 2;
constexpr int kABytes = kM * kK * 2, kBBytes = kN * kK * 2;

__device__ uint32_t shared(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ void init(uint64_t* bar, int count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(bar)), "r"(count)); }
__device__ void wait(uint64_t* bar, int parity) {
    asm volatile("{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra DONE; bra AGAIN; DONE: }" ::"r"(shared(bar)), "r"(parity) : "memory");
}
__device__ void arrive_at(uint64_t* bar, int block) {
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }" ::"r"(shared(bar)), "r"(block) : "memory");
}
__device__ void expect(uint64_t* bar, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [%0], %1;" ::"r"(shared(bar)), "r"(bytes) : "memory");
}
__device__ void load(void* to, const Map* map, int x, int y, uint64_t* bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(shared(to)), "l"(map), "r"(x), "r"(y), "r"(shared(bar)) : "memory");
}
__device__ void load_for_all(void* to, const Map* map, int x, int y, uint64_t* bar) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                 ::"r"(shared(to)), "l"(map), "r"(x), "r"(y), "r"(shared(bar)), "h"(static_cast<uint16_t>((1 << kBlocks) - 1)) : "memory");
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

extern "C" __global__ void __launch_bounds__(160) hopper_cluster_gemm(const __grid_constant__ Map a_map, const __grid_constant__ Map b_map,
                                                                     const __grid_constant__ Map c_map, int n, int k) {
    extern __shared__ __align__(1024) uint8_t memory[];
    __shared__ uint64_t full[kStages], empty[kStages];
    const int warp = threadIdx.x / 32, steps = k / kK, tiles = n / kN;
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        for (int s = 0; s < kStages; ++s) init(&full[s], 1), init(&empty[s], kBlocks);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (warp == 4) {
        if (threadIdx.x % 32 == 0)
#pragma unroll 1
            for (int i = 0; i < tiles * steps; ++i) {
                const int s = i % kStages, column = i / steps * kN, depth = i % steps * kK;
                uint8_t* stage = memory + s * (kABytes + kBBytes);
                wait(&empty[s], (i / kStages & 1) ^ 1);
                expect(&full[s], kABytes + kBBytes);
                load(stage, &a_map, depth, blockIdx.y * kM, &full[s]);
                load_for_all(stage + kABytes + rank * kBBytes / kBlocks, &b_map, depth, column + rank * kN / kBlocks, &full[s]);
            }
    } else {
        float* out = reinterpret_cast<float*>(memory + kStages * (kABytes + kBBytes));
        int i = 0;
#pragma unroll 1
        for (int tile = 0; tile < tiles; ++tile) {
            float d[64] = {};
#pragma unroll 1
            for (int step = 0; step < steps; ++step, ++i) {
                const int s = i % kStages;
                const uint8_t* stage = memory + s * (kABytes + kBBytes);
                wait(&full[s], i / kStages & 1);
                asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
                for (int part = 0; part < kK / 16; ++part) multiply(d, descriptor(stage) + 2 * part, descriptor(stage + kABytes) + 2 * part);
                asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
                asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
                if (threadIdx.x < kBlocks) arrive_at(&empty[s], threadIdx.x);
            }
            for (int j = 0; j < 64; ++j) asm volatile("" : "+f"(d[j])::"memory");
            // The last store has read the tile; then all may write the next one.
            if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
            asm volatile("bar.sync 1, 128;" ::: "memory");
            const int row = warp * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
            for (int j = 0; j < 64; ++j) out[(row + j / 2 % 2 * 8) * kN + column + j / 4 * 8 + j % 2] = d[j];
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            asm volatile("bar.sync 1, 128;" ::: "memory");
            if (threadIdx.x == 0)
                asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];\n\t"
                             "cp.async.bulk.commit_group;"
                             ::"l"(&c_map), "r"(tile * kN), "r"(blockIdx.y * kM), "r"(shared(out)) : "memory");
        }
    }
    // A block must not end while the other one may still signal its barriers.
    asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
}

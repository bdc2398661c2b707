// SPDX-License-Identifier: Apache-2.0
// Warpgroup-level matrix instructions (sm_90a): one wrapper = one PTX instruction, named like it. D is m64nN: lane
// 4g + t of warp w holds of each 8 columns 2t, 2t + 1 of row 16w + g, then of row 16w + g + 8.
#pragma once

namespace ptx {

__device__ __forceinline__ void wgmma_fence_sync_aligned() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit_group_sync_aligned() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Until at most kPending of this warpgroup's newest groups are in flight.
template <int kPending>
__device__ __forceinline__ void wgmma_wait_group_sync_aligned() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Of a K-major operand in shared memory, rows of kRowBytes (64 or 128) that are swizzled in that width: eight rows lie
// together, the next eight follow them. The address may move on by a multiple of 32 bytes inside the rows.
template <int kRowBytes>
__device__ __forceinline__ unsigned long long wgmma_descriptor(unsigned shared) {
    constexpr unsigned long long kSwizzle = kRowBytes == 128 ? 1 : 2;
    return (shared & 0x3ffff) >> 4 | 1ull << 16 | (8ull * kRowBytes >> 4) << 32 | kSwizzle << 62;
}

// Four registers as operands of an asm statement.
#define WW_R4(d, i) "+r"(d[i]), "+r"(d[(i) + 1]), "+r"(d[(i) + 2]), "+r"(d[(i) + 3])
#define WW_F4(d, i) "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])

// D = A B, + D with `add`; both operands from shared memory.
__device__ __forceinline__ void wgmma_mma_async_m64n128k32_s32_s8_s8(int (&d)[64], unsigned long long a, unsigned long long b,
                                                                     unsigned add) {
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %66, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
        "}, %64, %65, p;\n\t}"
        : WW_R4(d, 0), WW_R4(d, 4), WW_R4(d, 8), WW_R4(d, 12), WW_R4(d, 16), WW_R4(d, 20),
          WW_R4(d, 24), WW_R4(d, 28), WW_R4(d, 32), WW_R4(d, 36), WW_R4(d, 40), WW_R4(d, 44),
          WW_R4(d, 48), WW_R4(d, 52), WW_R4(d, 56), WW_R4(d, 60)
        : "l"(a), "l"(b), "r"(add)
        : "memory");
}

// A from registers: 16 bytes of two rows a lane, a[0] row g, k 4t..; a[1] row g + 8; a[2], a[3] the same at k + 16.
__device__ __forceinline__ void wgmma_mma_async_m64n136k32_f32_e4m3_e4m3(float (&d)[68], const unsigned (&a)[4],
                                                                       unsigned long long b, unsigned add) {
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %73, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n136k32.f32.e4m3.e4m3 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67"
        "}, {%68, %69, %70, %71}, %72, p, 1, 1;\n\t}"
        : WW_F4(d, 0), WW_F4(d, 4), WW_F4(d, 8), WW_F4(d, 12), WW_F4(d, 16), WW_F4(d, 20),
          WW_F4(d, 24), WW_F4(d, 28), WW_F4(d, 32), WW_F4(d, 36), WW_F4(d, 40), WW_F4(d, 44),
          WW_F4(d, 48), WW_F4(d, 52), WW_F4(d, 56), WW_F4(d, 60), WW_F4(d, 64)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add)
        : "memory");
}

__device__ __forceinline__ void wgmma_mma_async_m64n72k32_f32_e4m3_e4m3(float (&d)[36], const unsigned (&a)[4],
                                                                       unsigned long long b, unsigned add) {
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %41, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n72k32.f32.e4m3.e4m3 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35"
        "}, {%36, %37, %38, %39}, %40, p, 1, 1;\n\t}"
        : WW_F4(d, 0), WW_F4(d, 4), WW_F4(d, 8), WW_F4(d, 12), WW_F4(d, 16), WW_F4(d, 20),
          WW_F4(d, 24), WW_F4(d, 28), WW_F4(d, 32)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add)
        : "memory");
}

#undef WW_R4
#undef WW_F4

}  // namespace ptx

// SPDX-License-Identifier: Apache-2.0
// Warpgroup-level matrix instructions of f16 with sums in f32 (sm_90a): one wrapper = one PTX instruction, named like
// it. D = A B, + D with `add`. Fragments (d[8-column product][row half * 2 + column]) and
// descriptors: ptx_wgmma.cuh.
#pragma once

namespace ptx {

// The four registers of eight columns.
#define WW_F4(d, j) "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])

// Both operands from shared memory.
__device__ __forceinline__ void wgmma_mma_async_m64n64k16_f32_f16_f16(float (&d)[8][4], unsigned long long a,
                                                                      unsigned long long b, unsigned add) {
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %34, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
        "}, %32, %33, p, 1, 1, 0, 0;\n\t}"
        : WW_F4(d, 0), WW_F4(d, 1), WW_F4(d, 2), WW_F4(d, 3), WW_F4(d, 4), WW_F4(d, 5),
          WW_F4(d, 6), WW_F4(d, 7)
        : "l"(a), "l"(b), "r"(add)
        : "memory");
}
__device__ __forceinline__ void wgmma_mma_async_m64n128k16_f32_f16_f16(float (&d)[16][4], unsigned long long a,
                                                                       unsigned long long b, unsigned add) {
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %66, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
        "}, %64, %65, p, 1, 1, 0, 0;\n\t}"
        : WW_F4(d, 0), WW_F4(d, 1), WW_F4(d, 2), WW_F4(d, 3), WW_F4(d, 4), WW_F4(d, 5),
          WW_F4(d, 6), WW_F4(d, 7), WW_F4(d, 8), WW_F4(d, 9), WW_F4(d, 10), WW_F4(d, 11),
          WW_F4(d, 12), WW_F4(d, 13), WW_F4(d, 14), WW_F4(d, 15)
        : "l"(a), "l"(b), "r"(add)
        : "memory");
}

// A from registers: two f16 of two rows each, a[0] row g, k 2t..; a[1] row g + 8; a[2], a[3] the same at k + 8.
__device__ __forceinline__ void wgmma_mma_async_m64n64k16_f32_f16_f16(float (&d)[8][4], const unsigned (&a)[4],
                                                                      unsigned long long b, unsigned add) {
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %37, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
        "}, {%32, %33, %34, %35}, %36, p, 1, 1, 0;\n\t}"
        : WW_F4(d, 0), WW_F4(d, 1), WW_F4(d, 2), WW_F4(d, 3), WW_F4(d, 4), WW_F4(d, 5),
          WW_F4(d, 6), WW_F4(d, 7)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add)
        : "memory");
}
__device__ __forceinline__ void wgmma_mma_async_m64n128k16_f32_f16_f16(float (&d)[16][4], const unsigned (&a)[4],
                                                                       unsigned long long b, unsigned add) {
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %69, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
        "}, {%64, %65, %66, %67}, %68, p, 1, 1, 0;\n\t}"
        : WW_F4(d, 0), WW_F4(d, 1), WW_F4(d, 2), WW_F4(d, 3), WW_F4(d, 4), WW_F4(d, 5),
          WW_F4(d, 6), WW_F4(d, 7), WW_F4(d, 8), WW_F4(d, 9), WW_F4(d, 10), WW_F4(d, 11),
          WW_F4(d, 12), WW_F4(d, 13), WW_F4(d, 14), WW_F4(d, 15)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add)
        : "memory");
}
__device__ __forceinline__ void wgmma_mma_async_m64n256k16_f32_f16_f16(float (&d)[32][4], const unsigned (&a)[4],
                                                                       unsigned long long b, unsigned add) {
    asm volatile(
        "{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %133, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
        "}, {%128, %129, %130, %131}, %132, p, 1, 1, 0;\n\t}"
        : WW_F4(d, 0), WW_F4(d, 1), WW_F4(d, 2), WW_F4(d, 3), WW_F4(d, 4), WW_F4(d, 5),
          WW_F4(d, 6), WW_F4(d, 7), WW_F4(d, 8), WW_F4(d, 9), WW_F4(d, 10), WW_F4(d, 11),
          WW_F4(d, 12), WW_F4(d, 13), WW_F4(d, 14), WW_F4(d, 15), WW_F4(d, 16), WW_F4(d, 17),
          WW_F4(d, 18), WW_F4(d, 19), WW_F4(d, 20), WW_F4(d, 21), WW_F4(d, 22), WW_F4(d, 23),
          WW_F4(d, 24), WW_F4(d, 25), WW_F4(d, 26), WW_F4(d, 27), WW_F4(d, 28), WW_F4(d, 29),
          WW_F4(d, 30), WW_F4(d, 31)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add)
        : "memory");
}

#undef WW_F4

}  // namespace ptx

// SPDX-License-Identifier: Apache-2.0
// Warp-level matrix instructions and the loads of their fragments: one wrapper = one PTX instruction,
// named like it. g is lane / 4, t is lane % 4.
#pragma once

namespace ptx {

// Four 8x8 matrices of 16-bit elements: lane 8i + r gives the address of row r (16 bytes) of matrix
// i; register i receives its bytes 4t..4t+3 of row g.
__device__ __forceinline__ void ldmatrix_sync_x4_b16(unsigned (&d)[4], unsigned shared) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(shared)
                 : "memory");
}

// The way back: lane 8i + r gives the address of row r of matrix i, register i holds its bytes 4t..4t+3 of row g.
__device__ __forceinline__ void stmatrix_sync_x4_b16(unsigned shared, const unsigned (&d)[4]) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(d[0]), "r"(d[1]),
                 "r"(d[2]), "r"(d[3])
                 : "memory");
}

// 16 bytes, aligned to 16.
__device__ __forceinline__ void ld_shared_v4_b32(unsigned (&d)[4], unsigned shared) {
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(shared)
                 : "memory");
}

__device__ __forceinline__ unsigned ld_shared_b32(unsigned shared) {
    unsigned d;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(d) : "r"(shared) : "memory");
    return d;
}

// 8 bytes, aligned to 8.
__device__ __forceinline__ void ld_shared_v2_b32(unsigned& a, unsigned& b, unsigned shared) {
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(shared) : "memory");
}

__device__ __forceinline__ void st_shared_v2_b32(unsigned shared, unsigned a, unsigned b) {
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(shared), "r"(a), "r"(b) : "memory");
}

// Two values from shared memory. volatile: loading them twice costs less than moving them.
__device__ __forceinline__ void ld_volatile_shared_v2_f32(float& a, float& b, unsigned shared) {
    asm volatile("ld.volatile.shared.v2.f32 {%0, %1}, [%2];" : "=f"(a), "=f"(b) : "r"(shared) : "memory");
}

// D += A B, m16n8k64, e2m1 with one ue4m3 scale for 16 elements along k (sm_120a). Fragments (8 codes
// a register): a[0] row g, k 8t..; a[1] row g + 8; a[2], a[3] the same at k + 32; b0 column g, k 8t..;
// b1 at k + 32; d[0], d[1] row g, columns 2t, 2t + 1; d[2], d[3] row g + 8. The four scales of
// row g of A come from lane 4g, those of row g + 8 from lane 4g + 1; the four of column g of B from lane
// 4g + kLane.
template <int kLane>
__device__ __forceinline__ void mma_m16n8k64_mxf4nvf4_4x(float (&d)[4], const unsigned (&a)[4], unsigned b0,
                                                         unsigned b1, unsigned a_scales,
                                                         unsigned b_scales) {
    asm("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X"
        ".f32.e2m1.e2m1.f32.ue4m3 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, "
        "%10, {0, 0}, %11, {0, %12};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(a_scales), "r"(b_scales),
          "n"(kLane));
}

}  // namespace ptx

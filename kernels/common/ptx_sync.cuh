// SPDX-License-Identifier: Apache-2.0
// One wrapper = one PTX instruction for exchange and order inside a warp or block, named like it.
#pragma once

namespace ptx {

__device__ __forceinline__ float shfl_sync_bfly_f32(float a, int lane_mask) {
    float d;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"
                 : "=f"(d)
                 : "f"(a), "r"(lane_mask));
    return d;
}

__device__ __forceinline__ unsigned shfl_sync_bfly_b32(unsigned a, int lane_mask) {
    unsigned d;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"
                 : "=r"(d)
                 : "r"(a), "r"(lane_mask));
    return d;
}

// a of a lane of the warp, among those of `members`.
__device__ __forceinline__ unsigned shfl_sync_idx_b32(unsigned a, unsigned lane, unsigned members) {
    unsigned d;
    asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, %3;" : "=r"(d) : "r"(a), "r"(lane), "r"(members));
    return d;
}

// Whether any lane of the warp says so.
__device__ __forceinline__ bool vote_sync_any(bool a) {
    unsigned d;
    asm volatile("{\n\t.reg .pred mine, any;\n\t"
                 "setp.ne.u32 mine, %1, 0;\n\t"
                 "vote.sync.any.pred any, mine, 0xffffffff;\n\t"
                 "selp.u32 %0, 1, 0, any;\n\t}"
                 : "=r"(d)
                 : "r"(static_cast<unsigned>(a)));
    return d != 0;
}

// Registers of each thread from here on (a multiple of 8, 24 to 256); every warp of the warpgroup.
template <int kRegisters>
__device__ __forceinline__ void setmaxnreg_inc() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void setmaxnreg_dec() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// All lanes of the warp; orders their accesses to memory.
__device__ __forceinline__ void bar_warp_sync() { asm volatile("bar.warp.sync 0xffffffff;" ::: "memory"); }

__device__ __forceinline__ void bar_sync(int barrier) {
    asm volatile("bar.sync %0;" ::"r"(barrier) : "memory");
}

}  // namespace ptx

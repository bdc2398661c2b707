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

__device__ __forceinline__ void bar_sync(int barrier) {
    asm volatile("bar.sync %0;" ::"r"(barrier) : "memory");
}

}  // namespace ptx

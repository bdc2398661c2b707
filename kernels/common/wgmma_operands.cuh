// SPDX-License-Identifier: Apache-2.0
// Registers of a wgmma in flight, which the compiler does not know to be in use.
#pragma once

// A wgmma in flight writes its accumulators later: nothing may be moved across this.
template <int kCount>
__device__ __forceinline__ void fence_operands(int (&x)[kCount]) {
#pragma unroll
    for (int& each : x) asm volatile("" : "+r"(each)::"memory");
}
template <int kCount>
__device__ __forceinline__ void fence_operands(float (&x)[kCount]) {
#pragma unroll
    for (float& each : x) asm volatile("" : "+f"(each)::"memory");
}
template <int kCount>
__device__ __forceinline__ void fence_operands(float (&x)[kCount][4]) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) fence_operands(x[i]);
}

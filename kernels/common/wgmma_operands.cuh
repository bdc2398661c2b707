// SPDX-License-Identifier: Apache-2.0
// Registers of a wgmma in flight, which the compilers do not know to be in use.
#pragma once

// A wgmma in flight writes its accumulators later: NVVM moves nothing across this.
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
template <int kCount>
__device__ __forceinline__ void fence_operands(unsigned (&x)[kCount][4]) {
#pragma unroll
    for (int i = 0; i < kCount; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) asm volatile("" : "+r"(x[i][j])::"memory");
}

// A wgmma in flight reads its A operand later, and ptxas gives its registers to others as soon as any group has been waited
// for, also an older one (seen on an H200: other bits in every run). What is read after the wait keeps them, on a path
// that is never taken, too. shared: anywhere in shared memory.
template <int kCount>
__device__ __forceinline__ void keep_operands(const unsigned (&x)[kCount][4], unsigned shared) {
#pragma unroll
    for (int i = 0; i < kCount; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) asm volatile("st.shared.b32 [%0], %1;" ::"r"(shared), "r"(x[i][j]) : "memory");
}

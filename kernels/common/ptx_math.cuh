// SPDX-License-Identifier: Apache-2.0
// One wrapper = one PTX arithmetic or conversion instruction, named like it. The .rn of each pins the
// rounding and keeps the assembler from fusing a multiply with an add.
#pragma once

namespace ptx {

__device__ __forceinline__ float add_rn_f32(float a, float b) {
    float d;
    asm("add.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
    return d;
}

__device__ __forceinline__ float sub_rn_f32(float a, float b) {
    float d;
    asm("sub.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
    return d;
}

__device__ __forceinline__ float mul_rn_f32(float a, float b) {
    float d;
    asm("mul.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
    return d;
}

__device__ __forceinline__ float fma_rn_f32(float a, float b, float c) {
    float d;
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
    return d;
}

__device__ __forceinline__ float rcp_rn_f32(float a) {
    float d;
    asm("rcp.rn.f32 %0, %1;" : "=f"(d) : "f"(a));
    return d;
}

// The larger operand; a NaN operand loses against a number.
__device__ __forceinline__ float max_f32(float a, float b) {
    float d;
    asm("max.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
    return d;
}

__device__ __forceinline__ unsigned short cvt_rn_bf16_f32(float a) {
    unsigned short d;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(d) : "f"(a));
    return d;
}

}  // namespace ptx

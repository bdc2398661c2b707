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

// Within 1 ulp; a subnormal operand counts as zero.
__device__ __forceinline__ float rcp_approx_ftz_f32(float a) {
    float d;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(a));
    return d;
}

__device__ __forceinline__ float abs_f32(float a) {
    float d;
    asm("abs.f32 %0, %1;" : "=f"(d) : "f"(a));
    return d;
}

// The larger operand; a NaN operand loses against a number.
__device__ __forceinline__ float max_f32(float a, float b) {
    float d;
    asm("max.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
    return d;
}

// The smaller operand; a NaN operand loses against a number.
__device__ __forceinline__ float min_f32(float a, float b) {
    float d;
    asm("min.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
    return d;
}

__device__ __forceinline__ float div_rn_f32(float a, float b) {
    float d;
    asm("div.rn.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
    return d;
}

// 2^a, about 2 ulp; a subnormal result is flushed to zero.
__device__ __forceinline__ float ex2_approx_ftz_f32(float a) {
    float d;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(a));
    return d;
}

__device__ __forceinline__ float lg2_approx_f32(float a) {
    float d;
    asm("lg2.approx.f32 %0, %1;" : "=f"(d) : "f"(a));
    return d;
}

// Nibble i of pick names byte i of the result: 0-3 of low, 4-7 of high.
__device__ __forceinline__ unsigned prmt_b32(unsigned low, unsigned high, unsigned pick) {
    unsigned d;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(low), "r"(high), "r"(pick));
    return d;
}

__device__ __forceinline__ float cvt_f32_f16(unsigned short a) {
    float d;
    asm("cvt.f32.f16 %0, %1;" : "=f"(d) : "h"(a));
    return d;
}

__device__ __forceinline__ unsigned short cvt_rn_f16_f32(float a) {
    unsigned short d;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(d) : "f"(a));
    return d;
}

// The larger operand; a NaN operand wins.
__device__ __forceinline__ float max_NaN_f32(float a, float b) {
    float d;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
    return d;
}

// To the nearest integer, even ones for ties; saturates at -128 and 127.
__device__ __forceinline__ int cvt_rni_sat_s8_f32(float a) {
    int d;
    asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(d) : "f"(a));
    return d;
}

__device__ __forceinline__ unsigned short cvt_rn_bf16_f32(float a) {
    unsigned short d;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(d) : "f"(a));
    return d;
}

}  // namespace ptx

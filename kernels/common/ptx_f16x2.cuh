// SPDX-License-Identifier: Apache-2.0
// Arithmetic on pairs of f16 in a register: one wrapper = one PTX instruction, named like it.
#pragma once

namespace ptx {

__device__ __forceinline__ unsigned cvt_rn_f16x2_f32(float high, float low) {
    unsigned d;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
    return d;
}

__device__ __forceinline__ unsigned mul_rn_f16x2(unsigned a, unsigned b) {
    unsigned d;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}

// The smaller operands; a NaN operand loses against a number.
__device__ __forceinline__ unsigned min_f16x2(unsigned a, unsigned b) {
    unsigned d;
    asm("min.f16x2 %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));
    return d;
}

}  // namespace ptx

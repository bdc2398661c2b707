// SPDX-License-Identifier: Apache-2.0
// The two 16-bit float types of tensors, as bits, and their conversions.
#pragma once
#include "ptx_math.cuh"

struct F16 {
    unsigned short bits;
};
struct Bf16 {
    unsigned short bits;
};

__device__ __forceinline__ float widen(F16 x) { return ptx::cvt_f32_f16(x.bits); }
__device__ __forceinline__ float widen(Bf16 x) {
    return __uint_as_float(static_cast<unsigned>(x.bits) << 16);
}

// Rounded to nearest even.
template <class T>
__device__ __forceinline__ T narrow(float x);
template <>
__device__ __forceinline__ F16 narrow<F16>(float x) {
    return F16{ptx::cvt_rn_f16_f32(x)};
}
template <>
__device__ __forceinline__ Bf16 narrow<Bf16>(float x) {
    return Bf16{ptx::cvt_rn_bf16_f32(x)};
}

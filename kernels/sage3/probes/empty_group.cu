// SPDX-License-Identifier: Apache-2.0
// A group of keys that are all masked: its maximum is -inf, and so is each score. What becomes of
// score - maximum, and of its code?
// probe: target sm_120a
// probe: in minus_infinity f32 -inf
// probe: out difference_bits_are_nan u32 1
// probe: out code x8 1
#include "../../common/ptx_fp4.cuh"

extern "C" __global__ void probe(const float* minus_infinity, unsigned* is_nan, unsigned char* code) {
    const float difference = *minus_infinity - *minus_infinity;
    *is_nan = difference != difference;
    *code = ptx::cvt_rn_satfinite_e2m1x2_f32(0, difference) & 15;
}

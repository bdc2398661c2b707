// SPDX-License-Identifier: Apache-2.0
// f32 to e2m1: ties, the end of the range, NaN, and which of the two values is the low nibble.
// Codes 0 to 7 are 0, 0.5, 1, 1.5, 2, 3, 4, 6; 8 more is the same with a minus.
// probe: target sm_120a
// probe: in values f32 0.25 0.75 1.25 1.75 2.5 3.5 5 6.5 1e9 -0.25 -5 -1e9 nan
// probe: out codes x8 13
// probe: out low_is_2_high_is_6 x8 1
#include "../../common/ptx_fp4.cuh"

extern "C" __global__ void probe(const float* values, unsigned char* codes, unsigned char* both) {
    for (int i = 0; i < 13; ++i) codes[i] = ptx::cvt_rn_satfinite_e2m1x2_f32(0, values[i]) & 15;
    *both = static_cast<unsigned char>(ptx::cvt_rn_satfinite_e2m1x2_f32(6, 2));
}

// SPDX-License-Identifier: Apache-2.0
// f32 to e4m3, the type of the scales: the end of the range, the smallest codes, NaN.
// probe: target sm_120a
// probe: in values f32 448 464 1e9 0.001953125 0.0009765625 0.0010 0.0029296875 nan
// probe: out codes x8 8
#include "../../common/ptx_fp4.cuh"

extern "C" __global__ void probe(const float* values, unsigned char* codes) {
    for (int i = 0; i < 8; ++i) codes[i] = static_cast<unsigned char>(ptx::cvt_rn_satfinite_e4m3x2_f32(0, values[i]));
}

// SPDX-License-Identifier: Apache-2.0
// Whose register gives the scales of which row of A? Every lane offers another scale, all codes are
// 1, and B's scales are 1: a row of D divided by 64 is the scale that was used.
// probe: target sm_120a
// probe: launch 1 32
// probe: out lane_of_row u32 16
#include "../../common/ptx_fp4.cuh"
#include "../../common/ptx_mma.cuh"

__device__ float value_of(unsigned code) {  // ue4m3, normal
    return __uint_as_float((code / 8 + 120) << 23 | (code % 8) << 20);
}

extern "C" __global__ void probe(unsigned* lane_of_row) {
    const unsigned lane = threadIdx.x, scale = 0x20 + lane;
    const unsigned ones[4] = {0x22222222, 0x22222222, 0x22222222, 0x22222222};
    float d[4] = {};
    ptx::mma_m16n8k64_mxf4nvf4_4x<0>(d, ones, ones[0], ones[0], scale * 0x01010101u, 0x38383838u);
    if (lane % 4 != 0) return;
    for (unsigned each = 0; each < 32; ++each) {
        if (value_of(0x20 + each) * 64 == d[0]) lane_of_row[lane / 4] = each;
        if (value_of(0x20 + each) * 64 == d[2]) lane_of_row[lane / 4 + 8] = each;
    }
}

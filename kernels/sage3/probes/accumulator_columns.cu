// SPDX-License-Identifier: Apache-2.0
// Which columns of D does a lane hold? Column n of B has the scale 2^n / 64, codes and A's scales
// are 1: the logarithm of d is n.
// probe: target sm_120a
// probe: launch 1 32
// probe: out columns_of_lane u32 16
#include "../../common/ptx_mma.cuh"

extern "C" __global__ void probe(unsigned* columns_of_lane) {
    const unsigned lane = threadIdx.x, column = lane / 4;  // lane 4n gives the scales of column n
    const unsigned ones[4] = {0x22222222, 0x22222222, 0x22222222, 0x22222222};
    const unsigned scale = (column + 1) << 3;  // ue4m3 of 2^(column - 6)
    float d[4] = {};
    ptx::mma_m16n8k64_mxf4nvf4_4x<0>(d, ones, ones[0], ones[0], 0x38383838u, scale * 0x01010101u);
    if (lane >= 4) return;
    for (unsigned i = 0; i < 4; ++i) columns_of_lane[4 * lane + i] = (__float_as_uint(d[i]) >> 23) - 127;
}

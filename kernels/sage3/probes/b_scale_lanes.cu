// SPDX-License-Identifier: Apache-2.0
// Whose register gives the scales of column n of B, for each of the four values of the instruction's
// thread id? As in a_scale_lanes.
// probe: target sm_120a
// probe: launch 1 32
// probe: out thread_id_0 u32 8
// probe: out thread_id_1 u32 8
// probe: out thread_id_2 u32 8
// probe: out thread_id_3 u32 8
#include "../../common/ptx_fp4.cuh"
#include "../../common/ptx_mma.cuh"

__device__ float value_of(unsigned code) {  // ue4m3, normal
    return __uint_as_float((code / 8 + 120) << 23 | (code % 8) << 20);
}

template <int kLane>
__device__ void look(unsigned* lane_of_column) {
    const unsigned lane = threadIdx.x, scale = 0x20 + lane;
    const unsigned ones[4] = {0x22222222, 0x22222222, 0x22222222, 0x22222222};
    float d[4] = {};
    ptx::mma_m16n8k64_mxf4nvf4_4x<kLane>(d, ones, ones[0], ones[0], 0x38383838u, scale * 0x01010101u);
    if (lane >= 4) return;
    for (unsigned each = 0; each < 32; ++each)
        for (unsigned i = 0; i < 2; ++i)
            if (value_of(0x20 + each) * 64 == d[i]) lane_of_column[2 * lane + i] = each;
}

extern "C" __global__ void probe(unsigned* lanes_0, unsigned* lanes_1, unsigned* lanes_2, unsigned* lanes_3) {
    look<0>(lanes_0);
    look<1>(lanes_1);
    look<2>(lanes_2);
    look<3>(lanes_3);
}

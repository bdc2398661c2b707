// SPDX-License-Identifier: Apache-2.0
// Which byte of a register of scales belongs to which 16 elements along k? The codes of one group at
// a time are 1, the four bytes are 1, 2, 4 and 8: d / 16 is the byte that was used.
// probe: target sm_120a
// probe: launch 1 32
// probe: out factor_of_group f32 4
#include "../../common/ptx_mma.cuh"

extern "C" __global__ void probe(float* factor_of_group) {
    const unsigned t = threadIdx.x % 4;
    for (unsigned group = 0; group < 4; ++group) {
        // a[0] and a[1] hold k = 8t.. of the first 32, a[2] and a[3] of the second 32.
        const bool mine = t / 2 == group % 2;
        const unsigned low = group < 2 && mine ? 0x22222222u : 0u, high = group >= 2 && mine ? 0x22222222u : 0u;
        const unsigned a[4] = {low, low, high, high};
        float d[4] = {};
        ptx::mma_m16n8k64_mxf4nvf4_4x<0>(d, a, 0x22222222u, 0x22222222u, 0x50484038u, 0x38383838u);
        if (threadIdx.x == 0) factor_of_group[group] = d[0] / 16;
    }
}

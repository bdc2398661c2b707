// SPDX-License-Identifier: Apache-2.0
// Which bytes does ldmatrix give to a lane? Row r of 16 bytes holds 16r, 16r + 1, ...: what lane 4g + t
// has in register 0, for g = 0 to 7 and t = 0 to 3.
// probe: target sm_120a
// probe: launch 1 32
// probe: out first_byte u32 32
#include "../../common/ptx_mma.cuh"

extern "C" __global__ void probe(unsigned* first_byte) {
    __shared__ alignas(16) unsigned char rows[32 * 16];
    for (int i = 0; i < 16; ++i) rows[16 * threadIdx.x + i] = static_cast<unsigned char>(16 * threadIdx.x + i);
    __syncwarp();
    unsigned d[4];
    ptx::ldmatrix_sync_x4_b16(d, static_cast<unsigned>(__cvta_generic_to_shared(rows + 16 * threadIdx.x)));
    first_byte[threadIdx.x] = d[0] & 255;
}

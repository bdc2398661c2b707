// SPDX-License-Identifier: Apache-2.0
// Does ptxas take a conversion to e2m1 for a Hopper GPU?
// probe: target sm_90a
// probe: compiles
#include "../../common/ptx_fp4.cuh"

extern "C" __global__ void probe(unsigned* out) { *out = ptx::cvt_rn_satfinite_e2m1x2_f32(0, 1); }

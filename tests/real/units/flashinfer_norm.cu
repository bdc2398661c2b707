// SPDX-License-Identifier: Apache-2.0
// flashinfer's RMSNorm: plain, into FP8, per head, and after adding the residual.
// Launch: grid (rows), block (32, warps) with warps = ceil(min(1024, d / 8) / 32), dynamic shared
// memory warps * 4 bytes; fused_add also keeps the row: round_up(warps, 4) * 4 + d * 4 bytes;
// qk: grid (any), block (32, 4), one warp a head of a row, no shared memory.
#include <flashinfer/norm.cuh>

using namespace flashinfer::norm;

auto* plain = &RMSNormKernel<8, nv_bfloat16>;
auto* quantised = &RMSNormQuantKernel<8, half, __nv_fp8_e4m3>;
auto* qk = &QKRMSNormKernel<4, nv_bfloat16>;
auto* fused_add = &FusedAddRMSNormKernel<8, half>;

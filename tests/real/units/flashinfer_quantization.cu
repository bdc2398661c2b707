// SPDX-License-Identifier: Apache-2.0
// flashinfer's bit packing and quantisation to FP8 by groups of 128. The header launches one
// packing kernel itself, so both bit orders are there.
// Launch: pack: grid (ceil(n / 2048)), block (256); pack_segments: grid (segments), block (256);
// by_groups: grid (ceil(groups / 16)), block (256), 16 threads a group.
#include <flashinfer/quantization.cuh>

using namespace flashinfer::quantization;

auto* pack = &PackBitsKernel<BitOrder::kBig>;
auto* pack_segments = &SegmentPackBitsKernel<BitOrder::kLittle, int32_t>;
auto* by_groups =
    &PerTokenGroupQuant8BitRegisterKernel<nv_bfloat16, __nv_fp8_e4m3, false, false, true>;

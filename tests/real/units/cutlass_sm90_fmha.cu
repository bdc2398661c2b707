// SPDX-License-Identifier: Apache-2.0
// CUTLASS's example 88: Hopper attention forward in f16, causal, tile 128 x 64, head size 64, two
// cooperative consumer warpgroups, K and V by TMA.
// Launch: cutlass::device::Universal chooses grid and shared memory and encodes the tensor maps.
#include <cute/tensor.hpp>
#include <cutlass/cutlass.h>
#include <cutlass/kernel_hardware_info.hpp>

#include <collective/fmha_fusion.hpp>
#include <device/device_universal.hpp>
#include <kernel/fmha_kernel_builder.hpp>

using Element = cutlass::half_t;
using Stride = cute::tuple<int, cute::_1, cute::tuple<int, int>>;  // position, dimension, (batch, head)
using Kernel = cutlass::fmha::kernel::FmhaBuilder<
    Element, float, float, cute::Shape<cute::_128, cute::_64, cute::_64>, Stride, Stride, Stride,
    cutlass::fmha::collective::CausalFusion, cutlass::gemm::KernelTmaWarpSpecializedCooperative>::Kernel;

auto* forward = &cutlass::device_kernel<Kernel>;

// SPDX-License-Identifier: Apache-2.0
// CUTLASS: data-centre Blackwell f16 GEMM, tcgen05.mma over pairs of SMs, tiles handed out by
// cluster launch control.
// Launch: cluster (2, 2, 1), Kernel::MaxThreadsPerBlock threads, Kernel::SharedStorageSize bytes of
// dynamic shared memory, Kernel::Params by value.
#include "cutlass_collectives.cuh"

struct F16 : real::Gemm {
    using Arch = cutlass::arch::Sm100;
    using A = cutlass::half_t;
    using B = cutlass::half_t;
    using D = float;
    static constexpr int kAlignment = 8;
    using Tile = cute::Shape<cute::_256, cute::_128, cute::_64>;
    using Cluster = cute::Shape<cute::_2, cute::_2, cute::_1>;
};

auto* gemm = &cutlass::device_kernel<real::Kernel<F16>>;

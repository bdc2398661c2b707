// SPDX-License-Identifier: Apache-2.0
// CUTLASS: warp-specialised Hopper FP8 GEMM, two cooperative consumer warpgroups, e4m3 to bf16,
// cluster 1 x 2 with multicast of A.
// Launch: 384 threads, cluster (1, 2, 1), Kernel::SharedStorageSize bytes of dynamic shared memory,
// Kernel::Params by value (made by GemmUniversalAdapter, which encodes the tensor maps).
#include "cutlass_collectives.cuh"

struct Fp8 : real::Gemm {
    using Arch = cutlass::arch::Sm90;
    using A = cutlass::float_e4m3_t;
    using B = cutlass::float_e4m3_t;
    using D = cutlass::bfloat16_t;
    static constexpr int kAlignment = 16;
    using Tile = cute::Shape<cute::_128, cute::_128, cute::_128>;
    using Cluster = cute::Shape<cute::_1, cute::_2, cute::_1>;
    using Schedule = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
    using EpilogueSchedule = cutlass::epilogue::TmaWarpSpecializedCooperative;
};

auto* gemm = &cutlass::device_kernel<real::Kernel<Fp8>>;

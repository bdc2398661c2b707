// SPDX-License-Identifier: Apache-2.0
// CUTLASS: Hopper bf16 GEMM, ping-pong consumers, cluster 2 x 1 with multicast of B.
// Launch: 384 threads, cluster (2, 1, 1), Kernel::SharedStorageSize bytes of dynamic shared memory,
// Kernel::Params by value.
#include "cutlass_collectives.cuh"

struct Bf16 : real::Gemm {
    using Arch = cutlass::arch::Sm90;
    using A = cutlass::bfloat16_t;
    using B = cutlass::bfloat16_t;
    using D = cutlass::bfloat16_t;
    static constexpr int kAlignment = 8;
    using Tile = cute::Shape<cute::_64, cute::_128, cute::_64>;
    using Cluster = cute::Shape<cute::_2, cute::_1, cute::_1>;
    using Schedule = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
    using EpilogueSchedule = cutlass::epilogue::TmaWarpSpecialized;
};

auto* gemm = &cutlass::device_kernel<real::Kernel<Bf16>>;

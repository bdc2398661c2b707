// SPDX-License-Identifier: Apache-2.0
// CUTLASS: Hopper f16 GEMM under the stream-K scheduler: partial tiles are reduced through a
// workspace with atomics and flags, in a fixed order or by atomic adds as the arguments say.
// Launch: 384 threads, cluster (2, 1, 1), Kernel::SharedStorageSize bytes of dynamic shared memory,
// Kernel::Params by value; the workspace's flags start at zero.
#include "cutlass_collectives.cuh"

struct StreamK : real::Gemm {
    using Arch = cutlass::arch::Sm90;
    using A = cutlass::half_t;
    using B = cutlass::half_t;
    using D = float;
    static constexpr int kAlignment = 8;
    using Tile = cute::Shape<cute::_128, cute::_128, cute::_64>;
    using Cluster = cute::Shape<cute::_2, cute::_1, cute::_1>;
    using Schedule = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
    using EpilogueSchedule = cutlass::epilogue::TmaWarpSpecializedCooperative;
    using Scheduler = cutlass::gemm::StreamKScheduler;
};

auto* gemm = &cutlass::device_kernel<real::Kernel<StreamK>>;

// SPDX-License-Identifier: Apache-2.0
// One CUTLASS 3 GEMM from a plain description: the collective builders for epilogue and main loop,
// and the universal kernel. The description is a struct that inherits from Gemm and says what
// differs.
#pragma once
#include <cutlass/cutlass.h>
#include <cutlass/device_kernel.h>

#include <cute/tensor.hpp>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/epilogue/fusion/operations.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/dispatch_policy.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/gemm/kernel/tile_scheduler.hpp>

namespace real {

// A is row-major, B column-major (both along k), C and D row-major, unless said otherwise.
struct Gemm {
    using Operator = cutlass::arch::OpClassTensorOp;
    using LayoutA = cutlass::layout::RowMajor;
    using LayoutB = cutlass::layout::ColumnMajor;
    using LayoutD = cutlass::layout::RowMajor;
    using Accumulator = float;
    using Schedule = cutlass::gemm::collective::KernelScheduleAuto;
    using EpilogueSchedule = cutlass::epilogue::collective::EpilogueScheduleAuto;
    using Scheduler = void;
};

template <class Element>
inline constexpr int elements = 128 / cutlass::sizeof_bits<Element>::value;  // in 16 bytes

template <class G>
struct Built {
    using Fusion = cutlass::epilogue::fusion::LinearCombination<typename G::D, float>;
    using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
        typename G::Arch, typename G::Operator, typename G::Tile, typename G::Cluster,
        cutlass::epilogue::collective::EpilogueTileAuto, typename G::Accumulator, float,
        typename G::D, typename G::LayoutD, elements<typename G::D>, typename G::D,
        typename G::LayoutD, elements<typename G::D>, typename G::EpilogueSchedule,
        Fusion>::CollectiveOp;
    using Stages = cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
        sizeof(typename Epilogue::SharedStorage))>;
    using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
        typename G::Arch, typename G::Operator, typename G::A, typename G::LayoutA, G::kAlignment,
        typename G::B, typename G::LayoutB, G::kAlignment, typename G::Accumulator,
        typename G::Tile, typename G::Cluster, Stages, typename G::Schedule>::CollectiveOp;
    using Kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop,
                                                        Epilogue, typename G::Scheduler>;
};

template <class G>
using Kernel = typename Built<G>::Kernel;

}  // namespace real

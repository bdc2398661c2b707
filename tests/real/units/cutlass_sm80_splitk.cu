// SPDX-License-Identifier: Apache-2.0
// CUTLASS 2: parallel split-K: a tf32 tensor-op GEMM that leaves one partial product for each slice
// of K, and the kernel that sums the slices.
// Launch: partial: 128 threads, sizeof(Kernel::SharedStorage) bytes of dynamic shared memory, grid
// (tiles of M, tiles of N, slices); sum: Reduction::block_shape() threads, no shared memory.
#include <cutlass/cutlass.h>
#include <cutlass/gemm/device/gemm_splitk_parallel.h>

using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using SplitK = cutlass::gemm::device::GemmSplitKParallel<
    float, Row, float, Column, float, Row, float, cutlass::arch::OpClassTensorOp,
    cutlass::arch::Sm80, cutlass::gemm::GemmShape<128, 64, 32>,
    cutlass::gemm::GemmShape<64, 32, 32>, cutlass::gemm::GemmShape<16, 8, 8>>;

auto* partial = &cutlass::Kernel<SplitK::GemmKernel>;
auto* sum = &cutlass::Kernel<SplitK::ReductionKernel>;

// SPDX-License-Identifier: Apache-2.0
// CUTLASS 2: f16 tensor-op GEMM of Ampere, tile 128 x 128 x 32, four cp.async stages; by tiles, and
// by stream-K, where blocks that share a tile reduce it through a workspace and a flag each.
// Launch: 128 threads, sizeof(Kernel::SharedStorage) bytes of dynamic shared memory, Kernel::Params
// by value; grid from Kernel::Params (tiles; or stream-K's choice for the multiprocessors at hand).
#include <cutlass/cutlass.h>
#include <cutlass/gemm/device/gemm_universal.h>

using cutlass::half_t;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;

template <class Swizzle>
using Kernel = typename cutlass::gemm::device::GemmUniversal<
    half_t, Row, half_t, Column, half_t, Row, float, cutlass::arch::OpClassTensorOp,
    cutlass::arch::Sm80, cutlass::gemm::GemmShape<128, 128, 32>,
    cutlass::gemm::GemmShape<64, 64, 32>, cutlass::gemm::GemmShape<16, 8, 16>,
    cutlass::epilogue::thread::LinearCombination<half_t, 8, float, float>, Swizzle, 4, 8,
    8>::GemmKernel;

auto* by_tiles =
    &cutlass::Kernel2<Kernel<cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<8>>>;
auto* by_stream_k =
    &cutlass::Kernel2<Kernel<cutlass::gemm::threadblock::ThreadblockSwizzleStreamK>>;

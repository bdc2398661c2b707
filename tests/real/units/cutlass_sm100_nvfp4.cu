// SPDX-License-Identifier: Apache-2.0
// CUTLASS: data-centre Blackwell NVFP4 GEMM with block scales in tensor memory (tcgen05.cp,
// tcgen05.mma.kind::mxf4nvf4.block_scale), bf16 out.
// Launch: cluster (1, 1, 1), Kernel::MaxThreadsPerBlock threads, Kernel::SharedStorageSize bytes of
// dynamic shared memory, Kernel::Params by value.
#include "cutlass_collectives.cuh"

struct Nvfp4 : real::Gemm {
    using Arch = cutlass::arch::Sm100;
    using Operator = cutlass::arch::OpClassBlockScaledTensorOp;
    using A = cutlass::nv_float4_t<cutlass::float_e2m1_t>;
    using B = cutlass::nv_float4_t<cutlass::float_e2m1_t>;
    using D = cutlass::bfloat16_t;
    static constexpr int kAlignment = 32;
    using Tile = cute::Shape<cute::_128, cute::_128, cute::_256>;
    using Cluster = cute::Shape<cute::_1, cute::_1, cute::_1>;
};

auto* gemm = &cutlass::device_kernel<real::Kernel<Nvfp4>>;

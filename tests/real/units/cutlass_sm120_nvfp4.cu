// SPDX-License-Identifier: Apache-2.0
// CUTLASS: block-scaled NVFP4 GEMM for consumer Blackwell (mma.kind::mxf4nvf4), bf16 out.
// Launch: 384 threads, no cluster, Kernel::SharedStorageSize bytes of dynamic shared memory,
// Kernel::Params by value; scale factors lie in the interleaved layout of Mainloop::LayoutSFA.
#include "cutlass_collectives.cuh"

struct Nvfp4 : real::Gemm {
    using Arch = cutlass::arch::Sm120;
    using Operator = cutlass::arch::OpClassBlockScaledTensorOp;
    using A = cutlass::nv_float4_t<cutlass::float_e2m1_t>;
    using B = cutlass::nv_float4_t<cutlass::float_e2m1_t>;
    using D = cutlass::bfloat16_t;
    static constexpr int kAlignment = 32;
    using Tile = cute::Shape<cute::_128, cute::_128, cute::_128>;
    using Cluster = cute::Shape<cute::_1, cute::_1, cute::_1>;
};

// real::Kernel<G> with parameters of a type that has a short name. nvcc writes the type of a kernel's
// parameters out in the host's stub, and g++ takes the one of the collectives for another type.
template <class G>
struct Nvfp4Kernel : real::Kernel<G> {
    using Base = real::Kernel<G>;
    struct Params : Base::Params {};
    static Params to_underlying_arguments(const typename Base::Arguments& arguments, void* workspace) {
        return {{Base::to_underlying_arguments(arguments, workspace)}};
    }
};

auto* gemm = &cutlass::device_kernel<Nvfp4Kernel<Nvfp4>>;

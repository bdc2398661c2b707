// SPDX-License-Identifier: Apache-2.0
// The asynchronous units by inline PTX: bulk and tensor copies and mbarriers from sm_90 on, wgmma on
// sm_90a, tcgen05 on sm_100a, block-scaled mma on sm_120a.
struct alignas(64) TensorMap { unsigned long long words[16]; };

__device__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void wait(unsigned barrier, unsigned phase) {
    asm volatile(
        "{\n.reg .pred P1;\nLAB_WAIT:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}"
        ::"r"(barrier), "r"(phase) : "memory");
}

extern "C" __global__ void copies(const __grid_constant__ TensorMap map, const float* in, float* out) {
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) float tile[2][1024];
    __shared__ alignas(8) unsigned long long barriers[2];
    const unsigned barrier = shared_address(&barriers[0]), next = shared_address(&barriers[1]);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(next), "r"(blockDim.x));
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("fence.proxy.async.shared::cta;");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(8192));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     ::"r"(shared_address(tile[0])), "l"(&map), "r"(0), "r"(32), "r"(barrier) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;"
                     ::"r"(shared_address(tile[1])), "l"(in), "r"(4096), "r"(barrier), "l"(0x12F0000000000000ull) : "memory");
    }
    wait(barrier, 0);
    unsigned long long state;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(next));
    tile[0][threadIdx.x] += tile[1][threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;");
    __syncthreads();
    unsigned elected;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(elected));
    if (threadIdx.x < 32 && elected) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out), "r"(shared_address(tile[0])), "r"(4096) : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(out + 1024), "r"(shared_address(tile[0])), "r"(4096) : "memory");
        asm volatile("cp.async.bulk.commit_group;");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
    out[threadIdx.x] = in[threadIdx.x] + static_cast<float>(map.words[0]);
#endif
}

extern "C" __global__ void __launch_bounds__(128) tensor_core(float* out, unsigned long long a, unsigned long long b) {
    float d[4] = {};
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.fence.sync.aligned;");
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;\n}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b), "r"(1));
    asm volatile("wgmma.commit_group.sync.aligned;");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
#elif defined(__CUDA_ARCH_FEAT_SM100_ALL)
    __shared__ unsigned tensor_memory;
    __shared__ unsigned long long done;
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(shared_address(&tensor_memory)));
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n}"
                 ::"r"(tensor_memory), "l"(a), "l"(b), "r"(0x8200490), "r"(0));
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(shared_address(&done)));
    asm volatile("tcgen05.fence::after_thread_sync;");
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "r"(tensor_memory));
    asm volatile("tcgen05.wait::ld.sync.aligned;");
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(tensor_memory));
#elif defined(__CUDA_ARCH_FEAT_SM120_ALL)
    const unsigned x = static_cast<unsigned>(a), y = static_cast<unsigned>(b);
    asm volatile("mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 "
                 "{%0, %1, %2, %3}, {%4, %4, %4, %4}, {%5, %5}, {%0, %1, %2, %3}, %4, {0, 0}, %5, {0, 0};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(x), "r"(y));
#endif
    unsigned r[4];
    __shared__ alignas(16) unsigned matrix[128];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(&matrix[threadIdx.x % 32 * 4])));
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = d[i] + __uint_as_float(r[i]);
}

// SPDX-License-Identifier: Apache-2.0
// Bulk copies and the mbarriers that they complete on (sm_90): one wrapper = one PTX instruction, named
// like it. Shared addresses are those of cvta_to_shared (ptx_cp_async.cuh).
#pragma once

namespace ptx {

__device__ __forceinline__ void mbarrier_init(unsigned mbarrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(mbarrier), "r"(arrivals) : "memory");
}

// Makes initialised mbarriers visible to the async proxy.
__device__ __forceinline__ void fence_mbarrier_init_release_cluster() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

__device__ __forceinline__ void mbarrier_arrive(unsigned mbarrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(mbarrier) : "memory");
}

// One arrival, and the phase waits for that many more bytes of copies.
__device__ __forceinline__ void mbarrier_arrive_expect_tx(unsigned mbarrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(mbarrier), "r"(bytes) : "memory");
}

// The same, and tells nobody what this thread did before: copies publish their bytes themselves.
__device__ __forceinline__ void mbarrier_arrive_expect_tx_relaxed_cta(unsigned mbarrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [%0], %1;" ::"r"(mbarrier), "r"(bytes) : "memory");
}

// Whether the phase of that parity has completed; may wait a while before it says no.
__device__ __forceinline__ bool mbarrier_try_wait_parity(unsigned mbarrier, unsigned parity) {
    unsigned done;
    asm volatile("{\n\t.reg .pred done;\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, done;\n\t}"
                 : "=r"(done)
                 : "r"(mbarrier), "r"(parity)
                 : "memory");
    return done != 0;
}

// Both addresses and the size are multiples of 16. The mbarrier receives the bytes.
__device__ __forceinline__ void cp_async_bulk_shared_global(unsigned shared, const void* global, unsigned bytes,
                                                            unsigned mbarrier) {
    asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared),
                 "l"(global), "r"(bytes), "r"(mbarrier)
                 : "memory");
}

// What this thread wrote to shared memory comes before what the async proxy writes there.
__device__ __forceinline__ void fence_proxy_async_shared_cta() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

}  // namespace ptx

// SPDX-License-Identifier: Apache-2.0
// cp.async (sm_80): one wrapper = one PTX instruction, named like it.
#pragma once

namespace ptx {

// The address inside the shared window of a generic pointer into shared memory.
__device__ __forceinline__ unsigned cvta_to_shared(const void* pointer) {
    unsigned long long d;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(d) : "l"(pointer));
    return static_cast<unsigned>(d);
}

// 16 bytes, both sides aligned to 16, past the L1 cache.
__device__ __forceinline__ void cp_async_cg_16(unsigned shared, const void* global) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
}

__device__ __forceinline__ void cp_async_commit_group() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most kPending of this thread's newest groups are still in flight.
template <int kPending>
__device__ __forceinline__ void cp_async_wait_group() {
    asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

}  // namespace ptx

// SPDX-License-Identifier: Apache-2.0
// One wrapper = one PTX instruction for the blocks of a cluster and each other's shared memory, named like it.
#pragma once

namespace ptx {

// Of this block in its cluster.
__device__ __forceinline__ unsigned cluster_ctarank() {
    unsigned d;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(d));
    return d;
}

// Blocks of it.
__device__ __forceinline__ unsigned cluster_nctarank() {
    unsigned d;
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(d));
    return d;
}

// What a thread did before its arrival is seen behind the wait by all threads of the cluster.
__device__ __forceinline__ void barrier_cluster_arrive_release() {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
// The same, and tells nobody what this thread did before.
__device__ __forceinline__ void barrier_cluster_arrive_relaxed() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ __forceinline__ void barrier_cluster_wait_acquire() {
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The same place in the shared memory of block `rank`.
__device__ __forceinline__ unsigned mapa_shared_cluster(unsigned shared, unsigned rank) {
    unsigned d;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(d) : "r"(shared), "r"(rank));
    return d;
}

__device__ __forceinline__ void st_shared_cluster_f32(unsigned shared, float a) {
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(shared), "f"(a) : "memory");
}

}  // namespace ptx

// SPDX-License-Identifier: Apache-2.0
// How one goes round a ring of stages whose mbarriers tell when each is full and when it is empty.
#pragma once
#include "ptx_bulk.cuh"

// The stage to use next and the parity of its phase.
template <unsigned kStages>
struct Turn {
    unsigned stage = 0, parity = 0;
    __device__ __forceinline__ void next() {
        if (++stage < kStages) return;
        stage = 0;
        parity ^= 1;
    }
};

__device__ __forceinline__ void wait(unsigned mbarrier, unsigned parity) {
    while (!ptx::mbarrier_try_wait_parity(mbarrier, parity)) {
    }
}

// The mbarriers of an attention kernel's rings, a pair each, full and empty: of each place for queries, of the keys of each
// stage, of its values. Memory: what inherits this, with the shared address `start` and the offset kBarriers.
template <unsigned kPlaces, unsigned kStages, class Memory>
struct RingBarriers {
    static constexpr unsigned kBarrierBytes = 16 * (2 * kStages + kPlaces);

    __device__ __forceinline__ unsigned pair(unsigned i) const {
        return static_cast<const Memory*>(this)->start + Memory::kBarriers + i * 16;
    }
    __device__ __forceinline__ unsigned queries_full(unsigned i = 0) const { return pair(i); }
    __device__ __forceinline__ unsigned keys_full(unsigned i) const { return pair(kPlaces + i); }
    __device__ __forceinline__ unsigned values_full(unsigned i) const { return pair(kPlaces + kStages + i); }
    __device__ __forceinline__ static unsigned empty(unsigned full) { return full + 8; }

    // Arrivals that tell of an empty place for queries, and of an empty stage.
    __device__ __forceinline__ void init(unsigned readers_of_queries, unsigned readers) const {
        for (unsigned i = 0; i < 2 * kStages + kPlaces; ++i) {
            ptx::mbarrier_init(pair(i), 1);
            ptx::mbarrier_init(empty(pair(i)), i < kPlaces ? readers_of_queries : readers);
        }
    }
};

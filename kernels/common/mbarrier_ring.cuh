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

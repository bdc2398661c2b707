// SPDX-License-Identifier: Apache-2.0
// An arrival that announces 0 bytes, and no copy: does the phase complete?
// probe: target sm_90a
// probe: out complete u32 1
#include "../../common/ptx_bulk.cuh"
#include "../../common/ptx_cp_async.cuh"

extern "C" __global__ void probe(unsigned* complete) {
    __shared__ alignas(8) unsigned long long mbarrier;
    const unsigned at = ptx::cvta_to_shared(&mbarrier);
    ptx::mbarrier_init(at, 1);
    ptx::mbarrier_arrive_expect_tx(at, 0);
    *complete = ptx::mbarrier_try_wait_parity(at, 0);
}

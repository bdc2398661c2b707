// SPDX-License-Identifier: Apache-2.0
// Does the phase of an mbarrier with one expected arrival complete at the arrival, when that one
// announced bytes? And once a bulk copy has brought them?
// probe: target sm_90a
// probe: in from u32 1 2 3 4
// probe: out after_arrival u32 1
// probe: out after_copy u32 1
// probe: out copied u32 4
#include "../../common/ptx_bulk.cuh"
#include "../../common/ptx_cp_async.cuh"

extern "C" __global__ void probe(const unsigned* from, unsigned* after_arrival, unsigned* after_copy, unsigned* copied) {
    __shared__ alignas(16) unsigned buffer[4];
    __shared__ alignas(8) unsigned long long mbarrier;
    const unsigned at = ptx::cvta_to_shared(&mbarrier);
    ptx::mbarrier_init(at, 1);
    ptx::fence_mbarrier_init_release_cluster();
    ptx::mbarrier_arrive_expect_tx(at, 16);
    *after_arrival = ptx::mbarrier_try_wait_parity(at, 0);
    ptx::cp_async_bulk_shared_global(ptx::cvta_to_shared(buffer), from, 16, at);
    while (!ptx::mbarrier_try_wait_parity(at, 0)) {
    }
    *after_copy = 1;
    for (int i = 0; i < 4; ++i) copied[i] = buffer[i];
}

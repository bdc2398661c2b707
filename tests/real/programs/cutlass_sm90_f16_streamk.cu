// SPDX-License-Identifier: Apache-2.0
// The Hopper stream-K GEMM: 8 multiprocessors share 6 tiles, so most tiles are sums of parts, by
// atomic adds (nondeterministic reduction). Small integers: every order of the sums gives the same,
// and the result is exact.
#include "cutlass_gemm.cuh"

#include "../units/cutlass_sm90_f16_streamk.cu"

int main(int argc, char** argv) {
    using namespace real;
    using Scheduler = cutlass::gemm::kernel::detail::PersistentTileSchedulerSm90StreamKParams;
    Outcome outcome(argc, argv);
    Kernel<StreamK>::TileSchedulerArguments scheduler;
    scheduler.decomposition_mode = Scheduler::DecompositionMode::StreamK;
    scheduler.reduction_mode = Scheduler::ReductionMode::Nondeterministic;
    for (const Problem& size : problems(outcome, {256, 384, 1024}, {{256, 384, 1024, 4, 0.5f}, {256, 384, 1024, 4}}))
        run_gemm<StreamK>(outcome, size, integers<StreamK::A>(size_t(size.m) * size.k, 5, 4),
                          integers<StreamK::B>(size_t(size.n) * size.k, 6, 4),
                          [](double) { return 0.0; }, 0, scheduler);
    return outcome.finish();
}

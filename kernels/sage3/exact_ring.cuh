// SPDX-License-Identifier: Apache-2.0
// What the exact path's attention kernel is given, its shared memory, and the thread that fills it (exact_attention.cuh).
#pragma once
#include "../common/mbarrier_ring.cuh"
#include "../common/ptx_cp_async.cuh"
#include "sage3_epilogue.cuh"
#include "sage3_params.cuh"

namespace sage3 {
namespace exact {

constexpr int kThreads = 32 * (kWarps + 4);  // two warpgroups that compute, one of which one thread loads
constexpr unsigned kStages = 2;              // of the ring

template <class T>
struct Params : BiasedCall<T> {
    const unsigned char *q, *k, *v;  // [BH, stored / tile, operand_offset] f16 (exact_expand.cuh)
};

// Shared memory of a block, in bytes from the start.
template <int kDepth>
struct Memory : RingBarriers<1, kStages, Memory<kDepth>> {
    static constexpr unsigned kKeys = key_tile(kDepth), kQueries = kTile * kDepth * 2, kOperand = kKeys * kDepth * 2;
    static constexpr unsigned kRing = kQueries, kBias = kRing + kStages * 2 * kOperand, kStaging = kBias + kStages * kKeys * 4,
                              kBarriers = kStaging + kWarps * Staging::kBytes, kBytes = kBarriers + Memory::kBarrierBytes;
    unsigned start;

    __device__ __forceinline__ unsigned keys(unsigned i) const { return start + kRing + i * 2 * kOperand; }
    __device__ __forceinline__ unsigned values(unsigned i) const { return keys(i) + kOperand; }
    __device__ __forceinline__ unsigned bias(unsigned i) const { return start + kBias + i * kKeys * 4; }
};

// One thread asks for all tiles of its block's work, each as soon as its place is empty.
template <Config kConfig, class T>
__device__ __forceinline__ void produce(const Params<T>& p, const Memory<kConfig.head_dim>& memory, int items) {
    constexpr int kDepth = kConfig.head_dim;
    using M = Memory<kDepth>;
    Turn<kStages> turn;
    unsigned of_queries = 0;
    for (Items item; item.number < items; item.next()) {
        const Work work = Work::of<kConfig>(p, item.number);
        if (work.empty() || work.visits.count == 0) continue;  // then nobody waits for the queries, either
        wait(M::empty(memory.queries_full()), of_queries ^ 1);
        of_queries ^= 1;
        ptx::mbarrier_arrive_expect_tx_relaxed_cta(memory.queries_full(), M::kQueries);
        const long long query = (static_cast<long long>(work.bh) * p.queries.tiles() + work.tile) * kTile;
        ptx::cp_async_bulk_shared_global(memory.start, p.q + query * (kDepth * 2), M::kQueries, memory.queries_full());
        const long long first = static_cast<long long>(work.kv) * p.keys.stored + work.keys.stored;
        const float* const bias = work.bias(p);
        for (int visit = 0; visit < work.visits.count; ++visit, turn.next()) {
            const int key = work.visits.tile(visit) * static_cast<int>(M::kKeys);
            const long long byte = (first + key) * (kDepth * 2);
            const unsigned keys = memory.keys_full(turn.stage), values = memory.values_full(turn.stage);
            wait(M::empty(keys), turn.parity ^ 1);
            ptx::mbarrier_arrive_expect_tx_relaxed_cta(keys, M::kOperand + M::kKeys * 4);
            ptx::cp_async_bulk_shared_global(memory.bias(turn.stage), bias + key, M::kKeys * 4, keys);
            ptx::cp_async_bulk_shared_global(memory.keys(turn.stage), p.k + byte, M::kOperand, keys);
            wait(M::empty(values), turn.parity ^ 1);
            ptx::mbarrier_arrive_expect_tx_relaxed_cta(values, M::kOperand);
            ptx::cp_async_bulk_shared_global(memory.values(turn.stage), p.v + byte, M::kOperand, values);
        }
    }
}

}  // namespace exact
}  // namespace sage3

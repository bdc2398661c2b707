// SPDX-License-Identifier: Apache-2.0
// What the Hopper kernel's blocks are given, how their shared memory lies, and the one thread that fills it: queries, and
// tiles of keys and values through a ring of mbarriers.
#pragma once
#include "../common/mbarrier_ring.cuh"
#include "sage3_epilogue.cuh"
#include "sage3_params.cuh"

namespace sage3 {
namespace hopper {

constexpr int kKeys = 128, kGroups = 2;  // keys of a step; warpgroups that compute
constexpr int kThreads = 128 * (kGroups + 1);
constexpr unsigned kStages = 3;

// Channels of O that one item of work makes, and of a row of Q or K that lie together. Of more than 128 channels O does not
// fit in registers: then two items have the same queries, S and softmax, and a half of the channels each.
__host__ __device__ constexpr int channels(int depth) { return depth <= 128 ? depth : 128; }
__host__ __device__ constexpr int parts(int depth) { return depth / channels(depth); }

template <class T>
struct Int8Params : Call<T> {
    const signed char* q_codes;    // [BH, stored q, DP] (int8_offset)
    const float* q_scales;         // [BH, stored q]
    const signed char* k_codes;    // [BHkv, stored k, DP] (int8_offset)
    const float* k_scales;         // [BHkv, stored k / 128]
    const unsigned char* v_codes;  // [BHkv, stored k / 128, DP, 128] (code_offset), tokens permuted in sixteens
    const float* v_largest;        // [sequences, Hkv, DP]
#if WW_TAPS
    int columns;            // of the taps
    float* s;               // [BH, Lq, columns] logits * log2 e; -inf where masked
    unsigned char* p_codes;  // [BH, Lq, columns]
    float* row_max;         // [BH, columns / 128, Lq] after the tile
    float* row_sum;         // [BH, columns / 128, Lq] after the tile, of the quantised P
#endif
};

// Shared memory of a block, in bytes from the start.
template <int kDepth>
struct Memory : RingBarriers<kStages, Memory<kDepth>> {
    static constexpr unsigned kWidth = channels(kDepth);
    static constexpr unsigned kCodes = kKeys * kDepth, kValues = kKeys * kWidth;  // of K and of V
    static constexpr unsigned kStage = kCodes + kValues + 8 * kKeys;  // eight rows of ones below the channels
    static constexpr unsigned kQueries = kTile * kDepth;
    static constexpr unsigned kRing = kQueries, kStaging = kRing + kStages * kStage,
                              kBarriers = kStaging + kGroups * 4 * Staging::kBytes, kBytes = kBarriers + Memory::kBarrierBytes;
    unsigned start;

    __device__ __forceinline__ unsigned keys(unsigned i) const { return start + kRing + i * kStage; }
    __device__ __forceinline__ unsigned values(unsigned i) const { return keys(i) + kCodes; }
};

// One thread asks for all tiles of its block's work, each as soon as its place is empty.
template <int kDepth, Mask kMask, class T>
__device__ __forceinline__ void produce(const Int8Params<T>& p, const Memory<kDepth>& memory, int items) {
    using M = Memory<kDepth>;
    Turn<kStages> turn;
    unsigned of_queries = 0;
    for (int item = blockIdx.x; item < items; item += gridDim.x) {
        const Work work = Work::of<kKeys, kMask != Mask::none>(p, item / parts(kDepth));
        const unsigned part = item % parts(kDepth);
        if (work.empty()) continue;
        const long long first = static_cast<long long>(work.kv) * p.keys.stored + work.keys.stored;
        for (int visit = 0; visit < work.visits.count; ++visit, turn.next()) {
            const long long row = first + work.visits.tile(visit) * kKeys;
            const unsigned keys = memory.keys_full(turn.stage), values = memory.values_full(turn.stage);
            wait(M::empty(keys), turn.parity ^ 1);
            ptx::mbarrier_arrive_expect_tx_relaxed_cta(keys, M::kCodes);
            ptx::cp_async_bulk_shared_global(memory.keys(turn.stage), p.k_codes + row * kDepth, M::kCodes, keys);
            if (visit == 0) {  // behind the first keys, which need not wait for the last work's queries
                wait(M::empty(memory.queries_full()), of_queries ^ 1);
                of_queries ^= 1;
                ptx::mbarrier_arrive_expect_tx_relaxed_cta(memory.queries_full(), M::kQueries);
                const long long query = (static_cast<long long>(work.bh) * p.queries.tiles() + work.tile) * kTile;
                ptx::cp_async_bulk_shared_global(memory.start, p.q_codes + query * kDepth, M::kQueries, memory.queries_full());
            }
            wait(M::empty(values), turn.parity ^ 1);
            ptx::mbarrier_arrive_expect_tx_relaxed_cta(values, M::kValues);
            ptx::cp_async_bulk_shared_global(memory.values(turn.stage), p.v_codes + row * kDepth + part * M::kValues,
                                             M::kValues, values);
        }
    }
}

}  // namespace hopper
}  // namespace sage3

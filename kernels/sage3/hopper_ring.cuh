// SPDX-License-Identifier: Apache-2.0
// What the Hopper kernel's blocks are given, how their shared memory lies, and the one thread that fills it: queries, and
// tiles of keys and values through a ring of mbarriers.
#pragma once
#include "../common/mbarrier_ring.cuh"
#include "../common/ptx_atom.cuh"
#include "sage3_epilogue.cuh"
#include "sage3_params.cuh"

namespace sage3 {
namespace hopper {

constexpr int kKeys = 128, kGroups = 2;  // keys of a step; warpgroups that compute
constexpr int kThreads = 128 * (kGroups + 1);
constexpr unsigned kPlaces = 2;  // for queries: those of the next item of work come while an item is made

// Of the ring of keys and values.
__host__ __device__ constexpr unsigned stages(int depth) { return depth <= 128 ? 3 : 2; }

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
    unsigned* taken;               // items of work that blocks have asked for behind their first; 0 before the launch and after
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
struct Memory : RingBarriers<kPlaces, stages(kDepth), Memory<kDepth>> {
    static constexpr unsigned kStages = stages(kDepth);
    static constexpr unsigned kWidth = channels(kDepth);
    static constexpr unsigned kCodes = kKeys * kDepth, kValues = kKeys * kWidth;  // of K and of V
    static constexpr unsigned kStage = kCodes + kValues + 8 * kKeys;  // eight rows of ones below the channels
    // Of an item of work: codes and scales of its queries, the largest magnitudes of V's channels, what it is (Item).
    static constexpr unsigned kQueries = kTile * kDepth, kRowScales = kTile * 4, kLargest = kWidth * 4, kItem = 16;
    static constexpr unsigned kRing = kPlaces * kQueries, kStaging = kRing + kStages * kStage,
                              kScales = kStaging + kGroups * 4 * Staging::kBytes,
                              kBarriers = kScales + kPlaces * (kRowScales + kLargest + kItem),
                              kBytes = kBarriers + Memory::kBarrierBytes;
    unsigned start;

    __device__ __forceinline__ unsigned queries(unsigned place) const { return start + place * kQueries; }
    __device__ __forceinline__ unsigned row_scales(unsigned place) const { return start + kScales + place * kRowScales; }
    __device__ __forceinline__ unsigned largest(unsigned place) const {
        return start + kScales + kPlaces * kRowScales + place * kLargest;
    }
    __device__ __forceinline__ unsigned item(unsigned place) const {
        return start + kScales + kPlaces * (kRowScales + kLargest) + place * kItem;
    }

    __device__ __forceinline__ unsigned keys(unsigned i) const { return start + kRing + i * kStage; }
    __device__ __forceinline__ unsigned values(unsigned i) const { return keys(i) + kCodes; }
};

// What the thread that loads says of the next item of work.
struct Item {
    int number;      // -1: there is none
    unsigned tiles;  // of keys that it sees

    __device__ __forceinline__ static Item load(unsigned shared) {
        unsigned number, tiles;
        ptx::ld_shared_v2_b32(number, tiles, shared);
        return {static_cast<int>(number), tiles};
    }
    __device__ __forceinline__ void store(unsigned shared) const {
        ptx::st_shared_v2_b32(shared, static_cast<unsigned>(number), tiles);
    }
};

// Waits for the next place for queries and says what comes into it; which place that is.
template <int kDepth>
__device__ __forceinline__ unsigned say(const Memory<kDepth>& memory, Turn<kPlaces>& place, const Item& item) {
    const unsigned i = place.stage;
    wait(Memory<kDepth>::empty(memory.queries_full(i)), place.parity ^ 1);
    place.next();
    item.store(memory.item(i));
    return i;
}

// Says that an item of work comes next and asks for its queries.
template <int kDepth, class T>
__device__ __forceinline__ void announce(const Int8Params<T>& p, const Memory<kDepth>& memory, Turn<kPlaces>& place,
                                         const Item& item, const Work& work, unsigned part) {
    using M = Memory<kDepth>;
    const unsigned i = say(memory, place, item), full = memory.queries_full(i);
    ptx::mbarrier_arrive_expect_tx(full, M::kQueries + M::kRowScales + M::kLargest);
    const long long row = (static_cast<long long>(work.bh) * p.queries.tiles() + work.tile) * kTile;
    const long long channels = (static_cast<long long>(work.sequence()) * p.kv_heads +
                                key_head(work.head, p.heads, p.kv_heads)) * kDepth + part * M::kWidth;
    ptx::cp_async_bulk_shared_global(memory.queries(i), p.q_codes + row * kDepth, M::kQueries, full);
    ptx::cp_async_bulk_shared_global(memory.row_scales(i), p.q_scales + row, M::kRowScales, full);
    ptx::cp_async_bulk_shared_global(memory.largest(i), p.v_largest + channels, M::kLargest, full);
}

// The next item of work that no block has; items or more: there is none. So blocks whose items are short make more of them. Each
// block is told once that there is none, so there are `items` calls in all, and the last puts the counter back to 0.
// The shuffle among this thread alone tells ptxas that the number is uniform: else what follows from it does not fit into the
// registers of a thread that loads.
__device__ __forceinline__ int next_item(unsigned* taken, int items) {
    const unsigned asked = ptx::atom_relaxed_gpu_global_inc_u32(taken, static_cast<unsigned>(items - 1));
    return static_cast<int>(gridDim.x + ptx::shfl_sync_idx_b32(asked, 0, 1));
}

// One thread, a warp's first lane, asks for all tiles of its block's work, each as soon as its place is empty.
template <int kDepth, Mask kMask, class T>
__device__ __forceinline__ void produce(const Int8Params<T>& p, const Memory<kDepth>& memory, int items) {
    using M = Memory<kDepth>;
    Turn<M::kStages> turn;
    Turn<kPlaces> place;
    for (int number = blockIdx.x; number < items; number = next_item(p.taken, items)) {
        const Work work = Work::of<kKeys, kMask != Mask::none>(p, number / parts(kDepth));
        const unsigned part = number % parts(kDepth);
        if (work.empty()) continue;
        const Item item{number, static_cast<unsigned>(work.visits.count)};
        const long long first = static_cast<long long>(work.kv) * p.keys.stored + work.keys.stored;
        if (work.visits.count == 0) announce(p, memory, place, item, work, part);
        for (int visit = 0; visit < work.visits.count; ++visit, turn.next()) {
            const long long row = first + work.visits.tile(visit) * kKeys;
            const unsigned keys = memory.keys_full(turn.stage), values = memory.values_full(turn.stage);
            wait(M::empty(keys), turn.parity ^ 1);
            ptx::mbarrier_arrive_expect_tx_relaxed_cta(keys, M::kCodes);
            ptx::cp_async_bulk_shared_global(memory.keys(turn.stage), p.k_codes + row * kDepth, M::kCodes, keys);
            if (visit == 0) announce(p, memory, place, item, work, part);  // behind the first keys, which need no place
            wait(M::empty(values), turn.parity ^ 1);
            ptx::mbarrier_arrive_expect_tx_relaxed_cta(values, M::kValues);
            ptx::cp_async_bulk_shared_global(memory.values(turn.stage), p.v_codes + row * kDepth + part * M::kValues,
                                             M::kValues, values);
        }
    }
    ptx::mbarrier_arrive(memory.queries_full(say(memory, place, {-1, 0})));
}

}  // namespace hopper
}  // namespace sage3

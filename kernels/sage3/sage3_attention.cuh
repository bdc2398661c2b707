// SPDX-License-Identifier: Apache-2.0
// FP4 attention of Sage Attention 3 for sm_120a. A block makes tiles of 128 queries of one head, one after the other: warp w
// its rows 16w .. 16w + 15, and one thread of a third warpgroup loads. Keys come in tiles of 128 (64 for more than
// 128 channels) through a ring of mbarriers.
//   S = bias + Q4 K4^T;  P = 2688 * 2^((S - m) c) in e2m1 with one ue4m3 scale for 16 keys, made in
//   registers;  O = O 2^((m_old - m) c) + P4 V4;  l likewise from the unquantised P;  O / l.
#pragma once
#include "sage3_epilogue.cuh"
#include "sage3_mask.cuh"
#include "sage3_ring.cuh"
#include "sage3_taps.cuh"
#include "sage3_tile.cuh"

namespace sage3 {

// Of a thread. 256 * 240 + 128 * 24 = 384 * 168: all that the launch gives a block.
__host__ __device__ constexpr int registers_to_compute(int padded_depth) { return padded_depth <= 128 ? 232 : 240; }
constexpr int kRegistersToLoad = 24;

// What a warp keeps while it goes over the keys.
template <int kDepth>
struct Running {
    QueryFragments<kDepth> q;
    RowState state{{minus_infinity(), minus_infinity()}, {0.0f, 0.0f}};
    typename Shape<kDepth>::Output o = {};
};

// One tile of keys: its logits, their softmax, its part of O.
template <Config kConfig, bool kMasked, class T>
__device__ __forceinline__ void attend(const Params<T>& p, const Work& work, const Place& at, int tile, unsigned stage,
                                       const Lane& lane, float c, Running<kConfig.head_dim>& r) {
    constexpr int kDepth = kConfig.head_dim;
    const int first_key = tile * Shape<kDepth>::kKeys;
    typename Shape<kDepth>::Scores s;
    typename Shape<kDepth>::Maxima largest;
    float rescale[2];
    Probabilities<kDepth> probabilities;
    multiply_q_k(r.q, stage, lane, s);
    if constexpr (kMasked && kConfig.mask != Mask::none) add_mask<kConfig>(p, work, at, first_key, s);
    if constexpr (kMasked) hide<kConfig>(p, work, at, first_key, s);
    tap_scores<kDepth>(p, work, at, first_key, s);
    group_maxima<kDepth>(s, largest);
    advance<kDepth, kMasked>(r.state, largest, c, rescale);
    quantize_p<kDepth, kMasked>(s, largest, c, r.state, lane, probabilities);
    tap_probabilities<kDepth>(p, work, at, tile, largest, probabilities, r.state);
#pragma unroll
    for (int j = 0; j < kDepth / 8; ++j)
#pragma unroll
        for (int x = 0; x < 4; ++x) r.o[j][x] = ptx::mul_rn_f32(r.o[j][x], rescale[x / 2]);
    multiply_p_v<kDepth>(probabilities, stage, lane, r.o);
    tap_o<kDepth>(p, work, at, tile, r.o);
}

// The next tile out of the ring.
template <Config kConfig, bool kMasked, class T>
__device__ __forceinline__ void step(const Params<T>& p, const Work& work, const Place& at, int visit,
                                     const Ring<kConfig.head_dim>& ring, const Lane& lane, Turn<kStages>& turn, float c,
                                     Running<kConfig.head_dim>& r) {
    wait(ring.full(turn.stage), turn.parity);
    attend<kConfig, kMasked>(p, work, at, work.visits.tile(visit), ring.stage(turn.stage), lane, c, r);
    ptx::bar_warp_sync();
    if (at.lane == 0) ptx::mbarrier_arrive(ring.empty(turn.stage));
    turn.next();
}

template <Config kConfig, class T>
__device__ __forceinline__ void compute(const Params<T>& p, unsigned shared, const Ring<kConfig.head_dim>& ring, int items) {
    constexpr int kDepth = kConfig.head_dim;
    const Lane lane = Lane::of<kDepth>(threadIdx.x % 32);
    const float c = ptx::mul_rn_f32(p.scale, kLog2e);
    Turn<kStages> turn;
    for (Items item; item.number < items; item.next()) {
        const Work work = Work::of<kConfig>(p, item.number);
        if (work.empty()) continue;
        const Place at = Place::of(work, threadIdx.x);
        Running<kDepth> r;
        r.q.load(p, work, at);
        tap_unvisited<kDepth>(p, work, at);
        int visit = 0;
        for (; visit < work.visits.masked(); ++visit) step<kConfig, true>(p, work, at, visit, ring, lane, turn, c, r);
        if constexpr (kConfig.mask == Mask::none)
            for (; visit < work.visits.count; ++visit) step<kConfig, false>(p, work, at, visit, ring, lane, turn, c, r);
        // Made again from numbers that the compiler does not know, so that nothing of it waits in registers meanwhile.
        int same = item.number, thread = threadIdx.x;
        asm volatile("" : "+r"(same), "+r"(thread));
        const Work again = Work::of<kConfig>(p, same);
        store_result<kDepth>(p, again, Place::of(again, thread), Staging::of(shared, thread), r.state, r.o);
    }
}

template <Config kConfig, class T>
__device__ void attention(const Params<T>& p) {
    constexpr int kDepth = kConfig.head_dim;
    static_assert(kDepth == 64 || kDepth == 128 || kDepth == 256, "the quantisers pad to one of these");
    extern __shared__ __align__(128) unsigned char shared[];
    const unsigned start = ptx::cvta_to_shared(shared);
    const Ring<kDepth> ring{start + kWarps * Staging::kBytes};
    if (threadIdx.x == 0) ring.init();
    ptx::fence_mbarrier_init_release_cluster();
    ptx::bar_sync(0);
    const int items = p.batch_heads * p.queries.tiles();
    if (threadIdx.x >= 32 * kWarps) {
        ptx::setmaxnreg_dec<kRegistersToLoad>();
        if (threadIdx.x == 32 * kWarps) produce<kConfig>(p, ring, items);
        return;
    }
    ptx::setmaxnreg_inc<registers_to_compute(kDepth)>();
    compute<kConfig>(p, start, ring, items);
}

}  // namespace sage3

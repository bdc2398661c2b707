// SPDX-License-Identifier: Apache-2.0
// Sage Attention 3's FP4 attention in its own numbers on Hopper's f16 tensor cores (sm_90a). A block makes tiles of 128 queries
// of one head, one after the other: two warpgroups compute 64 rows each, one thread of a third loads tiles of keys through a
// ring of mbarriers. Operands are f16 of NVFP4 codes (exact_expand.cuh); softmax, scales and row sums are the FP4 kernel's own
// instructions (sage3_tile.cuh) on the same keys of the same lanes, and P is rounded to e2m1 times ue4m3 as there.
#pragma once
#include "../common/e2m1.cuh"
#include "../common/ptx_f16x2.cuh"
#include "../common/ptx_wgmma.cuh"
#include "../common/ptx_wgmma_f16.cuh"
#include "../common/wgmma_operands.cuh"
#include "exact_ring.cuh"
#include "sage3_mask.cuh"
#include "sage3_taps.cuh"

namespace sage3 {
namespace exact {

constexpr int kRegistersToCompute = 240, kRegistersToLoad = 24;

// P as the A operand: of each 16 positions of keys two rows at a time, k 2t and k 2t + 8; pairs of f16.
template <int kDepth>
using Weights = unsigned[Shape<kDepth>::kKeys / 16][4];

// P before its scales are multiplied in: e2m1 by value, and the scale of each band and row half, twice.
template <int kDepth>
struct Rounded {
    Weights<kDepth> codes;
    unsigned scales[Shape<kDepth>::kBands][2];
};

// What a warp keeps while it goes over the keys.
template <int kDepth>
struct Running {
    RowState state{{minus_infinity(), minus_infinity()}, {0.0f, 0.0f}};
    typename Shape<kDepth>::Output o = {};
    typename Shape<kDepth>::Scores s;
    Weights<kDepth> p = {};
    Turn<kStages> keys, values;  // of which S is made or which are next, and of which P V
};

// S begins with the biases of the next keys. ptxas wants this done before any wgmma that is still in flight when S is multiplied.
template <int kDepth>
__device__ __forceinline__ void begin_s(const Memory<kDepth>& memory, const Place& at, Running<kDepth>& r) {
    wait(memory.keys_full(r.keys.stage), r.keys.parity);
    load_bias<kDepth>(memory.bias(r.keys.stage) + at.t * 8 * 4u, r.s);
}

// Registers that a wgmma reads or adds to are written.
template <int kDepth>
__device__ __forceinline__ void fence(Running<kDepth>& r) {
    fence_operands(r.s);
    fence_operands(r.o);
    ptx::wgmma_fence_sync_aligned();
}

// Begins S += Q K^T. queries: of this warpgroup.
template <int kDepth>
__device__ __forceinline__ void begin_q_k(const Memory<kDepth>& memory, unsigned queries, Running<kDepth>& r) {
    constexpr int kKeys = Shape<kDepth>::kKeys;
    const unsigned keys = memory.keys(r.keys.stage);
#pragma unroll
    for (int step = 0; step < kDepth / 16; ++step) {
        const unsigned long long a = ptx::wgmma_descriptor<128>(queries + step / 4 * kTile * 128) + step % 4 * 2,
                                 b = ptx::wgmma_descriptor<128>(keys + step / 4 * kKeys * 128) + step % 4 * 2;
        if constexpr (kKeys == 128) ptx::wgmma_mma_async_m64n128k16_f32_f16_f16(r.s, a, b, 1);
        else ptx::wgmma_mma_async_m64n64k16_f32_f16_f16(r.s, a, b, 1);
    }
    ptx::wgmma_commit_group_sync_aligned();
}

// Begins O += P V.
template <int kDepth>
__device__ __forceinline__ void begin_p_v(unsigned values, Running<kDepth>& r) {
#pragma unroll
    for (int step = 0; step < Shape<kDepth>::kKeys / 16; ++step) {
        const unsigned long long v = ptx::wgmma_descriptor<128>(values + step / 4 * kDepth * 128) + step % 4 * 2;
        if constexpr (kDepth == 64) ptx::wgmma_mma_async_m64n64k16_f32_f16_f16(r.o, r.p[step], v, 1);
        else if constexpr (kDepth == 128) ptx::wgmma_mma_async_m64n128k16_f32_f16_f16(r.o, r.p[step], v, 1);
        else ptx::wgmma_mma_async_m64n256k16_f32_f16_f16(r.o, r.p[step], v, 1);
    }
    ptx::wgmma_commit_group_sync_aligned();
}

// The FP4 kernel's codes and scales for the taps, out of what the product is made from. step, i: of Weights.
template <int kDepth>
__device__ __forceinline__ void keep_codes(const Weights<kDepth>& rounded, const float (&scale)[2][Shape<kDepth>::kBands],
                                           int lane, Probabilities<kDepth>& out) {
    for (int step = 0; step < Shape<kDepth>::kKeys / 16; ++step)
        for (int i = 0; i < 4; ++i) {
            const unsigned bits = ptx::mul_rn_f16x2(rounded[step][i], 0x04000400u) >> 9;  // times 2^-14: values_of_codes
            const unsigned codes = (bits & 7u) | (bits >> 16 & 7u) << 4;
            unsigned& word = out.codes[step / 4][step / 2 % 2 * 2 + i % 2];
            const int byte = step % 2 * 2 + i / 2;
            word = byte == 0 ? codes : word | codes << byte * 8;
        }
    pack_scales<kDepth>(scale, lane % 2 == 0 ? 0x6240u : 0x7351u, out);
}

// Two-level quantisation by value: e2m1, ue4m3 and their products are exact in f16.
template <int kDepth, bool kMasked>
__device__ __forceinline__ void quantize_p(const typename Shape<kDepth>::Scores& s, const typename Shape<kDepth>::Maxima& largest,
                                           float c, RowState& state, int lane, Rounded<kDepth>& out, Probabilities<kDepth>& taps) {
    constexpr int kBands = Shape<kDepth>::kBands;
    constexpr unsigned kSixes = 0x46004600u;
    float scale[2][kBands];
    weigh<kDepth, kMasked>(s, largest, c, state, scale, [&](int half, int band, const float (&x)[8]) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
            out.codes[band * 2 + i / 2][i % 2 * 2 + half] =
                ptx::min_f16x2(ptx::cvt_rn_f16x2_f32(nearest_e2m1(x[i * 2 + 1]), nearest_e2m1(x[i * 2])), kSixes);
    });
#pragma unroll
    for (int band = 0; band < kBands; ++band) {
        const unsigned both = ptx::cvt_rn_f16x2_e4m3x2(ptx::cvt_rn_satfinite_e4m3x2_f32(scale[1][band], scale[0][band]));
        out.scales[band][0] = ptx::prmt_b32(both, both, 0x1010u);
        out.scales[band][1] = ptx::prmt_b32(both, both, 0x3232u);
    }
#if WW_TAPS
    keep_codes<kDepth>(out.codes, scale, lane, taps);
#endif
}

// Waits for S, kPending later groups left in flight, and gives its keys back.
template <int kPending, int kDepth>
__device__ __forceinline__ void finish_q_k(const Memory<kDepth>& memory, const Place& at, Running<kDepth>& r) {
    ptx::wgmma_wait_group_sync_aligned<kPending>();
    fence_operands(r.s);
    ptx::bar_warp_sync();  // all lanes have read their biases
    if (at.lane == 0) ptx::mbarrier_arrive(Memory<kDepth>::empty(memory.keys_full(r.keys.stage)));
    r.keys.next();
}

// Waits for P V of the tile before `visit`, if any, and gives its values back.
template <int kDepth, class T>
__device__ __forceinline__ void finish_p_v(const Params<T>& p, const Work& work, const Place& at, int visit,
                                           const Memory<kDepth>& memory, Running<kDepth>& r) {
    ptx::wgmma_wait_group_sync_aligned<0>();
    fence_operands(r.o);
    if (visit == 0) return;
    if (at.lane == 0) ptx::mbarrier_arrive(Memory<kDepth>::empty(memory.values_full(r.values.stage)));
    r.values.next();
    tap_o<kDepth>(p, work, at, work.visits.tile(visit - 1), r.o);
}

// One tile of keys, whose S is there, while P V of the tile before may be in flight. The next tile's S begins in the same
// registers before P V of this one, so that its softmax need not wait for that. kLast: there is none.
template <Config kConfig, bool kMasked, bool kLast, class T>
__device__ __forceinline__ void step(const Params<T>& p, const Work& work, const Place& at, int visit,
                                     const Memory<kConfig.head_dim>& memory, unsigned queries, float c,
                                     Running<kConfig.head_dim>& r) {
    constexpr int kDepth = kConfig.head_dim;
    const int tile = work.visits.tile(visit), first_key = tile * Shape<kDepth>::kKeys;
    if constexpr (kMasked && kConfig.mask != Mask::none) add_mask<kConfig>(p, work, at, first_key, r.s);
    if constexpr (kMasked) hide<kConfig>(p, work, at, first_key, r.s);
    tap_scores<kDepth>(p, work, at, first_key, r.s);
    typename Shape<kDepth>::Maxima largest;
    float rescale[2];
    Rounded<kDepth> rounded;
    Probabilities<kDepth> taps;
    group_maxima<kDepth>(r.s, largest);
    advance<kDepth, kMasked>(r.state, largest, c, rescale);
    quantize_p<kDepth, kMasked>(r.s, largest, c, r.state, at.lane, rounded, taps);
    tap_probabilities<kDepth>(p, work, at, tile, largest, taps, r.state);
    fence_operands(rounded.codes);  // all of that behind P V of the tile before
    finish_p_v<kDepth>(p, work, at, visit, memory, r);
    // The scale is positive, which the compiler does not know.
    if (c < 0.0f) keep_operands(r.p, memory.start);
#pragma unroll
    for (int step = 0; step < Shape<kDepth>::kKeys / 16; ++step)
#pragma unroll
        for (int i = 0; i < 4; ++i) r.p[step][i] = ptx::mul_rn_f16x2(rounded.codes[step][i], rounded.scales[step / 2][i % 2]);
    if (ptx::vote_sync_any(rescale[0] != 1.0f || rescale[1] != 1.0f)) {  // most maxima are soon found
#pragma unroll
        for (int j = 0; j < kDepth / 8; ++j)
#pragma unroll
            for (int x = 0; x < 4; ++x) r.o[j][x] = ptx::mul_rn_f32(r.o[j][x], rescale[x / 2]);
    }
    if constexpr (!kLast) begin_s<kDepth>(memory, at, r);
    wait(memory.values_full(r.values.stage), r.values.parity);
    fence<kDepth>(r);
    if constexpr (!kLast) begin_q_k<kDepth>(memory, queries, r);
    begin_p_v<kDepth>(memory.values(r.values.stage), r);
    if constexpr (!kLast) finish_q_k<1>(memory, at, r);
}

template <Config kConfig, class T>
__device__ __forceinline__ void compute(const Params<T>& p, const Memory<kConfig.head_dim>& memory, int items) {
    constexpr int kDepth = kConfig.head_dim;
    const unsigned queries = memory.start + threadIdx.x / 128 * 64 * 128;
    const float c = ptx::mul_rn_f32(p.scale, kLog2e);
    Turn<kStages> keys, values;
    unsigned of_queries = 0;
    for (Items item; item.number < items; item.next()) {
        const Work work = Work::of<kConfig>(p, item.number);
        if (work.empty()) continue;
        const Place at = Place::of(work, threadIdx.x);
        Running<kDepth> r;
        r.keys = keys, r.values = values;
        tap_unvisited<kDepth>(p, work, at);
        if (work.visits.count > 0) {
            wait(memory.queries_full(), of_queries);
            of_queries ^= 1;
            begin_s<kDepth>(memory, at, r);
            fence<kDepth>(r);
            begin_q_k<kDepth>(memory, queries, r);
            finish_q_k<0>(memory, at, r);
            int visit = 0;
            const int last = work.visits.count - 1, masked = work.visits.masked() < last ? work.visits.masked() : last;
            for (; visit < masked; ++visit) step<kConfig, true, false>(p, work, at, visit, memory, queries, c, r);
            if constexpr (kConfig.mask == Mask::none)
                for (; visit < last; ++visit) step<kConfig, false, false>(p, work, at, visit, memory, queries, c, r);
            step<kConfig, true, true>(p, work, at, last, memory, queries, c, r);  // maybe with nothing to hide
            finish_p_v<kDepth>(p, work, at, work.visits.count, memory, r);
            if (at.lane == 0) ptx::mbarrier_arrive(Memory<kDepth>::empty(memory.queries_full()));
        }
        keys = r.keys, values = r.values;
        // Made again from numbers that the compiler does not know, so that nothing of it waits in registers meanwhile.
        int same = item.number, thread = threadIdx.x;
        asm volatile("" : "+r"(same), "+r"(thread));
        const Work again = Work::of<kConfig>(p, same);
        store_result<kDepth>(p, again, Place::of(again, thread), Staging::of(memory.start + Memory<kDepth>::kStaging, thread),
                             r.state, r.o);
    }
}

template <Config kConfig, class T>
__device__ void attention(const Params<T>& p) {
    constexpr int kDepth = kConfig.head_dim;
    static_assert(kDepth == 64 || kDepth == 128 || kDepth == 256, "the quantisers pad to one of these");
    extern __shared__ __align__(1024) unsigned char shared[];
    const Memory<kDepth> memory{{}, ptx::cvta_to_shared(shared)};
    if (threadIdx.x == 0) memory.init(kWarps, kWarps);
    ptx::fence_mbarrier_init_release_cluster();
    ptx::bar_sync(0);
    const int items = p.batch_heads * p.queries.tiles();
    if (threadIdx.x >= 32 * kWarps) {
        ptx::setmaxnreg_dec<kRegistersToLoad>();
        if (threadIdx.x == 32 * kWarps) produce<kConfig>(p, memory, items);
        return;
    }
    ptx::setmaxnreg_inc<kRegistersToCompute>();
    compute<kConfig>(p, memory, items);
}

}  // namespace exact
}  // namespace sage3

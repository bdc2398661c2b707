// SPDX-License-Identifier: Apache-2.0
// Attention on Hopper's INT8 and FP8 tensor cores. A block makes tiles of 128 queries of one head, one after the other: two
// warpgroups compute 64 rows each, one thread of a third loads tiles of 128 keys through a ring of mbarriers.
//   S = Q8 K8^T exactly;  P = 448 * 2^(S c - m) as e4m3 in registers, c of the row's and the tile's scales;
//   O = O 2^(m_old - m) + P V8, l likewise by a column of ones beside V;  O / l times V's scales.
#pragma once
#include "../common/ptx_wgmma.cuh"
#include "../common/wgmma_operands.cuh"
#include "hopper_ring.cuh"

namespace sage3 {
namespace hopper {

constexpr int kRegistersToCompute = 240, kRegistersToLoad = 24;
// An integer of less than 22 bits added to these bits is the float 1.5 * 2^23 plus the integer: no conversion.
constexpr int kMagicBits = 0x4b400000;
constexpr float kMagic = 12582912.0f;
constexpr int kHidden = -(1 << 22);  // below every score: |S| <= 127 * 127 * 256

// What a warp keeps while it goes over the keys.
template <int kWidth>
struct Rows {
    const float* k_scales;   // of the head's tiles of keys
    float max[2], scale[2];  // scale: of the row of Q times the logits' times log2 e
    float o[kWidth / 8][4];
    float sum[2];
};

// Begins S = Q K^T. queries: of this warpgroup. What lies together of a row is followed by the same of the tile's other rows.
template <int kDepth>
__device__ __forceinline__ void begin_q_k(unsigned queries, unsigned keys, int (&s)[kKeys / 2]) {
    fence_operands(s);
    ptx::wgmma_fence_sync_aligned();
#pragma unroll
    for (int step = 0; step < kDepth / 32; ++step) {
        constexpr int kRow = channels(kDepth);
        const int panel = step * 32 / kRow, inside = step % (kRow / 32) * 2;
        ptx::wgmma_mma_async_m64n128k32_s32_s8_s8(s, ptx::wgmma_descriptor<kRow>(queries + panel * kTile * kRow) + inside,
                                                  ptx::wgmma_descriptor<kRow>(keys + panel * kKeys * kRow) + inside, step != 0);
    }
    ptx::wgmma_commit_group_sync_aligned();
}

// Begins P V and the sums of P's rows.
template <int kWidth>
__device__ __forceinline__ void begin_p_v(const unsigned (&p)[kKeys / 32][4], unsigned values, float (&o)[kWidth / 2 + 4]) {
    fence_operands(o);
    ptx::wgmma_fence_sync_aligned();
#pragma unroll
    for (int step = 0; step < kKeys / 32; ++step) {
        const unsigned long long v = ptx::wgmma_descriptor<kKeys>(values) + step * 2;
        if constexpr (kWidth == 128)
            ptx::wgmma_mma_async_m64n136k32_f32_e4m3_e4m3(o, p[step], v, step != 0);
        else
            ptx::wgmma_mma_async_m64n72k32_f32_e4m3_e4m3(o, p[step], v, step != 0);
    }
    ptx::wgmma_commit_group_sync_aligned();
}

// The key behind s[j][c] of 8-key product j.
__device__ __forceinline__ int key_of(const Place& at, int first_key, int j, int c) { return first_key + j * 8 + at.t * 2 + c % 2; }

// What makes logits times log2 e of a tile's scores.
struct Scaling {
    float factor[2];
    __device__ __forceinline__ float logit(int s, int half) const {  // exactly scaled: rounded once
        return ptx::mul_rn_f32(static_cast<float>(s), factor[half]);
    }
};

}  // namespace hopper
}  // namespace sage3

#include "hopper_mask.cuh"

namespace sage3 {
namespace hopper {

// Softmax of a tile: moves the maxima on, gives the factor for older sums, and P as the A operand. kMasked: the tile is cut,
// or there is a mask. kChains: of dependent maxima of a row, which are joined at the end; a matter of speed alone.
template <Mask kMask, bool kMasked, int kChains, class T>
__device__ __forceinline__ void softmax(const Int8Params<T>& p, const Work& work, const Place& at, int first_key,
                                        const Scaling& scaling, int (&s)[kKeys / 2], float (&max)[2], float (&rescale)[2],
                                        unsigned (&codes)[kKeys / 32][4]) {
    if constexpr (kMasked) hide<kMask>(p, work, at, first_key, scaling, s);
    if constexpr (kMasked && is_added(kMask)) return softmax_of_logits(s, max, rescale, codes);
    float offset[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        int of_keys[kChains];
#pragma unroll
        for (int i = 0; i < kChains; ++i) of_keys[i] = s[i * (kKeys / 2 / kChains) + half * 2];
#pragma unroll
        for (int j = 0; j < kKeys / 8; ++j)
#pragma unroll
            for (int c = 0; c < 2; ++c) {
                const int score = s[j * 4 + half * 2 + c];
                int& most = of_keys[j * kChains / (kKeys / 8)];
                most = score > most ? score : most;
            }
        int most = of_keys[0];
#pragma unroll
        for (int i = 1; i < kChains; ++i) most = of_keys[i] > most ? of_keys[i] : most;
        const int other = static_cast<int>(ptx::shfl_sync_bfly_b32(static_cast<unsigned>(most), 1));
        most = other > most ? other : most;
        const int third = static_cast<int>(ptx::shfl_sync_bfly_b32(static_cast<unsigned>(most), 2));
        most = third > most ? third : most;
        const float before = max[half];
        const float logit = kMasked && most == kHidden ? minus_infinity() : scaling.logit(most, half);
        max[half] = ptx::max_NaN_f32(before, logit);
        const float subtrahend = kMasked && max[half] == minus_infinity() ? 0.0f : max[half];
        rescale[half] = ptx::ex2_approx_ftz_f32(ptx::sub_rn_f32(before, subtrahend));
        offset[half] = ptx::fma_rn_f32(-kMagic, scaling.factor[half], ptx::sub_rn_f32(kLog2Largest, subtrahend));
    }
#pragma unroll
    for (int step = 0; step < kKeys / 32; ++step)
#pragma unroll
        for (int i = 0; i < 4; ++i) {  // row half i % 2, keys of products 4 step + i / 2 * 2 and the next
            float x[4];
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const int half = i % 2, at_s = (step * 4 + i / 2 * 2 + c / 2) * 4 + half * 2 + c % 2;
                const float score = __int_as_float(s[at_s] + kMagicBits);
                x[c] = ptx::ex2_approx_ftz_f32(ptx::fma_rn_f32(score, scaling.factor[half], offset[half]));
                if (kMasked && s[at_s] == kHidden) x[c] = 0.0f;
            }
            codes[step][i] = ptx::cvt_rn_satfinite_e4m3x2_f32(x[1], x[0]) |
                             static_cast<unsigned>(ptx::cvt_rn_satfinite_e4m3x2_f32(x[3], x[2])) << 16;
        }
}

}  // namespace hopper
}  // namespace sage3

#include "hopper_taps.cuh"

namespace sage3 {
namespace hopper {

// Where a warp stands in the rings.
template <int kDepth>
struct Turns {
    Turn<stages(kDepth)> keys;
    Turn<kPlaces> queries;
    unsigned rows;  // shared address of its warpgroup's queries in the first place
    bool signals;   // whether this thread tells of its warpgroup's stages

    __device__ __forceinline__ static Turns of(const Memory<kDepth>& memory) {
        int thread = threadIdx.x;
        asm volatile("" : "+r"(thread));
        return {{}, {}, memory.start + thread / 128 * 64 * channels(kDepth), thread % 128 == 0};
    }
};

// Begins S of the keys whose turn it is. One thread signals for its warpgroup, so what is waited for must be followed by a
// wgmma, for which all four warps come together: a warp that fell two phases behind would wait for ever.
template <int kDepth>
__device__ __forceinline__ void begin_tile(const Memory<kDepth>& memory, const Turns<kDepth>& turns, int (&s)[kKeys / 2]) {
    wait(memory.keys_full(turns.keys.stage), turns.keys.parity);
    begin_q_k<kDepth>(turns.rows + turns.queries.stage * Memory<kDepth>::kQueries, memory.keys(turns.keys.stage), s);
}

// What comes next, the first of its S begun if it sees keys.
template <int kDepth>
__device__ __forceinline__ Item begin_item(const Memory<kDepth>& memory, const Turns<kDepth>& turns, int (&s)[kKeys / 2]) {
    wait(memory.queries_full(turns.queries.stage), turns.queries.parity);
    const Item item = Item::load(memory.item(turns.queries.stage));
    if (item.tiles > 0) begin_tile(memory, turns, s);
    return item;
}

// One tile of keys, whose S has begun; more: others of the item follow. The next tile's S begins as soon as this one's registers
// are free, behind P V. Behind the last P V of an item of work the next item's S begins: item is that from then on.
template <int kDepth, Mask kMask, bool kMasked, class T>
__device__ __forceinline__ void step(const Int8Params<T>& p, const Work& work, const Place& at, int part, int tile, bool more,
                                     const Memory<kDepth>& memory, Turns<kDepth>& turns, int (&s)[kKeys / 2],
                                     Rows<channels(kDepth)>& rows, Item& item) {
    using M = Memory<kDepth>;
    constexpr int kWidth = channels(kDepth);
    const unsigned stage = turns.keys.stage, keys = memory.keys_full(stage), values = memory.values_full(stage);
    const unsigned parity = turns.keys.parity;
    const float k_scale = rows.k_scales[tile];
    ptx::wgmma_wait_group_sync_aligned<0>();
    fence_operands(s);
    wait(values, parity);  // here, for a branch within the softmax would cut what the compiler interleaves
    const Scaling scaling{{ptx::mul_rn_f32(rows.scale[0], k_scale), ptx::mul_rn_f32(rows.scale[1], k_scale)}};
    float rescale[2];
    unsigned codes[kKeys / 32][4];
    softmax<kMask, kMasked, kDepth == 64 ? 1 : 2>(p, work, at, tile * kKeys, scaling, s, rows.max, rescale, codes);
    if (part == 0) tap_scores<kMask, kMasked>(p, work, at, tile, scaling, s, codes, rows.max);
    float o[kWidth / 2 + 4];
    turns.keys.next();
    if (turns.signals) ptx::mbarrier_arrive(M::empty(keys));
    begin_p_v<kWidth>(codes, memory.values(stage), o);
    if (more) {
        begin_tile(memory, turns, s);
        ptx::wgmma_wait_group_sync_aligned<1>();
    } else {
        turns.queries.next();
        item = begin_item(memory, turns, s);
        if (item.tiles > 0) ptx::wgmma_wait_group_sync_aligned<1>();
        else ptx::wgmma_wait_group_sync_aligned<0>();
    }
    fence_operands(o);
    if (turns.signals) ptx::mbarrier_arrive(M::empty(values));
#pragma unroll
    for (int i = 0; i < kWidth / 2; ++i) rows.o[i / 4][i % 4] = ptx::fma_rn_f32(rows.o[i / 4][i % 4], rescale[i % 4 / 2], o[i]);
#pragma unroll
    for (int half = 0; half < 2; ++half) rows.sum[half] = ptx::fma_rn_f32(rows.sum[half], rescale[half], o[kWidth / 2 + half * 2]);
    if (part == 0) tap_sums(p, work, at, tile, rows.sum);
}

// O times V's scales, as what the epilogue divides by the sums; log-sum-exp. part: which channels. largest: of V's, in
// shared memory.
template <int kWidth, class T>
__device__ __forceinline__ void store(const Int8Params<T>& p, const Work& work, const Place& at, int part,
                                      unsigned largest, const Staging& staging, Rows<kWidth>& rows) {
#pragma unroll
    for (int j = 0; j < kWidth / 8; ++j) {
        unsigned most[2];
        ptx::ld_shared_v2_b32(most[0], most[1], largest + (j * 8 + at.t * 2) * 4);
#pragma unroll
        for (int c = 0; c < 2; ++c) {
            const float scale = ptx::mul_rn_f32(ptx::max_NaN_f32(__uint_as_float(most[c]), kSmallest), 1.0f / kLargestE4m3);
            rows.o[j][c] = ptx::mul_rn_f32(rows.o[j][c], scale);
            rows.o[j][2 + c] = ptx::mul_rn_f32(rows.o[j][2 + c], scale);
        }
    }
    store_output<kWidth>(p, work, at, staging, rows.sum, rows.o, part * kWidth);
    if (at.t != 0 || !p.lse || part != 0) return;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        if (at.row(half) >= work.queries.length) continue;
        const long long i = work.token(p, at.row(half));
        const float base2 = ptx::add_rn_f32(ptx::lg2_approx_f32(rows.sum[half]), ptx::sub_rn_f32(rows.max[half], kLog2Largest));
        const float shift = ptx::mul_rn_f32(p.scale, p.shift[i]);
        p.lse[i] = rows.sum[half] == 0.0f ? minus_infinity() : ptx::fma_rn_f32(base2, kLn2, shift);
    }
}

template <int kDepth, Mask kMask, class T>
__device__ __forceinline__ void compute(const Int8Params<T>& p, const Memory<kDepth>& memory) {
    using M = Memory<kDepth>;
    Turns<kDepth> turns = Turns<kDepth>::of(memory);
    int s[kKeys / 2];
    for (Item item = begin_item(memory, turns, s); item.number >= 0;) {
        const Item made = item;
        const unsigned place = turns.queries.stage;
        const Work work = Work::of<kKeys, kMask != Mask::none>(p, made.number / parts(kDepth));
        const int part = made.number % parts(kDepth);
        const Place at = Place::of(work, threadIdx.x);
        const float* k_scales = p.k_scales + (static_cast<long long>(work.kv) * p.keys.stored + work.keys.stored) / kKeys;
        Rows<channels(kDepth)> rows{k_scales, {minus_infinity(), minus_infinity()}, {}, {}, {}};
#pragma unroll
        for (int half = 0; half < 2; ++half)
            rows.scale[half] = ptx::mul_rn_f32(
                __uint_as_float(ptx::ld_shared_b32(memory.row_scales(place) + (at.row(half) - work.first_row) * 4)),
                ptx::mul_rn_f32(p.scale, kLog2e));
        if (part == 0) tap_unvisited(p, work, at);
        const Visits& visits = work.visits;
        int visit = 0;
        for (; visit < visits.masked(); ++visit)
            step<kDepth, kMask, true>(p, work, at, part, visits.tile(visit), visit + 1 < visits.count, memory, turns, s, rows,
                                      item);
        if constexpr (kMask == Mask::none)  // the other tiles follow each other from the last down
            for (int tile = visits.tile(visit); visit < visits.count; ++visit, --tile)
                step<kDepth, kMask, false>(p, work, at, part, tile, visit + 1 < visits.count, memory, turns, s, rows, item);
        if (made.tiles == 0) {
            turns.queries.next();
            item = begin_item(memory, turns, s);
        }
        int same = made.number, thread = threadIdx.x;
        asm volatile("" : "+r"(same), "+r"(thread));
        const Work again = Work::of<kKeys, kMask != Mask::none>(p, same / parts(kDepth));
        store(p, again, Place::of(again, thread), same % parts(kDepth), memory.largest(place),
              Staging::of(memory.start + M::kStaging, thread), rows);
        ptx::mbarrier_arrive(M::empty(memory.queries_full(place)));  // each thread has read what lay beside the queries
    }
}

template <int kDepth, Mask kMask, class T>
__device__ void attention(const Int8Params<T>& p) {
    using M = Memory<kDepth>;
    extern __shared__ __align__(1024) unsigned char shared[];
    const M memory{{}, ptx::cvta_to_shared(shared)};
    if (threadIdx.x == 0) memory.init(128 * kGroups, kGroups);
    for (unsigned i = threadIdx.x; i < M::kStages * 8 * kKeys / 4; i += kThreads)  // e4m3 ones
        *reinterpret_cast<unsigned*>(shared + (M::kRing + i / (2 * kKeys) * M::kStage + M::kCodes + M::kValues) +
                                     i % (2 * kKeys) * 4) = 0x38383838u;
    ptx::fence_proxy_async_shared_cta();
    ptx::fence_mbarrier_init_release_cluster();
    ptx::bar_sync(0);
    const int items = p.batch_heads * p.queries.tiles() * parts(kDepth);
    if (threadIdx.x >= 128 * kGroups) {
        ptx::setmaxnreg_dec<kRegistersToLoad>();
        if (threadIdx.x == 128 * kGroups) produce<kDepth, kMask>(p, memory, items);
        return;
    }
    ptx::setmaxnreg_inc<kRegistersToCompute>();
    compute<kDepth, kMask>(p, memory);
}

}  // namespace hopper
}  // namespace sage3

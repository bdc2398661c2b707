// SPDX-License-Identifier: Apache-2.0
// FP4 attention of Sage Attention 3 for sm_120a. One block makes 128 queries of one head: warp w its
// rows 16w .. 16w + 15, and one thread of a third warpgroup loads. Keys come in tiles of 128 through a ring of mbarriers,
// the last one first, so that masks only touch the first steps.
//   S = bias + Q4 K4^T;  P = 2688 * 2^((S - m) c) in e2m1 with one ue4m3 scale for 16 keys, made in
//   registers;  O = O 2^((m_old - m) c) + P4 V4;  l likewise from the unquantised P;  O / l.
#pragma once
#include "../common/ptx_bulk.cuh"
#include "../common/ptx_cp_async.cuh"
#include "../common/ptx_fp4.cuh"
#include "../common/ptx_mma.cuh"
#include "../common/ptx_sync.cuh"
#include "sage3_common.cuh"

namespace sage3 {

constexpr int kWarps = 8;    // that compute: two warpgroups; of a third, one thread loads
constexpr int kAttentionThreads = 32 * (kWarps + 4);
constexpr int kRegistersToCompute = 232, kRegistersToLoad = 24;
constexpr int kStages = 2;
constexpr int kColumnTiles = kTile / 8;      // 8-key products of a tile
constexpr int kBands = kTile / kPermuted;    // 32-key bands: in each a thread owns 8 consecutive keys
constexpr int kSteps = kTile / 64;           // k = 64 steps of P V
constexpr float kLog2Largest = 8.80735492f;  // log2(448), the largest scale of ue4m3
constexpr float kLog2Six = 2.58496250f;      // the largest code of e2m1: P is at most 448 * 6
constexpr float kLog2Scale = 0.392317423f;  // log2(448 * 6 / 2^11)
constexpr float kLn2 = 0.693147181f;

enum Causal : unsigned { kFull = 0, kBottomRight = 1, kTopLeft = 2 };

struct Config {
    int head_dim;  // padded: 64 or 128
};

template <class T>
struct Params {
    const unsigned char* q_codes;   // [BH, LqP, DP / 2]
    const unsigned char* q_scales;  // [BH, LqP, DP / 16] (scale_offset)
    const unsigned char* k_codes;   // [BHkv, LkP, DP / 2] (code_offset), keys permuted
    const unsigned char* k_scales;  // [BHkv, LkP, DP / 16] (scale_offset)
    const unsigned char* v_codes;   // [BHkv, LkP / 128, DP, 128 / 2] (code_offset)
    const unsigned char* v_scales;  // [BHkv, DP, LkP / 16] (scale_offset)
    const float* bias;              // [BH, LqP / 128, LkP]
    const float* shift;             // [BH, Lq]
    T* o;                           // [B, H, Lq, D]; strides in elements
    float* lse;                     // [BH, Lq]
    long long o_batch, o_head, o_token;
    int heads, kv_heads, lq, lk, depth;
    unsigned causal;
    float scale;  // > 0
#if WW_TAPS
    float* s;                 // [BH, Lq, LkP] logits / scale; -inf where masked
    float* group_max;         // [BH, Lq, LkP / 16]
    unsigned* p_codes;        // [BH, Lq, LkP / 8] words
    unsigned char* p_scales;  // [BH, Lq, LkP / 16]
    float* row_max;           // [BH, LkP / 128, Lq] after the tile
    float* row_sum;           // [BH, LkP / 128, Lq] after the tile
    float* o_tile;            // [BH, LkP / 128, Lq, DP] after the tile, not divided
#endif
};

// Bytes of a stage of the ring: one tile of keys, as the bulk copies bring it.
template <int kDepth>
struct Stage {
    static constexpr unsigned kCodes = kTile * kDepth / 2, kScales = kTile * kDepth / kGroup;  // of K, and of V
    static constexpr unsigned kKeyCodes = 0, kValueCodes = kCodes, kKeyScales = 2 * kCodes,
                              kValueScales = kKeyScales + kScales, kBias = kValueScales + kScales,
                              kBytes = kBias + kTile * 4;
};

// Shared memory of a block: the stages, and mbarriers of each. `full` completes when a tile has arrived, `empty`
// when every warp has read it. Addresses are those of cvta_to_shared.
template <int kDepth>
struct Ring {
    static constexpr unsigned kStage = Stage<kDepth>::kBytes, kBytes = kStages * (kStage + 16);
    unsigned start;

    __device__ __forceinline__ unsigned stage(unsigned i) const { return start + i * kStage; }
    __device__ __forceinline__ unsigned full(unsigned i) const { return start + kStages * kStage + i * 16; }
    __device__ __forceinline__ unsigned empty(unsigned i) const { return full(i) + 8; }
};

// Where this thread stands: lane 4g + t owns rows g and g + 8 of its warp's 16.
struct Place {
    int bh, kv, query_tile, first_row;  // first_row: of the warp, in the head
    int lane, g, t;

    __device__ __forceinline__ int row(int half) const { return first_row + g + 8 * half; }
};

// How far one is round the ring.
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

// One thread asks for all tiles, the last first, each as soon as its stage is empty.
template <int kDepth, class T>
__device__ __forceinline__ void produce(const Params<T>& p, const Place& at, int tiles, const Ring<kDepth>& ring) {
    using S = Stage<kDepth>;
    constexpr unsigned kOf64 = 64 * kTile / kGroup;  // bytes of V's scales of 64 channels and a tile
    const long long lkp = padded(p.lk), key = at.kv * lkp;
    const float* bias = p.bias + (static_cast<long long>(at.bh) * (padded(p.lq) / kTile) + at.query_tile) * lkp;
    Turn turn;
    for (int tile = tiles - 1; tile >= 0; --tile, turn.next()) {
        if (tiles - 1 - tile >= kStages) wait(ring.empty(turn.stage), turn.parity ^ 1);
        const unsigned stage = ring.stage(turn.stage), full = ring.full(turn.stage);
        const long long first = key + tile * kTile;  // stored row of K
        const auto* v_scales = p.v_scales + key * (kDepth / kGroup) + tile * kOf64;
        ptx::mbarrier_arrive_expect_tx(full, S::kBytes);
        ptx::cp_async_bulk_shared_global(stage + S::kKeyCodes, p.k_codes + first * (kDepth / 2), S::kCodes, full);
        ptx::cp_async_bulk_shared_global(stage + S::kKeyScales, p.k_scales + first * (kDepth / kGroup), S::kScales, full);
        ptx::cp_async_bulk_shared_global(stage + S::kBias, bias + tile * kTile, kTile * 4, full);
        ptx::cp_async_bulk_shared_global(stage + S::kValueCodes, p.v_codes + first * (kDepth / 2), S::kCodes, full);
#pragma unroll
        for (unsigned i = 0; i < kDepth / 64; ++i)
            ptx::cp_async_bulk_shared_global(stage + S::kValueScales + i * kOf64, v_scales + i * 64 * (lkp / kGroup), kOf64,
                                             full);
    }
}

// Where this lane reads in a stage, from the start of each array. What depends on the product is added to
// it as a constant: offsets of rows and scales are the same again after 32 rows.
struct Lane {
    unsigned k_codes, v_codes;  // row that ldmatrix wants of this lane
    unsigned scales;            // of row 8t + g of 32: lane 4g + j serves product j
    unsigned bias;              // of keys 8t .. 8t + 7

    template <int kDepth>
    __device__ __forceinline__ static Lane of(const Place& at) {
        constexpr int kKeyBytes = kDepth / 2, kChunks = kKeyBytes / 16;
        const int matrix = at.lane / 8, row = at.lane % 8, of_32 = at.t * 8 + at.g;
        return {static_cast<unsigned>(code_offset(matrix / kChunks * 8 + row, matrix % kChunks * 16, kKeyBytes)),
                static_cast<unsigned>(code_offset(row, matrix * 16, kTile / 2)),
                static_cast<unsigned>(scale_offset(of_32, 0, kTile / kGroup)), at.t * 8 * 4u};
    }
};
// Of 32 rows `block` and the columns of `step`, of kColumns.
template <int kColumns>
__device__ __forceinline__ constexpr unsigned scale_of_32(int block, int step) {
    return static_cast<unsigned>(scale_offset(block * 32, step * 4, kColumns));
}

// Fragments of Q and its scales, kept in registers for the whole loop.
template <int kDepth>
struct QueryFragments {
    unsigned codes[kDepth / 64][4];
    unsigned scales[kDepth / 64];

    template <class T>
    __device__ __forceinline__ void load(const Params<T>& p, const Place& at) {
        const int lqp = padded(p.lq);
        const unsigned char* q = p.q_codes + static_cast<long long>(at.bh) * lqp * (kDepth / 2);
        const unsigned char* qs = p.q_scales + static_cast<long long>(at.bh) * lqp * (kDepth / kGroup);
        const int scale_row = at.row(at.lane & 1);  // lanes 4g and 4g + 1 are read
#pragma unroll
        for (int step = 0; step < kDepth / 64; ++step) {
#pragma unroll
            for (int i = 0; i < 4; ++i)
                codes[step][i] = *reinterpret_cast<const unsigned*>(
                    q + static_cast<long long>(at.row(i & 1)) * (kDepth / 2) + step * 32 + i / 2 * 16 + at.t * 4);
            scales[step] = *reinterpret_cast<const unsigned*>(
                qs + scale_offset(scale_row, step * 4, kDepth / kGroup));
        }
    }
};

// S[8-key product][row half * 2 + column]: the accumulators begin with the bias of their keys.
template <int kDepth>
__device__ __forceinline__ void multiply_q_k(const QueryFragments<kDepth>& q, unsigned stage, const Lane& lane,
                                             float (&s)[kColumnTiles][4]) {
    constexpr int kKeyBytes = kDepth / 2, kChunks = kKeyBytes / 16;
    const unsigned bias = stage + Stage<kDepth>::kBias + lane.bias;
    const unsigned scale = stage + Stage<kDepth>::kKeyScales + lane.scales;
    const unsigned codes = stage + Stage<kDepth>::kKeyCodes + lane.k_codes;
#pragma unroll
    for (int j = 0; j < kColumnTiles; ++j)
#pragma unroll
        for (int half = 0; half < 2; ++half)  // the keys of band j / 4 that this thread owns: 8t .. 8t + 7
            ptx::ld_volatile_shared_v2_f32(s[j][half * 2], s[j][half * 2 + 1], bias + (j / 4 * kPermuted + j % 4 * 2) * 4);
#pragma unroll
    for (int band = 0; band < kBands; ++band) {
        unsigned scales[kDepth / 64];
#pragma unroll
        for (int step = 0; step < kDepth / 64; ++step)
            scales[step] = ptx::ld_shared_b32(scale + scale_of_32<kDepth / kGroup>(band, step));
        unsigned b[4][kDepth / 64][2];  // [product][step]: one ldmatrix fills 4 / kChunks products
#pragma unroll
        for (int j = 0; j < 4; j += 4 / kChunks) {
            unsigned d[4];
            ptx::ldmatrix_sync_x4_b16(d, codes + (band * kPermuted + j * 8) * kKeyBytes);
#pragma unroll
            for (int i = 0; i < 4; ++i) b[j + i / kChunks][i % kChunks / 2][i % 2] = d[i];
        }
#pragma unroll
        for (int step = 0; step < kDepth / 64; ++step) {
            float(*const d)[4] = s + band * 4;
            ptx::mma_m16n8k64_mxf4nvf4_4x<0>(d[0], q.codes[step], b[0][step][0], b[0][step][1], q.scales[step], scales[step]);
            ptx::mma_m16n8k64_mxf4nvf4_4x<1>(d[1], q.codes[step], b[1][step][0], b[1][step][1], q.scales[step], scales[step]);
            ptx::mma_m16n8k64_mxf4nvf4_4x<2>(d[2], q.codes[step], b[2][step][0], b[2][step][1], q.scales[step], scales[step]);
            ptx::mma_m16n8k64_mxf4nvf4_4x<3>(d[3], q.codes[step], b[3][step][0], b[3][step][1], q.scales[step], scales[step]);
        }
    }
}

// How many leading keys the row sees; 0 or less: none.
template <class T>
__device__ __forceinline__ int visible_keys(const Params<T>& p, int row) {
    if (p.causal == kFull) return p.lk;
    const int end = row + 1 + (p.causal == kBottomRight ? p.lk - p.lq : 0);
    return end < p.lk ? end : p.lk;
}

// The key (its natural number in the sequence) behind s[j][c].
__device__ __forceinline__ int key_of(const Place& at, int tile, int j, int c) {
    return tile * kTile + j / 4 * kPermuted + at.t * 8 + j % 4 * 2 + c % 2;
}

template <class T>
__device__ __forceinline__ void mask(const Params<T>& p, const Place& at, int tile, float (&s)[kColumnTiles][4]) {
    const int end[2] = {visible_keys(p, at.row(0)), visible_keys(p, at.row(1))};
#pragma unroll
    for (int j = 0; j < kColumnTiles; ++j)
#pragma unroll
        for (int c = 0; c < 4; ++c)
            if (key_of(at, tile, j, c) >= end[c / 2]) s[j][c] = minus_infinity();
}

// P of a tile as operands of P V, and what the running softmax keeps of a row.
struct Probabilities {
    unsigned codes[kSteps][4], scales[kSteps];
};
struct RowState {
    float max[2], sum[2];  // sum: this thread's share
};

// A maximum as the subtrahend of a logit: where all keys may be masked, 0 for -inf.
template <bool kMasked>
__device__ __forceinline__ float subtrahend(float x) {
    return kMasked && x == minus_infinity() ? 0.0f : x;
}

// Largest of each row's 16-key groups: a group is 8 keys of this lane and 8 of its neighbour.
__device__ __forceinline__ void group_maxima(const float (&s)[kColumnTiles][4], float (&largest)[2][kBands]) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int band = 0; band < kBands; ++band) {
            float m = s[band * 4][half * 2];
#pragma unroll
            for (int i = 1; i < 8; ++i) m = ptx::max_NaN_f32(m, s[band * 4 + i / 2][half * 2 + i % 2]);
            largest[half][band] = ptx::max_NaN_f32(m, ptx::shfl_sync_bfly_f32(m, 1));
        }
}

// Moves the row state on to this tile; rescale[half] is what older sums are multiplied by.
template <bool kMasked>
__device__ __forceinline__ void advance(RowState& state, const float (&largest)[2][kBands], float c,
                                        float (&rescale)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float m = largest[half][0];
#pragma unroll
        for (int band = 1; band < kBands; ++band) m = ptx::max_NaN_f32(m, largest[half][band]);
        m = ptx::max_NaN_f32(m, ptx::shfl_sync_bfly_f32(m, 2));
        const float before = state.max[half];
        state.max[half] = ptx::max_NaN_f32(before, m);
        rescale[half] = ptx::ex2_approx_ftz_f32(
            ptx::mul_rn_f32(ptx::sub_rn_f32(before, subtrahend<kMasked>(state.max[half])), c));
        state.sum[half] = ptx::mul_rn_f32(state.sum[half], rescale[half]);
    }
}

// Two-level quantisation in registers: a group's scale is P of its maximum over 6, at most 448, so
// the largest code of each group is 6.
template <bool kMasked>
__device__ __forceinline__ void quantize_p(const float (&s)[kColumnTiles][4], const float (&largest)[2][kBands],
                                           float c, RowState& state, const Place& at, Probabilities& out) {
    float scale[2][kBands];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const float row = ptx::fma_rn_f32(-subtrahend<kMasked>(state.max[half]), c, kLog2Largest);
#pragma unroll
        for (int band = 0; band < kBands; ++band) {
            scale[half][band] = ptx::ex2_approx_ftz_f32(ptx::fma_rn_f32(largest[half][band], c, row));
            const float group = ptx::fma_rn_f32(-subtrahend<kMasked>(largest[half][band]), c, kLog2Six);
            float x[8], of_group = 0.0f;  // eight keys of this thread in a row
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                x[i] = ptx::ex2_approx_ftz_f32(ptx::fma_rn_f32(s[band * 4 + i / 2][half * 2 + i % 2], c, group));
                of_group = ptx::add_rn_f32(of_group, x[i]);
            }
            state.sum[half] = ptx::fma_rn_f32(scale[half][band], of_group, state.sum[half]);
            out.codes[band / 2][band % 2 * 2 + half] = ptx::cvt_rn_satfinite_e2m1x2_f32_x4(x);
        }
    }
    // Lanes 4g + 0, 1 hold the scales of keys 0-15 of a band, lanes 4g + 2, 3 those of keys 16-31.
    // The product reads four consecutive groups of row g from lane 4g, of row g + 8 from 4g + 1.
    const unsigned pick = at.t % 2 == 0 ? 0x6240u : 0x7351u;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
        const unsigned low = ptx::cvt_rn_satfinite_e4m3x2_f32(scale[1][step * 2], scale[0][step * 2]);
        const unsigned high = ptx::cvt_rn_satfinite_e4m3x2_f32(scale[1][step * 2 + 1], scale[0][step * 2 + 1]);
        const unsigned mine = low | high << 16;
        out.scales[step] = ptx::prmt_b32(mine, ptx::shfl_sync_bfly_b32(mine, 2), pick);
    }
}

// O += P V. o[8-channel product][row half * 2 + column].
template <int kDepth>
__device__ __forceinline__ void multiply_p_v(const Probabilities& p, unsigned stage, const Lane& lane,
                                             float (&o)[kDepth / 8][4]) {
    constexpr int kTokenBytes = kTile / 2;
    const unsigned scale = stage + Stage<kDepth>::kValueScales + lane.scales;
    const unsigned codes = stage + Stage<kDepth>::kValueCodes + lane.v_codes;
#pragma unroll
    for (int block = 0; block < kDepth / 32; ++block) {
        unsigned scales[kSteps], b[4][4];
#pragma unroll
        for (int step = 0; step < kSteps; ++step)
            scales[step] = ptx::ld_shared_b32(scale + scale_of_32<kTile / kGroup>(block, step));
#pragma unroll
        for (int j = 0; j < 4; ++j) ptx::ldmatrix_sync_x4_b16(b[j], codes + (block * 32 + j * 8) * kTokenBytes);
        float(*const d)[4] = o + block * 4;
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
            ptx::mma_m16n8k64_mxf4nvf4_4x<0>(d[0], p.codes[step], b[0][step * 2], b[0][step * 2 + 1], p.scales[step], scales[step]);
            ptx::mma_m16n8k64_mxf4nvf4_4x<1>(d[1], p.codes[step], b[1][step * 2], b[1][step * 2 + 1], p.scales[step], scales[step]);
            ptx::mma_m16n8k64_mxf4nvf4_4x<2>(d[2], p.codes[step], b[2][step * 2], b[2][step * 2 + 1], p.scales[step], scales[step]);
            ptx::mma_m16n8k64_mxf4nvf4_4x<3>(d[3], p.codes[step], b[3][step * 2], b[3][step * 2 + 1], p.scales[step], scales[step]);
        }
    }
}

__device__ __forceinline__ float quad_sum(float x) {
    x = ptx::add_rn_f32(x, ptx::shfl_sync_bfly_f32(x, 1));
    return ptx::add_rn_f32(x, ptx::shfl_sync_bfly_f32(x, 2));
}

// O / l and the log-sum-exp. A row that sees nothing: zeros and -inf.
template <int kDepth, class T>
__device__ __forceinline__ void store_result(const Params<T>& p, const Place& at, const RowState& state,
                                             const float (&o)[kDepth / 8][4]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const float sum = quad_sum(state.sum[half]);
        const int row = at.row(half);
        if (row >= p.lq) continue;
        const float inverse = sum == 0.0f ? 0.0f : ptx::rcp_approx_ftz_f32(sum);
        T* out = p.o + at.bh / p.heads * p.o_batch + at.bh % p.heads * p.o_head + row * p.o_token;
#pragma unroll
        for (int j = 0; j < kDepth / 8; ++j)
#pragma unroll
            for (int x = 0; x < 2; ++x) {
                const int channel = j * 8 + at.t * 2 + x;
                if (channel < p.depth) out[channel] = narrow<T>(ptx::mul_rn_f32(o[j][half * 2 + x], inverse));
            }
        if (at.t != 0) continue;
        const long long i = static_cast<long long>(at.bh) * p.lq + row;
        // The logits are scale * (S + shift); l has the factor 2688. lg2.approx cuts its result, which
        // costs less the smaller it is.
        const float base2 = ptx::sub_rn_f32(ptx::lg2_approx_f32(ptx::mul_rn_f32(sum, 0x1p-11f)), kLog2Scale);
        const float logit = ptx::mul_rn_f32(p.scale, ptx::add_rn_f32(state.max[half], p.shift[i]));
        p.lse[i] = sum == 0.0f ? minus_infinity() : ptx::fma_rn_f32(base2, kLn2, logit);
    }
}

}  // namespace sage3

#include "sage3_taps.cuh"

namespace sage3 {

// One tile of keys: its logits, their softmax, its part of O.
template <int kDepth, bool kMasked, class T>
__device__ __forceinline__ void attend(const Params<T>& p, const Place& at, int tile, const QueryFragments<kDepth>& q,
                                       unsigned stage, const Lane& lane, float c, RowState& state, float (&o)[kDepth / 8][4]) {
    float s[kColumnTiles][4], largest[2][kBands], rescale[2];
    Probabilities probabilities;
    multiply_q_k(q, stage, lane, s);
    if constexpr (kMasked) mask(p, at, tile, s);
    tap_scores(p, at, tile, s);
    group_maxima(s, largest);
    advance<kMasked>(state, largest, c, rescale);
    quantize_p<kMasked>(s, largest, c, state, at, probabilities);
    tap_probabilities(p, at, tile, largest, probabilities, state);
#pragma unroll
    for (int j = 0; j < kDepth / 8; ++j)
#pragma unroll
        for (int x = 0; x < 4; ++x) o[j][x] = ptx::mul_rn_f32(o[j][x], rescale[x / 2]);
    multiply_p_v<kDepth>(probabilities, stage, lane, o);
    tap_o<kDepth>(p, at, tile, o);
}

// The next tile out of the ring.
template <int kDepth, bool kMasked, class T>
__device__ __forceinline__ void step(const Params<T>& p, const Place& at, int tile, const QueryFragments<kDepth>& q,
                                     const Ring<kDepth>& ring, const Lane& lane, Turn& turn, float c, RowState& state,
                                     float (&o)[kDepth / 8][4]) {
    wait(ring.full(turn.stage), turn.parity);
    attend<kDepth, kMasked>(p, at, tile, q, ring.stage(turn.stage), lane, c, state, o);
    ptx::bar_warp_sync();
    if (at.lane == 0) ptx::mbarrier_arrive(ring.empty(turn.stage));
    turn.next();
}

template <Config kConfig, class T>
__device__ void attention(const Params<T>& p) {
    constexpr int kDepth = kConfig.head_dim;
    static_assert(kDepth == 64 || kDepth == 128, "the quantisers pad to one of these");
    __shared__ alignas(128) unsigned char shared[Ring<kDepth>::kBytes];
    const Ring<kDepth> ring{ptx::cvta_to_shared(shared)};
    if (threadIdx.x == 0)
        for (unsigned i = 0; i < kStages; ++i) {
            ptx::mbarrier_init(ring.full(i), 1);
            ptx::mbarrier_init(ring.empty(i), kWarps);
        }
    ptx::fence_mbarrier_init_release_cluster();
    ptx::bar_sync(0);

    const int query_tiles = padded(p.lq) / kTile;
    Place at;
    at.bh = blockIdx.x / query_tiles;
    at.kv = at.bh / p.heads * p.kv_heads + at.bh % p.heads / (p.heads / p.kv_heads);
    at.query_tile = blockIdx.x % query_tiles;
    at.lane = threadIdx.x % 32;
    at.g = at.lane / 4;
    at.t = at.lane % 4;
    at.first_row = at.query_tile * kTile + threadIdx.x / 32 * 16;

    // The tiles that this block's last row sees; keys from safe_end on are hidden from some row.
    const int last_row = (at.query_tile + 1) * kTile < p.lq ? (at.query_tile + 1) * kTile - 1 : p.lq - 1;
    const int end = visible_keys(p, last_row), safe_end = visible_keys(p, at.query_tile * kTile);
    const int tiles = end <= 0 ? 0 : padded(end) / kTile;
    const float c = ptx::mul_rn_f32(p.scale, kLog2e);

    if (threadIdx.x >= 32 * kWarps) {
        ptx::setmaxnreg_dec<kRegistersToLoad>();
        if (threadIdx.x == 32 * kWarps) produce(p, at, tiles, ring);
        return;
    }
    ptx::setmaxnreg_inc<kRegistersToCompute>();
    QueryFragments<kDepth> q;
    q.load(p, at);
    RowState state{{minus_infinity(), minus_infinity()}, {0.0f, 0.0f}};
    float o[kDepth / 8][4] = {};
    tap_unvisited<kDepth>(p, at, tiles);
    // Masks only touch the first tiles: they have a loop of their own.
    const Lane lane = Lane::of<kDepth>(at);
    Turn turn;
    int tile = tiles - 1;
    for (; tile >= 0 && (tile + 1) * kTile > safe_end; --tile)
        step<kDepth, true>(p, at, tile, q, ring, lane, turn, c, state, o);
    for (; tile >= 0; --tile) step<kDepth, false>(p, at, tile, q, ring, lane, turn, c, state, o);
    store_result<kDepth>(p, at, state, o);
}

}  // namespace sage3

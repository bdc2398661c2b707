// SPDX-License-Identifier: Apache-2.0
// What one warp does with one tile of keys: S = bias + Q4 K4^T, masks, the running softmax with its
// two-level quantisation of P, and O += P4 V4. A fragment of S or O: [8-column product][row half * 2 + column].
#pragma once
#include "../common/ptx_cp_async.cuh"
#include "../common/ptx_fp4.cuh"
#include "../common/ptx_mma.cuh"
#include "../common/ptx_sync.cuh"
#include "sage3_ring.cuh"

namespace sage3 {

// Sizes of a tile of keys.
template <int kDepth>
struct Shape {
    static constexpr int kKeys = key_tile(kDepth);
    static constexpr int kProducts = kKeys / 8;      // 8-key products
    static constexpr int kBands = kKeys / kPermuted; // 32-key bands: in each a thread owns 8 consecutive keys
    static constexpr int kSteps = kKeys / 64;        // k = 64 steps of P V
    using Scores = float[kProducts][4];
    using Output = float[kDepth / 8][4];
    using Maxima = float[2][kBands];
};

constexpr float kLog2Largest = 8.80735492f;  // log2(448), the largest scale of ue4m3
constexpr float kLog2Six = 2.58496250f;      // the largest code of e2m1: P is at most 448 * 6
constexpr float kLog2Scale = 0.392317423f;   // log2(448 * 6 / 2^11)
constexpr float kLn2 = 0.693147181f;

// Where this thread stands: lane 4g + t owns rows g and g + 8 of its warp's 16.
struct Place {
    int lane, g, t;
    int first_row;  // of the warp, in the sequence

    __device__ __forceinline__ static Place of(const Work& work, int thread) {
        const int lane = thread % 32;
        return {lane, lane / 4, lane % 4, work.first_row + thread / 32 * 16};
    }
    __device__ __forceinline__ int row(int half) const { return first_row + g + 8 * half; }
};

// Where this lane reads in a stage, from the start of each array. What depends on the product is added to
// it as a constant: offsets of rows and scales are the same again after 32 rows.
struct Lane {
    unsigned k_codes, v_codes;  // row that ldmatrix wants of this lane
    unsigned k_scales, v_scales;  // of row 8t + g of 32: lane 4g + j serves product j
    unsigned bias;              // of keys 8t .. 8t + 7
    unsigned pick;              // for the scales of P (quantize_p)

    template <int kDepth>
    __device__ __forceinline__ static Lane of(int lane) {
        const int g = lane / 4, t = lane % 4;
        Lane out{codes<kDepth / 2>(lane), codes<key_tile(kDepth) / 2>(lane),
                 (t * 8 + g) * 2u * scale_run(kDepth / kGroup),
                 (t * 8 + g) * 2u * scale_run(key_tile(kDepth) / kGroup), t * 8 * 4u,
                 t % 2 == 0 ? 0x6240u : 0x7351u};
        // Values from nowhere: else the compiler makes them again in every tile, to save registers.
        asm volatile("" : "+r"(out.k_codes), "+r"(out.v_codes), "+r"(out.k_scales), "+r"(out.bias), "+r"(out.pick));
        if (scale_run(kDepth / kGroup) == scale_run(key_tile(kDepth) / kGroup)) out.v_scales = out.k_scales;
        return out;
    }

  private:
    // The four matrices of an ldmatrix: chunks of one row of kRowBytes, and where it has but two, of rows 8 further on.
    template <int kRowBytes>
    __device__ __forceinline__ static unsigned codes(int lane) {
        constexpr int kChunks = kRowBytes / 16 < 4 ? kRowBytes / 16 : 4;
        const int matrix = lane / 8, row = lane % 8;
        return static_cast<unsigned>(code_offset(matrix / kChunks * 8 + row, matrix % kChunks * 16, kRowBytes));
    }
};

// The B operands of four products out of 32 rows of codes: [product][k = 64 step][register].
template <int kRowBytes>
struct Columns {
    unsigned b[4][kRowBytes / 32][2];

    // codes: Lane's of the first row.
    __device__ __forceinline__ void load(unsigned codes) {
        constexpr int kChunks = kRowBytes / 16;
        unsigned d[4];
        if constexpr (kChunks == 2) {  // one ldmatrix fills two products
#pragma unroll
            for (int j = 0; j < 4; j += 2) {
                ptx::ldmatrix_sync_x4_b16(d, codes + j * 8 * kRowBytes);
#pragma unroll
                for (int i = 0; i < 4; ++i) b[j + i / 2][0][i % 2] = d[i];
            }
        } else {
#pragma unroll
            for (int j = 0; j < 4; ++j)
#pragma unroll
                for (int part = 0; part < kChunks / 4; ++part) {
                    // Chunks 4 to 7 of 8 lie where 0 to 3 would, with bit 2 of the chunk turned over.
                    ptx::ldmatrix_sync_x4_b16(d, (codes ^ part * 64u) + j * 8 * kRowBytes);
#pragma unroll
                    for (int i = 0; i < 4; ++i) b[j][part * 2 + i / 2][i % 2] = d[i];
                }
        }
    }
    // d[j] += a b[j] for the four products.
    __device__ __forceinline__ void multiply(float (*d)[4], int step, const unsigned (&a)[4], unsigned a_scales,
                                             unsigned b_scales) const {
        ptx::mma_m16n8k64_mxf4nvf4_4x<0>(d[0], a, b[0][step][0], b[0][step][1], a_scales, b_scales);
        ptx::mma_m16n8k64_mxf4nvf4_4x<1>(d[1], a, b[1][step][0], b[1][step][1], a_scales, b_scales);
        ptx::mma_m16n8k64_mxf4nvf4_4x<2>(d[2], a, b[2][step][0], b[2][step][1], a_scales, b_scales);
        ptx::mma_m16n8k64_mxf4nvf4_4x<3>(d[3], a, b[3][step][0], b[3][step][1], a_scales, b_scales);
    }
};

// This lane's scales for products of 32 rows, `block` of all: [k = 64 step], of kColumns.
template <int kColumns>
struct Scales {
    unsigned words[kColumns / 4];

    // scales: Lane's of the first row.
    __device__ __forceinline__ void load(unsigned scales, int block) {
        constexpr int kRun = scale_run(kColumns);
        const unsigned rows = scales + block / 2 * 64 * kColumns + block % 2 * kRun;
        if constexpr (kRun == 4) {
            words[0] = ptx::ld_shared_b32(rows);
        } else {
#pragma unroll
            for (int i = 0; i < kColumns / 8; ++i) ptx::ld_shared_v2_b32(words[i * 2], words[i * 2 + 1], rows + i * 64 * kRun);
        }
    }
};

// Fragments of Q and its scales, kept in registers for the whole loop.
template <int kDepth>
struct QueryFragments {
    unsigned codes[kDepth / 64][4];
    unsigned scales[kDepth / 64];

    template <class T>
    __device__ __forceinline__ void load(const Params<T>& p, const Work& work, const Place& at) {
        const long long head = static_cast<long long>(work.bh) * p.queries.stored;
        const unsigned char* q = p.q_codes + head * (kDepth / 2);
        const unsigned char* qs = p.q_scales + head * (kDepth / kGroup);
        const int stored = work.queries.stored;
        const int scale_row = stored + at.row(at.lane & 1);  // lanes 4g and 4g + 1 are read
#pragma unroll
        for (int step = 0; step < kDepth / 64; ++step) {
#pragma unroll
            for (int i = 0; i < 4; ++i)
                codes[step][i] = *reinterpret_cast<const unsigned*>(
                    q + static_cast<long long>(stored + at.row(i & 1)) * (kDepth / 2) + step * 32 + i / 2 * 16 + at.t * 4);
            scales[step] = *reinterpret_cast<const unsigned*>(qs + scale_offset(scale_row, step * 4, kDepth / kGroup, scale_run(kDepth / kGroup)));
        }
    }
};

// The accumulators begin with the bias of their keys: of band j / 4 the keys that this thread owns, 8t .. 8t + 7. bias: of
// this lane (Lane::bias) in the stage.
template <int kDepth>
__device__ __forceinline__ void load_bias(unsigned bias, typename Shape<kDepth>::Scores& s) {
#pragma unroll
    for (int j = 0; j < Shape<kDepth>::kProducts; ++j)
#pragma unroll
        for (int half = 0; half < 2; ++half)
            ptx::ld_volatile_shared_v2_f32(s[j][half * 2], s[j][half * 2 + 1], bias + (j / 4 * kPermuted + j % 4 * 2) * 4);
}

template <int kDepth>
__device__ __forceinline__ void multiply_q_k(const QueryFragments<kDepth>& q, unsigned stage, const Lane& lane,
                                             typename Shape<kDepth>::Scores& s) {
    constexpr int kKeyBytes = kDepth / 2;
    const unsigned scale = stage + Stage<kDepth>::kKeyScales + lane.k_scales;
    const unsigned codes = stage + Stage<kDepth>::kKeyCodes + lane.k_codes;
    load_bias<kDepth>(stage + Stage<kDepth>::kBias + lane.bias, s);
#pragma unroll
    for (int band = 0; band < Shape<kDepth>::kBands; ++band) {
        Scales<kDepth / kGroup> scales;
        scales.load(scale, band);
        Columns<kKeyBytes> k;
        k.load(codes + band * kPermuted * kKeyBytes);
#pragma unroll
        for (int step = 0; step < kDepth / 64; ++step) k.multiply(s + band * 4, step, q.codes[step], q.scales[step], scales.words[step]);
    }
}

// P of a tile as operands of P V, and what the running softmax keeps of a row.
template <int kDepth>
struct Probabilities {
    unsigned codes[Shape<kDepth>::kSteps][4], scales[Shape<kDepth>::kSteps];
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
template <int kDepth>
__device__ __forceinline__ void group_maxima(const typename Shape<kDepth>::Scores& s,
                                             typename Shape<kDepth>::Maxima& largest) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int band = 0; band < Shape<kDepth>::kBands; ++band) {
            float m = s[band * 4][half * 2];
#pragma unroll
            for (int i = 1; i < 8; ++i) m = ptx::max_NaN_f32(m, s[band * 4 + i / 2][half * 2 + i % 2]);
            largest[half][band] = ptx::max_NaN_f32(m, ptx::shfl_sync_bfly_f32(m, 1));
        }
}

// Moves the row state on to this tile; rescale[half] is what older sums are multiplied by.
template <int kDepth, bool kMasked>
__device__ __forceinline__ void advance(RowState& state, const typename Shape<kDepth>::Maxima& largest, float c,
                                        float (&rescale)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float m = largest[half][0];
#pragma unroll
        for (int band = 1; band < Shape<kDepth>::kBands; ++band) m = ptx::max_NaN_f32(m, largest[half][band]);
        m = ptx::max_NaN_f32(m, ptx::shfl_sync_bfly_f32(m, 2));
        const float before = state.max[half];
        state.max[half] = ptx::max_NaN_f32(before, m);
        rescale[half] = ptx::ex2_approx_ftz_f32(
            ptx::mul_rn_f32(ptx::sub_rn_f32(before, subtrahend<kMasked>(state.max[half])), c));
        state.sum[half] = ptx::mul_rn_f32(state.sum[half], rescale[half]);
    }
}

// Two-level quantisation before its rounding: a group's scale is P of its maximum over 6, at most 448, so
// the largest code of each group is 6. use(half, band, x): eight consecutive keys of this thread, over their scale.
template <int kDepth, bool kMasked, class F>
__device__ __forceinline__ void weigh(const typename Shape<kDepth>::Scores& s, const typename Shape<kDepth>::Maxima& largest,
                                      float c, RowState& state, float (&scale)[2][Shape<kDepth>::kBands], F use) {
    constexpr int kBands = Shape<kDepth>::kBands;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const float row = ptx::fma_rn_f32(-subtrahend<kMasked>(state.max[half]), c, kLog2Largest);
#pragma unroll
        for (int band = 0; band < kBands; ++band) {
            scale[half][band] = ptx::ex2_approx_ftz_f32(ptx::fma_rn_f32(largest[half][band], c, row));
            const float group = ptx::fma_rn_f32(-subtrahend<kMasked>(largest[half][band]), c, kLog2Six);
            float x[8], of_group = 0.0f;
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                x[i] = ptx::ex2_approx_ftz_f32(ptx::fma_rn_f32(s[band * 4 + i / 2][half * 2 + i % 2], c, group));
                of_group = ptx::add_rn_f32(of_group, x[i]);
            }
            state.sum[half] = ptx::fma_rn_f32(scale[half][band], of_group, state.sum[half]);
            use(half, band, x);
        }
    }
}

// The scales of P as words that the product reads.
template <int kDepth>
__device__ __forceinline__ void pack_scales(const float (&scale)[2][Shape<kDepth>::kBands], unsigned pick,
                                            Probabilities<kDepth>& out) {
    // Lanes 4g + 0, 1 hold the scales of keys 0-15 of a band, lanes 4g + 2, 3 those of keys 16-31.
    // The product reads four consecutive groups of row g from lane 4g, of row g + 8 from 4g + 1.
#pragma unroll
    for (int step = 0; step < Shape<kDepth>::kSteps; ++step) {
        const unsigned low = ptx::cvt_rn_satfinite_e4m3x2_f32(scale[1][step * 2], scale[0][step * 2]);
        const unsigned high = ptx::cvt_rn_satfinite_e4m3x2_f32(scale[1][step * 2 + 1], scale[0][step * 2 + 1]);
        const unsigned mine = low | high << 16;
        out.scales[step] = ptx::prmt_b32(mine, ptx::shfl_sync_bfly_b32(mine, 2), pick);
    }
}

template <int kDepth, bool kMasked>
__device__ __forceinline__ void quantize_p(const typename Shape<kDepth>::Scores& s,
                                           const typename Shape<kDepth>::Maxima& largest, float c, RowState& state,
                                           const Lane& lane, Probabilities<kDepth>& out) {
    float scale[2][Shape<kDepth>::kBands];
    weigh<kDepth, kMasked>(s, largest, c, state, scale, [&](int half, int band, const float (&x)[8]) {
        out.codes[band / 2][band % 2 * 2 + half] = ptx::cvt_rn_satfinite_e2m1x2_f32_x4(x);
    });
    pack_scales<kDepth>(scale, lane.pick, out);
}

// O += P V.
template <int kDepth>
__device__ __forceinline__ void multiply_p_v(const Probabilities<kDepth>& p, unsigned stage, const Lane& lane,
                                             typename Shape<kDepth>::Output& o) {
    constexpr int kKeys = Shape<kDepth>::kKeys, kSteps = Shape<kDepth>::kSteps, kTokenBytes = kKeys / 2;
    const unsigned scale = stage + Stage<kDepth>::kValueScales + lane.v_scales;
    const unsigned codes = stage + Stage<kDepth>::kValueCodes + lane.v_codes;
#pragma unroll
    for (int block = 0; block < kDepth / 32; ++block) {
        Scales<kKeys / kGroup> scales;
        scales.load(scale, block);
        Columns<kTokenBytes> v;
        v.load(codes + block * 32 * kTokenBytes);
#pragma unroll
        for (int step = 0; step < kSteps; ++step) v.multiply(o + block * 4, step, p.codes[step], p.scales[step], scales.words[step]);
    }
}

__device__ __forceinline__ float quad_sum(float x) {
    x = ptx::add_rn_f32(x, ptx::shfl_sync_bfly_f32(x, 1));
    return ptx::add_rn_f32(x, ptx::shfl_sync_bfly_f32(x, 2));
}

}  // namespace sage3

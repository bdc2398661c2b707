// SPDX-License-Identifier: Apache-2.0
// O / l to the caller's tensor by way of shared memory, so that rows are written 16 bytes at a time, and the log-sum-exp.
#pragma once
#include "sage3_tile.cuh"

namespace sage3 {

// A warp's own piece of shared memory: its 16 rows, 64 channels at a time, in rows of eight 16-byte chunks. Chunk c of row
// r lies at c ^ r % 8, so that neither stmatrix nor the reading meets a bank twice.
struct Staging {
    static constexpr unsigned kBytes = 16 * 128;
    unsigned start;

    // shared: where all warps' pieces begin.
    __device__ __forceinline__ static Staging of(unsigned shared, int thread) { return {shared + thread / 32 * kBytes}; }
    __device__ __forceinline__ static unsigned chunk(int row, int chunk) { return row * 128 + (chunk ^ row % 8) * 16; }
};

template <class T>
__device__ __forceinline__ unsigned pack(float low, float high) {
    return narrow<T>(low).bits | static_cast<unsigned>(narrow<T>(high).bits) << 16;
}

// Rows that see nothing: zeros. first_channel: of o's, the first that these are.
template <int kDepth, class T>
__device__ __forceinline__ void store_output(const Call<T>& p, const Work& work, const Place& at, const Staging& staging,
                                             const float (&sum)[2], const typename Shape<kDepth>::Output& o,
                                             int first_channel = 0) {
    // Not a value: it would wait in a register, past what the compiler cannot look through.
    const auto depth = [&] { return p.depth - first_channel; };
    float inverse[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) inverse[half] = sum[half] == 0.0f ? 0.0f : ptx::rcp_approx_ftz_f32(sum[half]);
    const float* mean = p.v_mean ? p.v_mean + (static_cast<long long>(work.sequence()) * p.kv_heads +
                                               key_head(work.head, p.heads, p.kv_heads)) * p.depth + first_channel
                                 : nullptr;
    T* const out = p.o + work.bh / p.heads * p.o_batch + work.head * p.o_head + first_channel;
    const bool whole = ((reinterpret_cast<unsigned long long>(out) | p.o_token * 2) & 15) == 0;  // rows of 16-byte pieces
#pragma unroll
    for (int first = 0; first < kDepth; first += 64) {
        if (first >= depth()) break;
#pragma unroll
        for (int j = 0; j < 8; j += 2) {  // matrices: rows 0-7 and 8-15 of product j, then of j + 1
            unsigned d[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int half = i % 2, product = first / 8 + j + i / 2, channel = product * 8 + at.t * 2;
                float x[2];
#pragma unroll
                for (int c = 0; c < 2; ++c) {
                    const float add = mean && sum[half] != 0.0f && channel + c < depth() ? mean[channel + c] : 0.0f;
                    x[c] = ptx::fma_rn_f32(o[product][half * 2 + c], inverse[half], add);
                }
                d[i] = pack<T>(x[0], x[1]);
            }
            const int row = at.lane % 8 + at.lane / 8 % 2 * 8;
            ptx::stmatrix_sync_x4_b16(staging.start + Staging::chunk(row, j + at.lane / 16), d);
        }
        ptx::bar_warp_sync();
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int row = i * 4 + at.lane / 8, channel = first + at.lane % 8 * 8;
            unsigned d[4];
            ptx::ld_shared_v4_b32(d, staging.start + Staging::chunk(row, at.lane % 8));
            const int query = at.first_row + row;
            if (query >= work.queries.length || channel >= depth()) continue;
            T* to = out + (work.queries.first + query) * p.o_token + channel;
            if (whole && channel + 8 <= depth()) {
                *reinterpret_cast<uint4*>(to) = make_uint4(d[0], d[1], d[2], d[3]);
                continue;
            }
#pragma unroll
            for (int c = 0; c < 8; ++c)
                if (channel + c < depth()) to[c] = T{static_cast<unsigned short>(d[c / 2] >> c % 2 * 16)};
        }
        ptx::bar_warp_sync();  // the next 64 channels take the same place
    }
}

// A row that sees nothing: -inf.
template <int kDepth, class T>
__device__ __forceinline__ void store_result(const Call<T>& p, const Work& work, const Place& at, const Staging& staging,
                                             const RowState& state, const typename Shape<kDepth>::Output& o) {
    const float sum[2] = {quad_sum(state.sum[0]), quad_sum(state.sum[1])};
    store_output<kDepth>(p, work, at, staging, sum, o);
    if (at.t != 0 || !p.lse) return;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        if (at.row(half) >= work.queries.length) continue;
        const long long i = work.token(p, at.row(half));
        // The logits are scale * (S + shift); l has the factor 2688. lg2.approx cuts its result, which
        // costs less the smaller it is.
        const float base2 = ptx::sub_rn_f32(ptx::lg2_approx_f32(ptx::mul_rn_f32(sum[half], 0x1p-11f)), kLog2Scale);
        const float logit = ptx::mul_rn_f32(p.scale, ptx::add_rn_f32(state.max[half], p.shift[i]));
        p.lse[i] = sum[half] == 0.0f ? minus_infinity() : ptx::fma_rn_f32(base2, kLn2, logit);
    }
}

}  // namespace sage3

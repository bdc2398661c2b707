// SPDX-License-Identifier: Apache-2.0
// The inner fragments of the Hopper kernel, written out where it is compiled with taps on; empty otherwise. Included by
// hopper_attention.cuh alone. Rows and columns are natural.
#pragma once

namespace sage3 {
namespace hopper {

#if WW_TAPS
// [bh, tile, token] of a tap [BH, columns / 128, Lq].
template <class T>
__device__ __forceinline__ long long tap_tile_row(const Int8Params<T>& p, const Work& work, int tile, int row) {
    return (static_cast<long long>(work.bh) * (p.columns / kKeys) + tile) * p.queries.tokens + work.queries.first + row;
}
#endif

template <Mask kMask, bool kMasked, class T>
__device__ __forceinline__ void tap_scores(const Int8Params<T>& p, const Work& work, const Place& at, int tile,
                                           const Scaling& scaling, const int (&s)[kKeys / 2],
                                           const unsigned (&codes)[kKeys / 32][4], const float (&max)[2]) {
#if WW_TAPS
    for (int i = 0; i < kKeys / 2; ++i) {
        const int half = i % 4 / 2, j = i / 4, row = at.row(half);
        if (row >= work.queries.length) continue;
        const long long to = work.token(p, row) * p.columns + key_of(at, tile * kKeys, j, i % 4);
        p.s[to] = is_added(kMask) ? __int_as_float(s[i])
                  : kMasked && s[i] == kHidden ? minus_infinity() : scaling.logit(s[i], half);
        p.p_codes[to] = static_cast<unsigned char>(codes[j / 4][j % 4 / 2 * 2 + half] >> (j % 2 * 2 + i % 2) * 8);
    }
    for (int half = 0; half < 2; ++half)
        if (at.t == 0 && at.row(half) < work.queries.length) p.row_max[tap_tile_row(p, work, tile, at.row(half))] = max[half];
#endif
}

template <class T>
__device__ __forceinline__ void tap_sums(const Int8Params<T>& p, const Work& work, const Place& at, int tile,
                                         const float (&sum)[2]) {
#if WW_TAPS
    for (int half = 0; half < 2; ++half)
        if (at.t == 0 && at.row(half) < work.queries.length) p.row_sum[tap_tile_row(p, work, tile, at.row(half))] = sum[half];
#endif
}

// Tiles that no row of this block sees.
template <class T>
__device__ __forceinline__ void tap_unvisited(const Int8Params<T>& p, const Work& work, const Place& at) {
#if WW_TAPS
    for (int tile = p.columns / kKeys - 1; tile >= 0; --tile) {
        if (work.visits.count > 0 && tile >= work.visits.first && tile <= work.visits.last) continue;
        int s[kKeys / 2];
        for (int& each : s) each = kHidden;
        const unsigned codes[kKeys / 32][4] = {};
        const float max[2] = {minus_infinity(), minus_infinity()}, sum[2] = {0.0f, 0.0f};
        tap_scores<Mask::none, true>(p, work, at, tile, Scaling{{1.0f, 1.0f}}, s, codes, max);
        tap_sums(p, work, at, tile, sum);
    }
#endif
}

}  // namespace hopper
}  // namespace sage3

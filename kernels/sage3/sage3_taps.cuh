// SPDX-License-Identifier: Apache-2.0
// The inner fragments of the attention kernel, written out where it is compiled with taps on; empty
// otherwise. Included by sage3_attention.cuh and exact_attention.cuh. Rows and columns are natural: what the layout of
// registers does to them is undone here.
#pragma once
#include "sage3_mask.cuh"

namespace sage3 {

#if WW_TAPS
// Element [bh, token, 0] of a tap [BH, Lq, columns]; [bh, tile, token] of one [BH, columns / key_tile, Lq].
template <class T>
__device__ __forceinline__ long long tap_row(const BiasedCall<T>& p, const Work& work, int row, int columns) {
    return work.token(p, row) * columns;
}
template <int kDepth, class T>
__device__ __forceinline__ long long tap_tile_row(const BiasedCall<T>& p, const Work& work, int tile, int row) {
    const long long tiles = p.bias_columns / Shape<kDepth>::kKeys;
    return (work.bh * tiles + tile) * p.queries.tokens + work.queries.first + row;
}
#endif

template <int kDepth, class T>
__device__ __forceinline__ void tap_scores(const BiasedCall<T>& p, const Work& work, const Place& at, int first_key,
                                           const typename Shape<kDepth>::Scores& s) {
#if WW_TAPS
    for (int j = 0; j < Shape<kDepth>::kProducts; ++j)
        for (int c = 0; c < 4; ++c)
            if (at.row(c / 2) < work.queries.length)
                p.s[tap_row(p, work, at.row(c / 2), p.bias_columns) + key_of(at, first_key, j, c)] = s[j][c];
#endif
}

template <int kDepth, class T>
__device__ __forceinline__ void tap_probabilities(const BiasedCall<T>& p, const Work& work, const Place& at, int tile,
                                                  const typename Shape<kDepth>::Maxima& largest,
                                                  const Probabilities<kDepth>& probabilities, const RowState& state) {
#if WW_TAPS
    constexpr int kKeys = Shape<kDepth>::kKeys;
    for (int half = 0; half < 2; ++half) {
        const float sum = quad_sum(state.sum[half]);
        const int row = at.row(half);
        if (row >= work.queries.length) continue;
        for (int band = 0; band < Shape<kDepth>::kBands; ++band) {
            const int key = tile * kKeys + band * kPermuted + at.t * 8;
            p.p_codes[tap_row(p, work, row, p.bias_columns / 8) + key / 8] = probabilities.codes[band / 2][band % 2 * 2 + half];
            if (at.t % 2 == 0) p.group_max[tap_row(p, work, row, p.bias_columns / kGroup) + key / kGroup] = largest[half][band];
        }
        // The words that the product reads: lane 4g those of row g, lane 4g + 1 those of row g + 8.
        if (at.t == half)
            for (int step = 0; step < Shape<kDepth>::kSteps; ++step)
                *reinterpret_cast<unsigned*>(p.p_scales + tap_row(p, work, row, p.bias_columns / kGroup) +
                                             tile * (kKeys / kGroup) + step * 4) = probabilities.scales[step];
        if (at.t == 0) {
            p.row_max[tap_tile_row<kDepth>(p, work, tile, row)] = state.max[half];
            p.row_sum[tap_tile_row<kDepth>(p, work, tile, row)] = sum;
        }
    }
#endif
}

template <int kDepth, class T>
__device__ __forceinline__ void tap_o(const BiasedCall<T>& p, const Work& work, const Place& at, int tile,
                                      const typename Shape<kDepth>::Output& o) {
#if WW_TAPS
    for (int j = 0; j < kDepth / 8; ++j)
        for (int x = 0; x < 4; ++x)
            if (at.row(x / 2) < work.queries.length)
                p.o_tile[tap_tile_row<kDepth>(p, work, tile, at.row(x / 2)) * kDepth + j * 8 + at.t * 2 + x % 2] = o[j][x];
#endif
}

// Tiles that no row of this block sees: the taps of a tile that is masked as a whole, before any other.
template <int kDepth, class T>
__device__ __forceinline__ void tap_unvisited(const BiasedCall<T>& p, const Work& work, const Place& at) {
#if WW_TAPS
    const Visits& visits = work.visits;
    for (int tile = p.bias_columns / Shape<kDepth>::kKeys - 1; tile >= 0; --tile) {
        if (visits.count > 0 && tile >= visits.first && tile <= visits.last) continue;
        typename Shape<kDepth>::Scores s;
        typename Shape<kDepth>::Maxima largest;
        for (int j = 0; j < Shape<kDepth>::kProducts; ++j)
            for (int c = 0; c < 4; ++c) s[j][c] = minus_infinity();
        for (int half = 0; half < 2; ++half)
            for (int band = 0; band < Shape<kDepth>::kBands; ++band) largest[half][band] = minus_infinity();
        const typename Shape<kDepth>::Output o = {};
        const RowState state{{minus_infinity(), minus_infinity()}, {0.0f, 0.0f}};
        tap_scores<kDepth>(p, work, at, tile * Shape<kDepth>::kKeys, s);
        tap_probabilities<kDepth>(p, work, at, tile, largest, Probabilities<kDepth>{}, state);
        tap_o<kDepth>(p, work, at, tile, o);
    }
#endif
}

}  // namespace sage3

// SPDX-License-Identifier: Apache-2.0
// The inner fragments of the attention kernel, written out where it is compiled with taps on; empty
// otherwise. Included by sage3_attention.cuh alone. Rows and columns are natural: what the layout of
// registers does to them is undone here.
#pragma once

namespace sage3 {

#if WW_TAPS
// Element [bh, row, 0] of a tap [BH, Lq, columns]; [bh, tile, row] of one [BH, LkP / 128, Lq].
template <class T>
__device__ __forceinline__ long long tap_row(const Params<T>& p, const Place& at, int half, int columns) {
    return (static_cast<long long>(at.bh) * p.lq + at.row(half)) * columns;
}
template <class T>
__device__ __forceinline__ long long tap_tile_row(const Params<T>& p, const Place& at, int tile, int half) {
    return (static_cast<long long>(at.bh) * (padded(p.lk) / kTile) + tile) * p.lq + at.row(half);
}
#endif

template <class T>
__device__ __forceinline__ void tap_scores(const Params<T>& p, const Place& at, int tile,
                                           const float (&s)[kColumnTiles][4]) {
#if WW_TAPS
    for (int j = 0; j < kColumnTiles; ++j)
        for (int c = 0; c < 4; ++c)
            if (at.row(c / 2) < p.lq) p.s[tap_row(p, at, c / 2, padded(p.lk)) + key_of(at, tile, j, c)] = s[j][c];
#endif
}

template <class T>
__device__ __forceinline__ void tap_probabilities(const Params<T>& p, const Place& at, int tile,
                                                  const float (&largest)[2][kBands],
                                                  const Probabilities& probabilities, const RowState& state) {
#if WW_TAPS
    for (int half = 0; half < 2; ++half) {
        const float sum = quad_sum(state.sum[half]);
        if (at.row(half) >= p.lq) continue;
        for (int band = 0; band < kBands; ++band) {
            const int key = tile * kTile + band * kPermuted + at.t * 8;
            p.p_codes[tap_row(p, at, half, padded(p.lk) / 8) + key / 8] =
                probabilities.codes[band / 2][band % 2 * 2 + half];
            if (at.t % 2 == 0)
                p.group_max[tap_row(p, at, half, padded(p.lk) / kGroup) + key / kGroup] = largest[half][band];
        }
        // The words that the product reads: lane 4g those of row g, lane 4g + 1 those of row g + 8.
        if (at.t == half)
            for (int step = 0; step < kSteps; ++step)
                *reinterpret_cast<unsigned*>(p.p_scales + tap_row(p, at, half, padded(p.lk) / kGroup) +
                                             tile * (kTile / kGroup) + step * 4) = probabilities.scales[step];
        if (at.t == 0) {
            p.row_max[tap_tile_row(p, at, tile, half)] = state.max[half];
            p.row_sum[tap_tile_row(p, at, tile, half)] = sum;
        }
    }
#endif
}

template <int kDepth, class T>
__device__ __forceinline__ void tap_o(const Params<T>& p, const Place& at, int tile,
                                      const float (&o)[kDepth / 8][4]) {
#if WW_TAPS
    for (int j = 0; j < kDepth / 8; ++j)
        for (int x = 0; x < 4; ++x)
            if (at.row(x / 2) < p.lq) p.o_tile[tap_tile_row(p, at, tile, x / 2) * kDepth + j * 8 + at.t * 2 + x % 2] = o[j][x];
#endif
}

// Tiles that no row of this block sees: the taps of a tile that is masked as a whole, before any other.
template <int kDepth, class T>
__device__ __forceinline__ void tap_unvisited(const Params<T>& p, const Place& at, int tiles) {
#if WW_TAPS
    for (int tile = padded(p.lk) / kTile - 1; tile >= tiles; --tile) {
        float s[kColumnTiles][4], largest[2][kBands];
        for (int j = 0; j < kColumnTiles; ++j)
            for (int c = 0; c < 4; ++c) s[j][c] = minus_infinity();
        for (int half = 0; half < 2; ++half)
            for (int band = 0; band < kBands; ++band) largest[half][band] = minus_infinity();
        const float o[kDepth / 8][4] = {};
        const RowState state{{minus_infinity(), minus_infinity()}, {0.0f, 0.0f}};
        tap_scores(p, at, tile, s);
        tap_probabilities(p, at, tile, largest, Probabilities{}, state);
        tap_o<kDepth>(p, at, tile, o);
    }
#endif
}

}  // namespace sage3

// SPDX-License-Identifier: Apache-2.0
// What the kernels of Sage Attention 3 share: sizes of tiles, the order in which keys are stored, and
// where a block scale lies. B batches, H heads, L tokens, D channels; P at the end means padded.
#pragma once
#include "../common/float16.cuh"

#ifndef WW_TAPS
#define WW_TAPS 0
#endif

namespace sage3 {

constexpr int kTile = 128;       // queries of a block, and keys of one step of its loop
constexpr int kGroup = 16;       // elements that share a scale
constexpr int kPermuted = 32;    // keys that are stored in another order among themselves
constexpr float kLog2e = 1.44269504f;
constexpr float kLargestE4m3 = 448.0f;
// Of INT8 and FP8 without blocks: below it a row counts as this large, so that scales and their products stay normal.
constexpr float kSmallest = 1e-15f;

__device__ __forceinline__ float minus_infinity() { return __uint_as_float(0xff800000u); }

__host__ __device__ constexpr int padded(int length) { return (length + kTile - 1) / kTile * kTile; }

// One side of a call, queries or keys. A head's tokens are also kept padded, in `stored` rows: those of a sequence
// begin at a multiple of 128 and are followed by zeros up to the next.
struct Sequence {
    int number;  // of the call
    int batch;   // of the tensor
    int first;   // token in that batch
    int length;
    int stored;  // row
};
struct Side {
    const int* starts;  // [sequences + 1]: the first token of each, in one batch; null: each batch is a sequence
    int sequences;
    int tokens;   // of a batch
    int longest;  // that a sequence may be: what is beyond is left out
    int stored;   // rows of a head: padded(tokens), or with starts (tokens / 128 + sequences) * 128

    __device__ __forceinline__ Sequence sequence(int number) const {
        if (!starts) return {number, number, 0, tokens, 0};
        const int first = starts[number], length = starts[number + 1] - first;
        return {number, 0, first, length < 0 ? 0 : length < longest ? length : longest,
                (first / kTile + number) * kTile};
    }
    // The sequence that has row 128 tile of batch; where none has, its length ends before that row.
    __device__ __forceinline__ Sequence sequence_of_tile(int batch, int tile) const {
        if (!starts) return sequence(batch);
        int low = 0, high = sequences;  // the last of those that begin at or before the tile
#pragma unroll 1
        while (high - low > 1) {
            const int middle = (low + high) / 2;
            if (starts[middle] / kTile + middle <= tile) low = middle;
            else high = middle;
        }
        return sequence(low);
    }
    __host__ __device__ int tiles() const { return stored / kTile; }  // of a head
};

// A 128-row tile of one head, of batches of the tensor: which sequence it belongs to, and from which of its tokens.
struct TileOf {
    int bh, tile;  // tile: among the head's stored ones
    Sequence sequence;
    int row;  // its first row, from the start of the sequence; maybe at or beyond the end

    __device__ __forceinline__ static TileOf of(const Side& side, int heads, int number) {
        TileOf out;
        out.bh = number / side.tiles();
        out.tile = number % side.tiles();
        out.sequence = side.sequence_of_tile(out.bh / heads, out.tile);
        out.row = out.tile * kTile - out.sequence.stored;
        return out;
    }
    // Rows of it that are tokens.
    __device__ __forceinline__ int rows() const {
        const int left = sequence.length - row;
        return row < 0 || left < 0 ? 0 : left < kTile ? left : kTile;
    }
    // Of its row i as a token of the tensor.
    __device__ __forceinline__ int token(int i) const { return sequence.first + row + i; }
};

// The key head of a query head, both within a batch.
__device__ __forceinline__ int key_head(int head, int heads, int kv_heads) { return head / (heads / kv_heads); }

// A tensor [B, H, L, D] of the caller: strides in elements, the channels are contiguous.
template <class T>
struct Strided {
    const T* data;
    long long batch, head, token;

    __device__ __forceinline__ const T* row(int b, int h, int l) const {
        return data + b * batch + h * head + l * token;
    }
};

// Row p of 32 stored keys holds token t of them. The accumulator columns 2t, 2t + 1 of four 8-key
// products are then 8 consecutive keys: those that one thread needs as one register of P.
__device__ __forceinline__ int token_of_stored_key(int p) {
    return (p & ~31) | (p & 1) | ((p & 24) >> 2) | ((p & 6) << 2);
}

// Codes of K and V are stored tile by tile as the attention kernel's shared memory holds them: rows of
// `row_bytes` (32 or 64), whose 16-byte chunks are exchanged so that the eight rows of an ldmatrix lie in
// different banks. Byte of a row's `byte`; rows count from the start of a tile or of the tensor.
__host__ __device__ constexpr long long code_offset(long long row, int byte, int row_bytes) {
    const int rows_of_line = 128 / row_bytes, chunks = row_bytes / 16;
    const int chunk = byte / 16 ^ static_cast<int>(row / rows_of_line % chunks);
    return row * row_bytes + chunk * 16 + byte % 16;
}

// Columns of scales that lie together: those of two k = 64 steps, or of one where a matrix or a tile of it has but four.
__host__ __device__ constexpr int scale_run(int columns) { return columns < 8 ? 4 : 8; }

// Byte of the scale of (row, column) in a matrix of scales with `columns` (a multiple of run) that are read `run` at a
// time: rows r and r + 32 side by side, so that a lane has what it needs for two products of 32 rows in one load.
__host__ __device__ constexpr long long scale_offset(int row, int column, int columns, int run) {
    return static_cast<long long>(row / 64) * 64 * columns + column / run * 64 * run + (row % 32 * 2 + row % 64 / 32) * run +
           column % run;
}

}  // namespace sage3

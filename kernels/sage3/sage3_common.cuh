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

__device__ __forceinline__ float minus_infinity() { return __uint_as_float(0xff800000u); }

__host__ __device__ constexpr int padded(int length) { return (length + kTile - 1) / kTile * kTile; }

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

// Byte of the scale of (row, column) in a matrix of scales with `columns` (a multiple of 4): the four
// scales of a row that one k = 64 step needs are one 32-bit word.
__host__ __device__ constexpr long long scale_offset(int row, int column, int columns) {
    return static_cast<long long>(row / 64) * 64 * columns + column / 4 * 256 + row % 16 * 16 +
           row % 64 / 16 * 4 + column % 4;
}

}  // namespace sage3

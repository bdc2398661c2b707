// SPDX-License-Identifier: Apache-2.0
// Codes and scales of NVFP4 as f16, exactly: e2m1 times ue4m3 has 6 significant bits and lies between 2^-10 and 2688. Tiles
// are stored as wgmma wants them in shared memory.
#pragma once
#include "../common/ptx_f16x2.cuh"
#include "../common/ptx_fp4.cuh"
#include "../common/ptx_math.cuh"
#include "sage3_common.cuh"

namespace sage3 {

constexpr int kExpandThreads = 256;
constexpr int kChunk = 8;  // elements of 16 bytes, of which one thread makes as many at a time

// Byte of an element in a tile of `rows` rows: 64 elements of all rows lie together, in swizzled rows of 128 bytes.
__host__ __device__ constexpr long long operand_offset(int rows, int row, int element) {
    return static_cast<long long>(element / 64) * rows * 128 + code_offset(row, element % 64 * 2, 128);
}

// The values of the two codes of a byte, low nibble first. A code's three low bits at the top of f16's exponent and mantissa
// are its magnitude times 2^-14, subnormal numbers among them.
__device__ __forceinline__ unsigned values_of_codes(unsigned byte) {
    const unsigned apart = (byte & 0xfu) | (byte & 0xf0u) << 12;
    return ptx::mul_rn_f16x2((apart & 0x00080008u) << 12 | (apart & 0x00070007u) << 9, 0x74007400u);
}

// Of a ue4m3, twice.
__device__ __forceinline__ unsigned scale_as_f16x2(unsigned char code) {
    const unsigned value = ptx::cvt_rn_f16x2_e4m3x2(code);
    return ptx::prmt_b32(value, value, 0x1010u);
}

// Q and K: codes and scales as quantize_rows stores them -> [BH, stored rows / tile_rows, operand_offset]. kKeys: the codes
// lie as code_offset says; the rows stay in their stored order. One block 128 rows.
template <bool kKeys>
__device__ void expand_rows(const unsigned char* codes, const unsigned char* scales, unsigned char* operand, int stored,
                            int padded_depth, int tile_rows) {
    const int columns = padded_depth / kGroup, row_bytes = padded_depth / 2, chunks = padded_depth / kChunk;
    const long long first = static_cast<long long>(blockIdx.x) * kTile;  // over all heads
    const long long head = first / stored * stored;
    for (int i = threadIdx.x; i < kTile * chunks; i += kExpandThreads) {
        const int row = i / chunks, element = i % chunks * kChunk, byte = element / 2;
        const long long at = first + row;
        const unsigned word = *reinterpret_cast<const unsigned*>(
            codes + (kKeys ? code_offset(at, byte, row_bytes) : at * row_bytes + byte));
        const unsigned scale = scale_as_f16x2(scales[head * columns + scale_offset(static_cast<int>(at - head), element / kGroup,
                                                                                   columns, scale_run(columns))]);
        unsigned values[4];
#pragma unroll
        for (int pair = 0; pair < 4; ++pair)
            values[pair] = ptx::mul_rn_f16x2(values_of_codes(word >> pair * 8 & 0xffu), scale);
        unsigned char* const tile = operand + (first + row / tile_rows * tile_rows) * padded_depth * 2;
        *reinterpret_cast<uint4*>(tile + operand_offset(tile_rows, row % tile_rows, element)) =
            make_uint4(values[0], values[1], values[2], values[3]);
    }
}

// V: codes and scales as quantize_columns stores them -> [BHkv, stored / key_tile, operand_offset], rows are channels and
// their elements keys in the stored order of K's rows: what accumulators of S hold is then P's operand. One block
// a tile of keys.
__device__ void expand_columns(const unsigned char* codes, const unsigned char* scales, unsigned char* operand, int stored,
                               int padded_depth, int key_tile) {
    const int columns = stored / kGroup, row_bytes = key_tile / 2, chunks = key_tile / kChunk;
    const int tiles = stored / key_tile, tile = blockIdx.x % tiles;
    const unsigned char* const head_scales = scales + static_cast<long long>(blockIdx.x / tiles) * padded_depth * columns;
    const long long first = static_cast<long long>(blockIdx.x) * padded_depth;  // row of the codes
    for (int i = threadIdx.x; i < padded_depth * chunks; i += kExpandThreads) {
        const int channel = i / chunks, position = i % chunks * kChunk, band = position / kPermuted;
        // Positions 8j .. 8j + 7 of 32 hold tokens 2j and 2j + 1 of each eight: byte j of each of four words.
        const int j = position % kPermuted / kChunk;
        const uint4 words = *reinterpret_cast<const uint4*>(codes + code_offset(first + channel, band * 16, row_bytes));
        const unsigned of_eight[4] = {words.x, words.y, words.z, words.w};
        unsigned values[4];
#pragma unroll
        for (int t = 0; t < 4; ++t) {
            const int column = tile * (key_tile / kGroup) + band * 2 + t / 2;
            const unsigned scale =
                scale_as_f16x2(head_scales[scale_offset(channel, column, columns, scale_run(key_tile / kGroup))]);
            values[t] = ptx::mul_rn_f16x2(values_of_codes(of_eight[t] >> j * 8 & 0xffu), scale);
        }
        *reinterpret_cast<uint4*>(operand + first * row_bytes * 4 + operand_offset(padded_depth, channel, position)) =
            make_uint4(values[0], values[1], values[2], values[3]);
    }
}

}  // namespace sage3

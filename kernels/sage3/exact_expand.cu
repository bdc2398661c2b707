// SPDX-License-Identifier: Apache-2.0
// NVFP4 operands as f16, for the exact path.
#include "exact_expand.cuh"

extern "C" __global__ void __launch_bounds__(sage3::kExpandThreads)
exact_expand_q(const unsigned char* codes, const unsigned char* scales, unsigned char* operand, int stored,
               int padded_depth, int tile_rows) {
    sage3::expand_rows<false>(codes, scales, operand, stored, padded_depth, tile_rows);
}

extern "C" __global__ void __launch_bounds__(sage3::kExpandThreads)
exact_expand_k(const unsigned char* codes, const unsigned char* scales, unsigned char* operand, int stored,
               int padded_depth, int tile_rows) {
    sage3::expand_rows<true>(codes, scales, operand, stored, padded_depth, tile_rows);
}

extern "C" __global__ void __launch_bounds__(sage3::kExpandThreads)
exact_expand_v(const unsigned char* codes, const unsigned char* scales, unsigned char* operand, int stored,
               int padded_depth, int tile_rows) {
    sage3::expand_columns(codes, scales, operand, stored, padded_depth, tile_rows);
}

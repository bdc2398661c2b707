// SPDX-License-Identifier: Apache-2.0
// Attention as the Hopper path computes it, naively and in double: int8 codes of Q by rows and of K, less its mean, by
// tiles of 128 keys; e4m3 P under the row's maximum, and V by channels.
#pragma once
#include "sage3/sage3_reference.hpp"

namespace ww::sage3 {

// Index of a row's byte among codes of a byte that are stored as shared memory holds them (sage3_common.cuh, code_offset).
int64_t code_bytes_index(int64_t row, int64_t byte, int64_t row_bytes);
// Of a row's channel among codes of Q or K (hopper_quantize.cuh, int8_offset).
int64_t int8_index(int64_t row, int64_t channel, int64_t row_bytes);
// Position p of the stored keys of V holds this token.
int64_t token_of_stored_value(int64_t p);
// Codes by the float operations of the kernel, in its order: largest magnitude, its inverse, products.
float int8_inverse(float largest);
float int8_scale(float largest);
int8_t int8_code(float x, float inverse);
float e4m3_inverse(float largest);

struct HopperTaps {
    Values s;        // [BH, Lq, columns] logits times log2 e; -inf where masked
    Values p_codes;  // [BH, Lq, columns] P, at most 448, not rounded
    Values row_max;  // [BH, columns / 128, Lq] after the tile
    Values row_sum;  // [BH, columns / 128, Lq] after the tile, of the rounded P
    explicit HopperTaps(const Problem& problem);
};

// The kernel's own codes of P and maxima, by value, in place of the reference's.
struct HopperGiven {
    Values p_codes, row_max;
};

// q [BH, Lq, DP] and k [BHkv, stored, DP] as integers, their scales a row [BH, stored] and a tile [BHkv, stored / 128];
// v [BHkv, stored, DP] by value with its channels' scales; shift [BH, Lq].
struct HopperOperands {
    Values q, q_scales, k, k_scales, v, shift;
};
struct HopperOptions {
    HopperTaps* taps = nullptr;          // filled
    const HopperGiven* given = nullptr;  // used in place of its own P and row maxima
    MaskFunction mask;                   // may be empty
    const Values* v_mean = nullptr;      // [sequences, Hkv, D], what V has lost
};
Output int8_attention(const Problem& problem, const Sequences& sequences, const HopperOperands& operands,
                      const HopperOptions& options = {});

}  // namespace ww::sage3

// SPDX-License-Identifier: Apache-2.0
// Operands of a fused sum, decoded once per mma into values and exponents. Internal to numerics.
#pragma once
#include "numerics/simd.hpp"

namespace ww::numerics::detail {

constexpr int kRows = 4;  // of one tile, which is eight columns wide

// Rows are padded to a multiple of kRows and columns to one of eight, with zeros. NaN and infinity
// are zeros here, and flagged.
struct Planes {
    std::vector<float> a_values;            // [row][k]
    std::vector<std::int32_t> a_exponents;  // [row pair][k]: two 16-bit exponents
    std::vector<std::uint8_t> a_special;    // [row]: has NaN or infinity (may be too careful)
    std::vector<float> b_values;            // [column block][k][8]
    std::vector<std::int32_t> b_exponents;  // [column block][k][8]: the exponent twice
    std::vector<std::uint8_t> b_special;    // [column block]: one bit a column
    std::vector<float> b_rows;              // b before it is transposed
};

// One operand, in place of the general way of decode_operands. False, and the planes half filled:
// this format or k has no such kernel, or there is a NaN or an infinity.
bool decode_a_quick(Planes& planes, Format format, const void* codes, int m, int k);
bool decode_b_quick(Planes& planes, Format format, const void* codes, int n, int k);

void decode_operands(Planes& planes, const Model& model, Shape shape, const MmaOperands& operands);

}  // namespace ww::numerics::detail

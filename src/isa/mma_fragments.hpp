// SPDX-License-Identifier: Apache-2.0
// Where the elements of mma.sync's matrices live: from the registers of a warp to plain matrices
// and back. g = lane / 4 and t = lane % 4 throughout; lanes 4g..4g+3 are neighbours in a register.
#pragma once
#include <cstdint>
#include <cstring>

#include "machine/types.hpp"

namespace ww::isa {

using machine::kLanes;

// A and B, every element type: a register is 4 bytes (f64: 8) of one row, t-th of its quad.
// Register r of a 16-row matrix is row g + 8 * (r % 2), quad r / 2; of an 8-row one row g, quad r.
template <class Word>
void place_rows(const Word* lanes, int r, int rows, int row_bytes, uint8_t* matrix) {
    constexpr int kQuad = 4 * sizeof(Word);
    const int first_row = rows == 16 ? 8 * (r & 1) : 0, quad = rows == 16 ? r >> 1 : r;
    for (int g = 0; g < 8; ++g)
        std::memcpy(matrix + (g + first_row) * row_bytes + quad * kQuad, lanes + 4 * g, kQuad);
}

// C and D, 8 columns. Registers 2j and 2j + 1 hold columns 2t and 2t + 1 of row g + 8j; f16 has
// both in register j. So 32 lanes of a pair, interleaved, are 8 rows one after the other.
template <class Word>
void interleave(const Word* even, const Word* odd, Word* matrix) {
    for (int lane = 0; lane < kLanes; ++lane) {
        matrix[2 * lane] = even[lane];
        matrix[2 * lane + 1] = odd[lane];
    }
}
template <class Word>
void separate(const Word* matrix, Word* even, Word* odd) {
    for (int lane = 0; lane < kLanes; ++lane) {
        even[lane] = matrix[2 * lane];
        odd[lane] = matrix[2 * lane + 1];
    }
}

// Scales of a block-scaled mma: thread selects which lanes of a quad hold them, byte the first
// byte. A: two lanes of the quad, rows g and g + 8. B: one lane, column g.
inline void place_scales_a(const uint32_t* lanes, uint32_t byte, uint32_t thread, int per_row,
                           uint8_t* scales) {
    if (per_row == 4) {  // then byte is 0
        for (int row = 0; row < 16; ++row)
            std::memcpy(scales + 4 * row,
                        lanes + 4 * (row % 8) + 2 * static_cast<int>(thread) + row / 8, 4);
        return;
    }
    for (int row = 0; row < 16; ++row) {
        const uint32_t word = lanes[4 * (row % 8) + 2 * static_cast<int>(thread) + row / 8];
        for (int i = 0; i < per_row; ++i)
            scales[row * per_row + i] =
                static_cast<uint8_t>(word >> (8 * (byte + static_cast<uint32_t>(i))));
    }
}
inline void place_scales_b(const uint32_t* lanes, uint32_t byte, uint32_t thread, int per_row,
                           uint8_t* scales) {
    if (per_row == 4) {
        for (int col = 0; col < 8; ++col)
            std::memcpy(scales + 4 * col, lanes + 4 * col + static_cast<int>(thread), 4);
        return;
    }
    for (int col = 0; col < 8; ++col) {
        const uint32_t word = lanes[4 * col + static_cast<int>(thread)];
        for (int i = 0; i < per_row; ++i)
            scales[col * per_row + i] =
                static_cast<uint8_t>(word >> (8 * (byte + static_cast<uint32_t>(i))));
    }
}

// ---- m8n8k4 of f16: four products at once, product q by lanes 4q..4q+3 and 16+4q..16+4q+3 ----
// Lane that is the i-th of product q, i in 0..7.
constexpr int quad_lane(int q, int i) { return (i < 4 ? 0 : 16) + 4 * q + i % 4; }

struct Element {
    int row, col;
};
// Element e (0..3) of A in the i-th lane; B is the same with rows and columns exchanged.
constexpr Element quad_a(int i, int e, bool row_major) {
    return row_major ? Element{i, e} : Element{e + (i < 4 ? 0 : 4), i % 4};
}
// B as n, k: its column-major form has k along the registers.
constexpr Element quad_b(int i, int e, bool column_major) { return quad_a(i, e, column_major); }
// Element e (0..7) of an f32 accumulator.
constexpr Element quad_c_f32(int i, int e) {
    return {(i & 1) + (e & 2) + (i < 4 ? 0 : 4), (e & 4) + (i & 2) + (e & 1)};
}
// Element e (0..7) of an f16 accumulator.
constexpr Element quad_c_f16(int i, int e) { return {i, e}; }

}  // namespace ww::isa

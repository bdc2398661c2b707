// SPDX-License-Identifier: Apache-2.0
// Sage Attention 3 step by step, naively: smoothing, NVFP4 quantisation, and attention in double on
// the dequantised codes with the two-level quantisation of P explicit; beside it plain attention in
// double without any quantisation. No device, no ladder. Shapes are named as in sage3_problem.hpp.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sage3/sage3_problem.hpp"

namespace ww::sage3 {

constexpr double kPScale = 2688;  // 448 * 6: P of the row's maximum

using Values = std::vector<double>;

// Means of runs of rows_per_mean rows (the last run may be shorter): x [n, rows, d] ->
// [n, ceil(rows / rows_per_mean), d].
Values mean_rows(const Values& x, int64_t rows, int64_t d, int64_t rows_per_mean);

// 16 values as NVFP4 by the float operations of the kernel, in its order: scale = e4m3(amax / 6),
// inverse = 1 / scale (0 for 0), code = e2m1(x * inverse). A NaN makes the scale NaN.
struct Group {
    std::array<uint8_t, kGroup> codes;  // e2m1
    uint8_t scale;                      // ue4m3
};
Group quantize_group(std::span<const float, kGroup> x);

// Stored row p of K holds this token.
int64_t token_of_stored_key(int64_t p);
// Index of a row's element among codes that are stored as shared memory holds them (sage3_common.cuh,
// code_offset): rows of `row_elements` (64 or 128), counted from the start of the tensor.
int64_t code_index(int64_t row, int64_t element, int64_t row_elements);
// Index of the scale of (row, column) among `columns` scales a row, a multiple of 4.
int64_t scale_index(int64_t row, int64_t column, int64_t columns);

// What the attention kernel holds inside, natural rows and columns, in double and not rounded.
struct Taps {
    Values s;          // [BH, Lq, LkP] bias + q k, logits without the scale; -inf where masked
    Values group_max;  // [BH, Lq, LkP / 16]
    Values p_codes;    // [BH, Lq, LkP] P over its scale, in [0, 6]
    Values p_scales;   // [BH, Lq, LkP / 16] P of the group's maximum over 6, at most 448
    Values row_max;    // [BH, LkP / 128, Lq] after the tile; tiles run from the last to the first
    Values row_sum;    // [BH, LkP / 128, Lq] after the tile, of the unquantised P
    Values o_tile;     // [BH, LkP / 128, Lq, DP] after the tile, not divided
    explicit Taps(const Problem& problem);
};

struct Output {
    Values o;    // [BH, Lq, D]
    Values lse;  // [BH, Lq], natural logarithm
};

// How P is quantised. two_level is the algorithm; direct (P in [0, 1], scale = amax / 6) and none
// are what it is compared with.
enum class PQuantisation { two_level, direct, none };

// A kernel's own P and row maxima, by value and laid out as in Taps: what it makes of them is then
// judged without the few codes that differ from the reference's because they are next to a tie.
struct Given {
    Values p_codes, p_scales, row_max;
};

struct Options {
    PQuantisation quantisation = PQuantisation::two_level;
    Taps* taps = nullptr;          // filled; belongs to two_level
    const Given* given = nullptr;  // used in place of its own P and row maxima
};

// Operands by value: q [BH, Lq, DP], k and v [BHkv, LkP, DP], natural order; bias [BH, LqP / 128, LkP];
// shift [BH, Lq].
Output quantised_attention(const Problem& problem, const Values& q, const Values& k, const Values& v,
                           const Values& bias, const Values& shift, const Options& options = {});

// softmax(scale q k^T) v. q [BH, Lq, D], k and v [BHkv, Lk, D].
Output plain_attention(const Problem& problem, const Values& q, const Values& k, const Values& v);

}  // namespace ww::sage3

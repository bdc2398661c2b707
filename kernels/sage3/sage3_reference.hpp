// SPDX-License-Identifier: Apache-2.0
// Sage Attention 3 step by step, naively: smoothing, NVFP4 quantisation, and attention in double on
// the dequantised codes with the two-level quantisation of P explicit; beside it plain attention in
// double without any quantisation. No device, no ladder. Shapes are named as in sage3_problem.hpp.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "numerics/formats.hpp"
#include "sage3/sage3_problem.hpp"

namespace ww::sage3 {

constexpr double kPScale = 2688;  // 448 * 6: P of the row's maximum

using Values = std::vector<double>;

// Sequences of a call, of its queries or of its keys: which tokens of which batch, and from which row they are stored.
struct Sequence {
    int64_t batch = 0, first = 0, length = 0, stored = 0;
};
// starts: first token of each, and the end of the last; empty where each batch of `tokens` is a sequence. What is longer
// than `longest` is cut.
std::vector<Sequence> sequences(const Problem& problem, const std::vector<int64_t>& starts, int64_t tokens, int64_t longest);
struct Sequences {
    std::vector<Sequence> q, k;
};
// Of a problem where each batch is a sequence.
Sequences whole_batches(const Problem& problem);

// Mean of so many rows of d values; zeros for none.
Values mean_of(std::span<const double> rows, int64_t d);
// The nearest value of the format, saturating.
double rounded(numerics::Format format, double value);

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
// code_offset): rows of `row_elements` (64, 128 or 256), counted from the start of the tensor.
int64_t code_index(int64_t row, int64_t element, int64_t row_elements);
// Index of the scale of (row, column) among `columns` scales a row, a multiple of `run` (4 or 8), which lie together.
int64_t scale_index(int64_t row, int64_t column, int64_t columns, int64_t run);

// What the attention kernel holds inside, natural rows and columns, in double and not rounded.
struct Taps {
    Values s;          // [BH, Lq, columns] bias + q k, logits without the scale; -inf where masked
    Values group_max;  // [BH, Lq, columns / 16]
    Values p_codes;    // [BH, Lq, columns] P over its scale, in [0, 6]
    Values p_scales;   // [BH, Lq, columns / 16] P of the group's maximum over 6, at most 448
    Values row_max;    // [BH, columns / key_tile, Lq] after the tile; tiles run as visits() says
    Values row_sum;    // [BH, columns / key_tile, Lq] after the tile, of the unquantised P
    Values o_tile;     // [BH, columns / key_tile, Lq, DP] after the tile, not divided
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

// What a mask adds to the scaled logit of a query and key of a head (of all batches); -inf hides the key.
using MaskFunction = std::function<double(int64_t bh, int64_t query, int64_t key)>;

struct Options {
    PQuantisation quantisation = PQuantisation::two_level;
    Taps* taps = nullptr;            // filled; belongs to two_level
    const Given* given = nullptr;    // used in place of its own P and row maxima
    MaskFunction mask;               // may be empty
    const Values* v_mean = nullptr;  // [sequences, Hkv, D], what V has lost
};

// Tiles of key_tile keys that the queries first to last of a sequence visit, in the kernel's order: those that hide a key
// from one of them first, from the last down and then from the first up. With a mask, all of them from the last down.
std::vector<int64_t> visits(const Problem& problem, int64_t first, int64_t last, int64_t queries, int64_t keys);
std::vector<int64_t> visits(const Problem& problem, int64_t first, int64_t last, int64_t queries, int64_t keys,
                            int64_t key_tile);

// Operands by value: q [BH, Lq, DP], k and v [BHkv, stored rows, DP], natural order; bias [means, columns];
// shift [BH, Lq].
Output quantised_attention(const Problem& problem, const Sequences& sequences, const Values& q, const Values& k,
                           const Values& v, const Values& bias, const Values& shift, const Options& options = {});

// softmax(scale q k^T + mask) v. q [BH, Lq, D], k and v [BHkv, Lk, D].
Output plain_attention(const Problem& problem, const Sequences& sequences, const Values& q, const Values& k,
                       const Values& v, const MaskFunction& mask = {});

}  // namespace ww::sage3

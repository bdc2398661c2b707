// SPDX-License-Identifier: Apache-2.0
// The two ways to one pass of fused sums over a tile of kRows rows and eight columns. Internal to
// numerics.
#pragma once
#include "numerics/planes.hpp"

namespace ww::numerics::detail {

// One pass of fused sums: k0 <= k < k0 + count, for the whole matrix.
struct Job {
    const Model& model;
    Shape shape;
    MmaOperands operands;
    const Planes& planes;
    int k0;
    int count;
};

// Below kLeast a product may have lost bits to f32's underflow, above kMost it may overflow.
constexpr int kLeast = -100, kMost = 125;
constexpr int kSegment = 16;  // terms whose sum fits 32 bits: less than 16 * 4 * 2^25

// Every case: rows row .. row + kRows - 1 and the columns of one block.
void careful_tile(const Job& job, int row, int block);
// All tiles of a job, in registers where nothing is special, else by careful_tile. False: this
// kind of job has no such kernel and nothing was done.
bool quick_tiles(const Job& job);

}  // namespace ww::numerics::detail

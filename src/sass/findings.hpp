// SPDX-License-Identifier: Apache-2.0
// What an engineer would want to be told about: narrow accesses that lie side by side, and tensor
// instructions that wait for each other. Hints: the listing does not say what pointers are aligned to.
#pragma once
#include <vector>

#include "sass/graph.hpp"
#include "sass/opcode.hpp"

namespace ww::sass {

// Accesses of one block that touch neighbouring addresses from one unchanged base, and could be
// fewer, wider ones if that base is aligned to wide_bits.
struct NarrowAccess {
    Class of = Class::global;
    Access access = Access::load;
    int bits = 0, wide_bits = 0;
    std::vector<int> instructions;  // those that could be merged, by address
    int instead = 0;                // how many wide ones would do
};
std::vector<NarrowAccess> narrow_accesses(const Function& function, const Graph& graph);

struct TensorOrder {
    // Warpgroup instructions that are alone between two waits for all of them: nothing overlaps.
    std::vector<int> waited_alone;
    // mma.sync instructions that add to what the tensor instruction just before them makes.
    std::vector<int> chained;
};
TensorOrder tensor_order(const Function& function, const Graph& graph);

}  // namespace ww::sass

// SPDX-License-Identifier: Apache-2.0
// The control-flow graph of a code section, its dominators and its natural loops.
// docs/asm.md says which edges there are.
#pragma once
#include <vector>

#include "sass/listing.hpp"

namespace ww::sass {

struct Block {
    int first = 0, end = 0;  // instructions [first, end)
    std::vector<int> successors;
    int loop = -1;           // the innermost loop that it is in
    bool reachable = false;  // from the section's start or a subroutine's
};

// All back edges to one header make one loop: the blocks from which a latch is reached without
// passing the header, which dominates them all.
struct Loop {
    int header = 0;            // block
    std::vector<int> latches;  // blocks with a back edge to it
    std::vector<int> blocks;   // ascending; those of inner loops too
    int parent = -1;           // the loop around it
    int depth = 1;             // 1: outermost
};

// Loops inside that many others are not listed (Graph::too_deep counts them): no compiler writes
// such code, and lists of blocks would be as long as the square of the code.
constexpr int kDeepestLoop = 100;

struct Graph {
    std::vector<Block> blocks;   // in the order of their addresses
    std::vector<int> block_of;   // by instruction
    std::vector<Loop> loops;     // by their first instruction, an outer loop first
    std::vector<int> dominator;  // immediate one, by block; -1: a root, or not reachable
    int irreducible = 0;         // edges that go back in a depth-first walk and close no natural loop
    int too_deep = 0;            // loops that are not listed: kDeepestLoop others are around them
    int unknown_jumps = 0;       // branches whose targets the listing does not name

    bool dominates(int a, int b) const;
    // A loop's instruction ranges [first, end), neighbours joined.
    std::vector<std::pair<int, int>> ranges(const Loop& loop) const;

    std::vector<int> enter, leave;  // clock of a walk over the tree of dominators, for dominates()
};

Graph graph_of(const Function& function);

// Control never falls through it: an unguarded branch, EXIT, RET and their like.
bool ends_flow(const Instruction& instruction);
// A branch within the section whose target is known, conditional or not; no call.
bool is_direct_branch(const Instruction& instruction);

}  // namespace ww::sass

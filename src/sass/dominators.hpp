// SPDX-License-Identifier: Apache-2.0
// Immediate dominators of any directed graph, in nearly linear time, whatever its shape.
#pragma once
#include <utility>
#include <vector>

namespace ww::sass {

struct Dominators {
    std::vector<int> immediate;  // by node; the root's is itself; -1: not reached from the root
    std::vector<int> order;      // the nodes reached, in the order of a depth-first walk
    std::vector<std::pair<int, int>> retreating;  // edges to a node that the walk was still below
};

// next: the successors of each node.
Dominators dominators_of(const std::vector<std::vector<int>>& next, int root);

}  // namespace ww::sass

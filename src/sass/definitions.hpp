// SPDX-License-Identifier: Apache-2.0
// Which instructions write each register, and which of them a place in the code gets its value
// from.
#pragma once
#include <span>
#include <vector>

#include "sass/graph.hpp"
#include "sass/registers.hpp"

namespace ww::sass {

class Definitions {
  public:
    Definitions(const Function& function, const Graph& graph);

    // Instructions that write it, ascending.
    std::span<const int> of(const Register& reg) const;
    // The one in the loop; -1: none, or several.
    int only_one_in(const Loop& loop, const Register& reg) const;
    // The one whose value the instruction finds, on every way to it from the loop's header; -1:
    // there are several, or a way without any.
    int reaching(int instruction, const Register& reg, const Loop& loop) const;
    // The one whose value the register has whenever the loop is entered; -1 likewise.
    int reaching_entry(const Loop& loop, const Register& reg) const;

  private:
    int last_before(int end, int block, std::span<const int> all) const;
    // From the blocks in work backwards, not past stop.
    int search(std::vector<int> work, const Register& reg, int stop) const;

    const Graph& graph_;
    std::vector<std::vector<int>> of_;
    std::vector<std::vector<int>> predecessors_;
};

}  // namespace ww::sass

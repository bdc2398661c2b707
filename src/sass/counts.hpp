// SPDX-License-Identifier: Apache-2.0
// How many instructions of each class and opcode there are, and how wide memory accesses are.
#pragma once
#include <array>
#include <map>
#include <string_view>

#include "sass/listing.hpp"
#include "sass/opcode.hpp"

namespace ww::sass {

struct Counts {
    int total = 0;
    std::array<int, kClasses> of_class{};
    std::map<std::string_view, int> opcodes;  // by the name before the first dot
    // Loads and stores by class and width: [width_index].
    using Widths = std::array<int, kWidths.size()>;
    std::array<Widths, kClasses> loads{}, stores{};

    void add(const Instruction& instruction);
    void add(const Counts& other);
    int operator[](Class of) const { return of_class[static_cast<size_t>(of)]; }
};

}  // namespace ww::sass

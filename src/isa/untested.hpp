// SPDX-License-Identifier: Apache-2.0
// The rows that have semantics but no instruction test: the emulator runs them, and nothing has
// judged it. `warpwright isa` calls them "untested"; the test exec.every_row_is_tested keeps the
// list true.
#pragma once
#include <span>
#include <string_view>

#include "isa/row.hpp"

namespace ww::isa {

struct UntestedRow {
    std::string_view syntax, sets;  // as in the row
    bool names(const Row& row) const { return syntax == row.syntax && sets == row.sets; }
};

std::span<const UntestedRow> untested_rows();

enum class State { supported, untested, parsed };  // tested; runs only; has no semantics here
State state(const Row& row);
std::string_view state_name(State state);

}  // namespace ww::isa

// SPDX-License-Identifier: Apache-2.0
// One line a row. A line leaves this list when an instruction test executes its row.
#include "isa/untested.hpp"

#include <algorithm>
#include <initializer_list>

namespace ww::isa {
namespace {

constexpr std::initializer_list<UntestedRow> kUntested = {
};

}  // namespace

std::span<const UntestedRow> untested_rows() { return {kUntested.begin(), kUntested.size()}; }

State state(const Row& row) {
    if (!row.bind) return State::parsed;
    const auto names_row = [&](const UntestedRow& entry) { return entry.names(row); };
    return std::any_of(kUntested.begin(), kUntested.end(), names_row) ? State::untested : State::supported;
}

std::string_view state_name(State state) {
    switch (state) {
        case State::supported: return "supported";
        case State::untested: return "untested";
        case State::parsed: return "parsed";
    }
    return "parsed";
}

}  // namespace ww::isa

// SPDX-License-Identifier: Apache-2.0
// How often a loop may run, as far as the code says: the register that counts, its step, and what it
// is compared with. A hint, read off the listing; a count only where start and bound are constants.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "sass/definitions.hpp"
#include "sass/graph.hpp"

namespace ww::sass {

struct TripHint {
    std::string counter;           // "R11"; empty: no comparison was found
    std::optional<int64_t> step;   // added in each iteration
    std::string comparison;        // "ISETP.NE.AND"
    std::string bound;             // the other operand: "RZ", "0x40", "R3", "UR4"
    std::optional<int64_t> count;  // iterations
};

// Of the loops of one function. The function and its graph must stay while it is used.
class TripHints {
  public:
    TripHints(const Function& function, const Graph& graph);
    TripHint of(const Loop& loop) const;

  private:
    int update_of(const Loop& loop, const Register& counter) const;
    std::optional<int64_t> start_of(const Loop& loop, const Register& counter) const;

    const Function& function_;
    const Graph& graph_;
    Definitions definitions_;
};

}  // namespace ww::sass

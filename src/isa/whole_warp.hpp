// SPDX-License-Identifier: Apache-2.0
// Instructions that a warp executes as one, with all of its lanes.
#pragma once
#include <string>

#include "machine/warp.hpp"

namespace ww::isa {

// False: there is nothing to do yet, or nobody to do it. who: the instruction, for the fault.
inline bool whole_warp(machine::Warp& w, const char* who) {
    if (!w.converged() || w.active == 0) return false;
    if (w.active != machine::kAllLanes)
        throw machine::GuestTrap(std::string(who) + " needs all 32 lanes of the warp; some have exited or are predicated off");
    return true;
}

}  // namespace ww::isa

// SPDX-License-Identifier: Apache-2.0
// Waiting for groups of asynchronous operations, as cp.async, bulk copies and wgmma all do.
#pragma once
#include "isa/row.hpp"
#include "machine/block.hpp"
#include "machine/warp.hpp"

namespace ww::isa {

// The uncommitted operations of each party become a group. who: its first three members.
inline void commit_group(machine::Warp& w, const machine::GroupWait& who) {
    if (w.grid->sink) w.grid->sink->committed(w, who);
    w.block->cluster.async.commit(who.unit, who.warp, who.parties);
}

// The warp goes on once at most wait.keep of the groups are in flight.
inline void wait_for_groups(machine::Warp& w, const machine::GroupWait& wait) {
    const machine::AsyncUnits& async = w.block->cluster.async;
    if (!async.idle() && !async.reached(wait)) w.wait_here({.kind = machine::Wait::Kind::group, .group = wait});
    else if (w.grid->sink) w.grid->sink->waited(w, wait);
}

// The first operand, the number of groups, becomes aux; false: binding.error says why not.
inline bool take_group_count(const Match& match, Binding& binding) {
    binding.aux = match.operands[0].value;
    if (match.operands[0].immediate && binding.aux <= UINT32_MAX) return true;
    binding.error = "the number of groups must be an immediate of 32 bits";
    return false;
}

}  // namespace ww::isa

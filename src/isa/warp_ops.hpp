// SPDX-License-Identifier: Apache-2.0
// What the .sync instructions of a warp share: waiting for the lanes of a member mask.
#pragma once
#include "isa/lane.hpp"

namespace ww::isa {

using LaneWords = uint32_t[kLanes];

// Lanes with the same value as the first of `lanes`.
inline LaneMask same_as_first(const uint32_t* value, LaneMask lanes) {
    const uint32_t first = value[__builtin_ctz(lanes)];
    LaneMask same = 0;
    for (int lane = 0; lane < kLanes; ++lane) same |= LaneMask{value[lane] == first} << lane;
    return same & lanes;
}

// Waits until all live lanes of the member mask are here with their values, then calls
// apply(lanes, members): lanes are the executing ones that get a result, values are complete for
// members. Lanes of one split may name different masks (as after match.any): one group is served
// now, the others run the instruction again.
template <class F>
void for_members(Warp& w, const Inst& in, int mask_position, LaneWords* values, int count,
                 F&& apply) {
    if (w.active == 0) return;
    alignas(64) uint32_t scratch[kLanes];
    const uint32_t* masks = w.in<uint32_t>(in[mask_position][0], scratch);
    const LaneMask all = w.active;
    LaneMask group = same_as_first(masks, all);
    if (group != all) {
        LaneMask left = all, complete = 0;
        while (left && !complete) {
            const LaneMask some = same_as_first(masks, left);
            if ((masks[__builtin_ctz(some)] & w.alive() & ~all) == 0) complete = some;
            left &= ~some;
        }
        if (!complete)
            throw machine::GuestTrap(
                "unsupported: lanes that run one .sync instruction together name different "
                "member masks, and each mask waits for lanes elsewhere");
        group = complete;
    }
    const int first = __builtin_ctz(group);
    const LaneMask named = masks[first], members = named & w.alive();
    if (const LaneMask strangers = group & ~named)
        throw machine::GuestTrap(
            "a lane executes a .sync instruction whose member mask does not name it",
            __builtin_ctz(strangers));
    w.active = group;
    if (w.gather(in, named, values, count)) apply(group, members);
    w.active = all;
    if (group != all) w.branch(all & ~group, w.pc);
}

// Results of `value` for the active lanes `lanes`.
inline void write_words(Warp& w, const machine::Operand& d, const uint32_t* value) {
    w.commit<uint32_t>(d, value, value);
}

}  // namespace ww::isa

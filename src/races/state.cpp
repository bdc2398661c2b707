// SPDX-License-Identifier: Apache-2.0
#include "races/state.hpp"

#include <algorithm>

namespace ww::races {

namespace {

// Equal numbers of several lanes at once, as they are as a rule.
void raise_lanes(Clock& clock, Layer layer, Actor actor, const WarpState::Lanes& numbers, LaneMask lanes) {
    while (lanes) {
        const uint32_t number = numbers[static_cast<size_t>(__builtin_ctz(lanes))];
        LaneMask same = 0;
        for (LaneMask each = lanes; each; each &= each - 1)
            if (numbers[static_cast<size_t>(__builtin_ctz(each))] == number) same |= each & -each;
        if (number != 0) clock.raise(layer, actor, number, same);
        lanes &= ~same;
    }
}

}  // namespace

void WarpState::tell(Clock& clock, LaneMask lanes) const {
    clock.raise(Layer::order, actor, epoch, lanes);
    if (has_fenced) raise_lanes(clock, Layer::fenced, actor, fenced, lanes);
    for (size_t engine = 0; engine < kEngines; ++engine) {
        if (engines[engine] == 0) continue;
        raise_lanes(clock, Layer::order, engines[engine], done[engine], lanes);
        if (has_fenced) raise_lanes(clock, Layer::fenced, engines[engine], fenced_done[engine], lanes);
    }
}

void WarpState::fence(LaneMask lanes) {
    has_fenced = true;
    published = true;
    for (; lanes; lanes &= lanes - 1) {
        const size_t lane = static_cast<size_t>(__builtin_ctz(lanes));
        fenced[lane] = epoch;
        for (size_t engine = 0; engine < kEngines; ++engine) fenced_done[engine][lane] = done[engine][lane];
    }
}

Clock WarpState::release(const Group& group, LaneMask lanes) {
    Clock out = *group.clock;
    tell(out, lanes);
    published = true;
    return out;
}

Clock WarpState::release(LaneMask lanes) {
    Clock out;
    for (const Group& group : groups)
        if (group.lanes & lanes) out.join(*group.clock);
    tell(out, lanes);
    published = true;
    return out;
}

void WarpState::acquire(LaneMask lanes, const Clock& clock) {
    if (clock.empty()) return;
    each_group(lanes, [&](Group& group) {
        auto wider = std::make_shared<Clock>(*group.clock);
        wider->join(clock);
        group.clock = std::move(wider);
    });
}

void WarpState::replace(LaneMask lanes, const SharedClock& clock) {
    Group merged{.lanes = lanes, .clock = clock, .heard = nullptr, .released = nullptr};
    const auto join = [](SharedClock& to, const SharedClock& from) {
        if (!from || to == from) return;
        if (!to) {
            to = from;
            return;
        }
        auto both = std::make_shared<Clock>(*to);
        both->join(*from);
        to = std::move(both);
    };
    for (Group& group : groups) {
        if ((group.lanes & lanes) == 0) continue;
        join(merged.heard, group.heard);
        join(merged.released, group.released);
        group.lanes &= ~lanes;
    }
    std::erase_if(groups, [](const Group& group) { return group.lanes == 0; });
    groups.push_back(std::move(merged));
}

const WarpState::Group& WarpState::group_of(int lane) const {
    for (const Group& group : groups)
        if (group.lanes >> lane & 1) return group;
    return groups.front();
}

}  // namespace ww::races

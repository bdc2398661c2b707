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

void OwnDeeds::tell(Clock& clock, LaneMask lanes) const {
    constexpr Layer kFenced[] = {Layer::fenced_shared, Layer::fenced_global};
    clock.raise(Layer::order, actor, epoch, lanes);
    for (size_t space = 0; space < fenced.size(); ++space)
        if (fenced[space].any) raise_lanes(clock, kFenced[space], actor, fenced[space].own, lanes);
    for (size_t engine = 0; engine < kEngines; ++engine) {
        if (engines[engine] == 0) continue;
        raise_lanes(clock, Layer::order, engines[engine], done[engine], lanes);
        for (size_t space = 0; space < fenced.size(); ++space)
            if (fenced[space].any) raise_lanes(clock, kFenced[space], engines[engine], fenced[space].done[engine], lanes);
    }
}

uint32_t OwnDeeds::reach(Layer layer, Actor of, uint32_t lane) const {
    const bool fences = layer == Layer::fenced_shared || layer == Layer::fenced_global;
    if (layer != Layer::order && !fences) return 0;
    const Fenced& behind = fenced[layer == Layer::fenced_global];
    if (of == actor) return fences ? behind.own[lane] : epoch;
    for (size_t engine = 0; engine < kEngines; ++engine)
        if (of == engines[engine]) return fences ? behind.done[engine][lane] : done[engine][lane];
    return 0;
}

void WarpState::fence(LaneMask lanes, FenceSpaces spaces) {
    published = true;
    for (size_t space = 0; space < fenced.size(); ++space) {
        if (!(space == 0 ? spaces.shared : spaces.global)) continue;
        Fenced& here = fenced[space];
        here.any = true;
        for (LaneMask left = lanes; left; left &= left - 1) {
            const size_t lane = static_cast<size_t>(__builtin_ctz(left));
            here.own[lane] = epoch;
            for (size_t engine = 0; engine < kEngines; ++engine) here.done[engine][lane] = done[engine][lane];
        }
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
    Group merged{.lanes = lanes, .clock = clock, .heard = {}, .released = {}};
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
        for (size_t i = 0; i < merged.heard.size(); ++i) join(merged.heard[i], group.heard[i]);
        for (size_t i = 0; i < merged.released.size(); ++i) join(merged.released[i], group.released[i]);
        group.lanes &= ~lanes;
    }
    std::erase_if(groups, [](const Group& group) { return group.lanes == 0; });
    groups.push_back(std::move(merged));
}

void WarpState::hear(LaneMask lanes, const SharedClock& clock, size_t from) {
    each_group(lanes, [&](Group& group) {
        auto heard = group.heard[from] ? std::make_shared<Clock>(*group.heard[from]) : std::make_shared<Clock>();
        heard->join(*clock);
        group.heard[from] = std::move(heard);
    });
}

const WarpState::Group& WarpState::group_of(int lane) const {
    for (const Group& group : groups)
        if (group.lanes >> lane & 1) return group;
    return groups.front();
}

}  // namespace ww::races

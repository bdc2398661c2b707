// SPDX-License-Identifier: Apache-2.0
#include "races/clock.hpp"

#include <algorithm>

namespace ww::races {
namespace {

void join_rows(std::vector<Seen>& to, const std::vector<Seen>& from) {
    if (to.size() < from.size()) to.resize(from.size());
    for (size_t i = 0; i < from.size(); ++i) to[i].join(from[i]);
}

}  // namespace

// Lanes that are below `epoch`, which is above the top.
void Seen::raise_above(uint32_t epoch, LaneMask lanes) {
    const LaneMask left = mask & ~lanes, left_below = middle_mask & ~lanes;
    if (left != 0) {  // the old top becomes the middle, and who was there moves up
        middle = top;
        middle_mask = left | left_below;
    } else {
        middle_mask = left_below;
    }
    top = epoch;
    mask = lanes;
}

void Seen::raise(uint32_t epoch, LaneMask lanes) {
    if (epoch <= base) return;
    if (top >= epoch) lanes &= ~mask;
    if (middle >= epoch) lanes &= ~middle_mask;
    if (lanes == 0) return;
    const bool all_others = (lanes | middle_mask | mask) == machine::kAllLanes;
    if (all_others && epoch < (middle_mask ? middle : top)) {
        base = epoch;
        return;
    }
    if (mask == 0 || epoch > top) {
        raise_above(epoch, lanes);
    } else if (epoch == top) {
        mask |= lanes;
        middle_mask &= ~lanes;
    } else {
        if (middle_mask == 0 || epoch > middle) middle = epoch;
        middle_mask |= lanes;
    }
    settle();
}

// What all lanes have is the base; levels without lanes are zero.
void Seen::settle() {
    if (middle_mask == 0) middle = 0;
    if ((mask | middle_mask) != machine::kAllLanes) return;
    if (middle_mask != 0) {
        base = middle;
        middle = middle_mask = 0;
    } else {
        base = top;
        top = mask = 0;
    }
}

void Seen::join(const Seen& other) {
    if (other.base > base) {
        base = other.base;
        if (base >= middle) middle = middle_mask = 0;
        if (base >= top) top = mask = middle = middle_mask = 0;
    }
    if (other.middle_mask) raise(other.middle, other.middle_mask);
    if (other.mask) raise(other.top, other.mask);
}

bool Clock::covers(Layer layer, Actor actor, uint32_t epoch, LaneMask lanes) const {
    const uint32_t slot = slot_of(actor), number = number_of(actor);
    for (const Part& part : parts_) {
        if (part.slot != slot) continue;
        const std::vector<Seen>& rows = part.layers[static_cast<size_t>(layer)];
        return number < rows.size() && rows[number].covers(epoch, lanes);
    }
    return false;
}

uint32_t Clock::latest(Actor actor) const {
    for (const Part& part : parts_) {
        if (part.slot != slot_of(actor)) continue;
        const std::vector<Seen>& rows = part.layers[static_cast<size_t>(Layer::order)];
        const uint32_t number = number_of(actor);
        return number < rows.size() ? std::max(rows[number].base, rows[number].top) : 0;
    }
    return 0;
}

Clock::Part& Clock::part(uint32_t slot) {
    for (Part& part : parts_)
        if (part.slot == slot) return part;
    parts_.push_back(Part{.slot = slot, .layers = {}});
    return parts_.back();
}

void Clock::raise(Layer layer, Actor actor, uint32_t epoch, LaneMask lanes) {
    std::vector<Seen>& rows = part(slot_of(actor)).layers[static_cast<size_t>(layer)];
    const uint32_t number = number_of(actor);
    if (rows.size() <= number) rows.resize(number + 1);
    rows[number].raise(epoch, lanes);
}

void Clock::join(const Clock& other) {
    for (const Part& from : other.parts_) {
        Part& to = part(from.slot);
        for (size_t layer = 0; layer < kLayers; ++layer) join_rows(to.layers[layer], from.layers[layer]);
    }
}

void Clock::refence(FenceSpaces spaces) {
    for (Part& part : parts_) {
        const std::vector<Seen>& order = part.layers[static_cast<size_t>(Layer::order)];
        if (spaces.shared) join_rows(part.layers[static_cast<size_t>(Layer::refenced_shared)], order);
        if (spaces.global) join_rows(part.layers[static_cast<size_t>(Layer::refenced_global)], order);
    }
}

}  // namespace ww::races

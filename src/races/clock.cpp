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

void Seen::raise(uint32_t epoch, LaneMask lanes) {
    if (epoch <= base || lanes == 0) return;
    if (mask == 0 || epoch > top) top = std::max(top, epoch);
    mask |= lanes;
    if (mask != machine::kAllLanes) return;
    base = top;
    top = 0;
    mask = 0;
}

void Seen::join(const Seen& other) {
    if (other.base > base) {
        base = other.base;
        if (base >= top) top = mask = 0;
    }
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

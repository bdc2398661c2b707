// SPDX-License-Identifier: Apache-2.0
#include "machine/async.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "machine/block.hpp"

namespace ww::machine {
namespace {

[[noreturn]] void with_place(GuestTrap trap, const AsyncOperation& operation) {
    if (!trap.has_place) {
        trap.has_place = true;
        trap.inst = operation.inst->index;
        trap.warp = operation.warp;
    }
    throw trap;
}

}  // namespace

AsyncOperation* AsyncUnits::issue(AsyncOperation operation, Cluster& cluster) {
    operation.number = ++issued_;
    operation.group.fill(kUncommitted);
    if (eager() && operation.missing == 0) {
        if (operation.read) operation.read(operation, operation.parties);
        operation.write(operation, operation.parties);
        return nullptr;
    }
    if (!eager())
        for (const auto& [offset, bytes] : operation.destinations)
            std::memset(cluster.blocks[offset >> kRankShift]->shared.valid + (offset & ((1u << kRankShift) - 1)), 0, bytes);
    pending_.push_back(std::move(operation));
    return &pending_.back();
}

AsyncOperation* AsyncUnits::joinable(uint32_t warpgroup, uint32_t party) {
    for (AsyncOperation& operation : pending_)
        if (operation.unit == Unit::mma && operation.warp == warpgroup && (operation.missing >> party & 1))
            return &operation;
    return nullptr;
}

void AsyncUnits::joined(AsyncOperation& operation) {
    if (!eager() || operation.missing != 0) return;
    for (Place at = pending_.begin(); at != pending_.end(); ++at)
        if (&*at == &operation) return perform(at, at->parties, false);
}

void AsyncUnits::commit(Unit unit, uint32_t warp, uint32_t parties) {
    if (idle()) return;  // empty groups are complete
    std::array<uint32_t, kLanes>& next = committed_[{unit, warp}];
    for (AsyncOperation& operation : pending_) {
        if (operation.unit != unit || operation.warp != warp || !operation.grouped) continue;
        for (uint32_t left = parties & operation.parties & ~operation.missing; left; left &= left - 1) {
            const size_t party = static_cast<size_t>(__builtin_ctz(left));
            if (operation.group[party] == kUncommitted) operation.group[party] = next[party];
        }
    }
    for (uint32_t left = parties; left; left &= left - 1) ++next[static_cast<size_t>(__builtin_ctz(left))];
}

uint32_t AsyncUnits::committed(Unit unit, uint32_t warp, uint32_t party) const {
    const auto it = committed_.find({unit, warp});
    return it == committed_.end() ? 0 : it->second[party];
}

uint32_t AsyncUnits::awaited(const AsyncOperation& operation, const GroupWait& wait) const {
    if (operation.unit != wait.unit || operation.warp != wait.warp || !operation.grouped) return 0;
    if (wait.reads_only && operation.was_read) return 0;
    uint32_t found = 0;
    for (uint32_t left = operation.parties & wait.parties; left; left &= left - 1) {
        const uint32_t party = static_cast<uint32_t>(__builtin_ctz(left));
        const uint32_t groups = committed(wait.unit, wait.warp, party);
        if (operation.group[party] != kUncommitted && uint64_t{operation.group[party]} + wait.keep < groups)
            found |= 1u << party;
    }
    return found;
}

bool AsyncUnits::reached(const GroupWait& wait) const { return !blocker_of(wait); }

const AsyncOperation* AsyncUnits::blocker_of(const GroupWait& wait) const {
    for (const AsyncOperation& operation : pending_)
        if (awaited(operation, wait)) return &operation;
    return nullptr;
}

// An mma is performed as a whole; of the others the lanes asked for.
void AsyncUnits::perform(Place at, uint32_t parties, bool reads_only) {
    AsyncOperation& operation = *at;
    const uint32_t some = operation.unit == Unit::mma ? operation.parties : parties;
    try {
        if (operation.read && !operation.was_read) {
            operation.read(operation, some);
            operation.was_read = true;
        }
        if (reads_only) return;
        operation.write(operation, some);
    } catch (GuestTrap& trap) {
        with_place(trap, operation);
    }
    operation.parties &= ~some;
    if (operation.parties == 0) pending_.erase(at);
}

bool AsyncUnits::help(const GroupWait& wait) {
    bool helped = false;
    for (Place at = pending_.begin(); at != pending_.end();) {
        const Place here = at++;
        const uint32_t parties = awaited(*here, wait);
        if (parties == 0) continue;
        if (here->missing != 0) return helped;  // and what follows it in the unit waits, too
        perform(here, parties, wait.reads_only);
        helped = true;
    }
    return helped;
}

void AsyncUnits::perform_arrival(Place arrival) {
    const uint32_t lanes = arrival->parties;
    for (Place at = pending_.begin(); at != arrival;) {
        const Place here = at++;
        const bool earlier = here->unit == Unit::copy && here->warp == arrival->warp && !here->arrival;
        if (earlier && (here->parties & lanes)) perform(here, here->parties & lanes, false);
    }
    perform(arrival, lanes, false);
}

bool AsyncUnits::help(uint32_t mbarrier) {
    for (Place at = pending_.begin(); at != pending_.end(); ++at) {
        if (at->mbarrier != mbarrier) continue;
        if (at->arrival) perform_arrival(at);
        else perform(at, at->parties, false);
        return true;
    }
    return false;
}

// Groups complete in the order of their commits; an arrival comes after the copies before it; a
// unit of matrix products works in order.
bool AsyncUnits::may_complete(Place at) const {
    if (at->missing != 0) return false;
    for (auto other = pending_.begin(); other != pending_.end(); ++other) {
        if (&*other == &*at) {
            if (at->unit == Unit::mma || at->arrival) return true;
            continue;
        }
        if (other->unit != at->unit || other->warp != at->warp || !(other->parties & at->parties)) continue;
        if (at->unit == Unit::mma) return false;
        if (at->arrival) {
            if (!other->arrival) return false;
            continue;
        }
        if (!at->grouped || !other->grouped) continue;
        for (uint32_t left = other->parties & at->parties; left; left &= left - 1) {
            const size_t party = static_cast<size_t>(__builtin_ctz(left));
            if (other->group[party] < at->group[party]) return false;
        }
    }
    return true;
}

bool AsyncUnits::step() {
    if (idle() || random_.below(4) != 0) return false;
    const Place at = std::next(pending_.begin(), static_cast<std::ptrdiff_t>(random_.below(pending_.size())));
    if (!may_complete(at)) return false;
    const bool reads_only = at->read && !at->was_read && random_.below(2) == 0;
    perform(at, at->parties, reads_only);
    return true;
}

void AsyncUnits::drain() {
    while (!idle()) {
        const Place at = pending_.begin();
        if (at->missing == 0) {
            perform(at, at->parties, false);
            continue;
        }
        GuestTrap trap(fmt::format("the block ended, but warps {} of the warpgroup never executed this wgmma",
                                   missing_warps(*at)));
        with_place(trap, *at);
    }
}

const AsyncOperation* AsyncUnits::writer_of(uint32_t offset) const {
    for (const AsyncOperation& operation : pending_)
        for (const auto& [first, bytes] : operation.destinations)
            if (offset - first < bytes) return &operation;
    return nullptr;
}

const AsyncOperation* AsyncUnits::signaller_of(uint32_t mbarrier) const {
    for (const AsyncOperation& operation : pending_)
        if (operation.mbarrier == mbarrier) return &operation;
    return nullptr;
}

std::string missing_warps(const AsyncOperation& operation) {
    std::string text;
    for (uint32_t left = operation.missing; left; left &= left - 1)
        text += fmt::format("{}{}", text.empty() ? "" : ", ", operation.warp % kWarpsOfBlock + static_cast<uint32_t>(__builtin_ctz(left)));
    return text;
}

}  // namespace ww::machine

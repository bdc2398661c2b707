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

AsyncUnits::AsyncUnits(Cluster& cluster, uint64_t seed)
    : cluster_(cluster), policy_(cluster.grid.async), sink_(cluster.grid.sink), random_(seed) {}

AsyncOperation* AsyncUnits::issue(AsyncOperation operation, const Warp& by) {
    operation.number = ++issued_;
    operation.group.fill(kUncommitted);
    if (sink_) sink_->issued(by, operation);
    if (eager() && operation.missing == 0) {
        if (operation.read) operation.read(operation, operation.parties);
        operation.write(operation, operation.parties);
        if (sink_) sink_->performed(cluster_, operation);
        return nullptr;
    }
    make_room();
    if (!eager())
        for (const auto& [offset, bytes, parties] : operation.destinations)
            std::memset(cluster_.blocks[offset >> kRankShift]->shared.valid + (offset & ((1u << kRankShift) - 1)), 0, bytes);
    Entry& entry = pending_[operation.number];
    static_cast<AsyncOperation&>(entry) = std::move(operation);
    add(entry);
    return &entry;
}

void AsyncUnits::add(Entry& entry) {
    entry.in_all = all_.size();
    all_.push_back(&entry);
    if (entry.mbarrier) {
        Row& row = signals_[*entry.mbarrier];
        entry.in_signals = row.insert(row.end(), &entry);
    }
    if (!entry.grouped) return;
    Queue& queue = queues_[{entry.unit, entry.warp}];
    entry.queue = &queue;
    entry.in_queue = queue.pending.insert(queue.pending.end(), &entry);
    entry.in_uncommitted = queue.uncommitted.insert(queue.uncommitted.end(), &entry);
    entry.is_uncommitted = true;
    if (entry.unit == Unit::bulk) {
        entry.in_unread = queue.unread.insert(queue.unread.end(), &entry);
        entry.is_unread = true;
    }
    for (Row::iterator& next : queue.next)
        if (next == queue.pending.end()) next = entry.in_queue;
}

void AsyncUnits::was_read(Entry& entry) {
    entry.was_read = true;
    held_bytes_ += entry.data.size();
    if (entry.is_unread) entry.queue->unread.erase(entry.in_unread);
    entry.is_unread = false;
}

void AsyncUnits::remove(Entry& entry) {
    all_[entry.in_all] = all_.back();
    all_[entry.in_all]->in_all = entry.in_all;
    all_.pop_back();
    if (entry.was_read) held_bytes_ -= entry.data.size();
    if (entry.mbarrier) {
        const auto row = signals_.find(*entry.mbarrier);
        row->second.erase(entry.in_signals);
        if (row->second.empty()) signals_.erase(row);
    }
    if (entry.queue) {
        for (Row::iterator& next : entry.queue->next)
            if (next == entry.in_queue) ++next;
        entry.queue->pending.erase(entry.in_queue);
        if (entry.is_uncommitted) entry.queue->uncommitted.erase(entry.in_uncommitted);
        if (entry.is_unread) entry.queue->unread.erase(entry.in_unread);
    }
    pending_.erase(entry.number);
}

// Completing earlier than anybody asks for it is always allowed.
void AsyncUnits::make_room() {
    while (held_bytes_ > kMostHeldBytes && complete_oldest()) {}
    while (pending_.size() >= kMostPending)
        if (!complete_oldest())
            throw GuestTrap(fmt::format("{} wgmma are in flight that some warps of their warpgroups have not executed", pending_.size()));
}

const AsyncUnits::Queue* AsyncUnits::queue_of(Unit unit, uint32_t warp) const {
    const auto it = queues_.find({unit, warp});
    return it == queues_.end() ? nullptr : &it->second;
}

AsyncOperation* AsyncUnits::joinable(uint32_t warpgroup, uint32_t party) {
    const Queue* queue = queue_of(Unit::mma, warpgroup);
    if (!queue || queue->next[party] == queue->pending.end()) return nullptr;
    return *queue->next[party];
}

void AsyncUnits::joined(AsyncOperation& operation) {
    Entry& entry = static_cast<Entry&>(operation);
    for (uint32_t party = 0; party < kWarpgroup; ++party) {
        Row::iterator& next = entry.queue->next[party];
        if (next == entry.in_queue && !(entry.missing >> party & 1)) ++next;
    }
    if (eager() && entry.missing == 0) perform(entry, entry.parties, false);
}

void AsyncUnits::commit(Unit unit, uint32_t warp, uint32_t parties) {
    const auto it = queues_.find({unit, warp});
    if (it == queues_.end() || it->second.pending.empty()) return;  // empty groups are complete
    Queue& queue = it->second;
    for (Row::iterator at = queue.uncommitted.begin(); at != queue.uncommitted.end();) {
        Entry& entry = **at++;
        uint32_t uncommitted = 0;
        for (uint32_t left = entry.parties; left; left &= left - 1) {
            const size_t party = static_cast<size_t>(__builtin_ctz(left));
            const uint32_t bit = left & -left;
            if (entry.group[party] == kUncommitted && (parties & ~entry.missing & bit)) entry.group[party] = queue.committed[party];
            if (entry.group[party] == kUncommitted) uncommitted |= bit;
        }
        if (uncommitted) continue;
        queue.uncommitted.erase(entry.in_uncommitted);
        entry.is_uncommitted = false;
    }
    for (uint32_t left = parties; left; left &= left - 1) ++queue.committed[static_cast<size_t>(__builtin_ctz(left))];
}

template <class F>
void AsyncUnits::each_awaited(const GroupWait& wait, F&& f) const {
    const Queue* queue = queue_of(wait.unit, wait.warp);
    if (!queue) return;
    const Row& row = wait.reads_only ? queue->unread : queue->pending;
    uint32_t undecided = wait.parties;
    for (Row::const_iterator at = row.begin(); at != row.end() && undecided;) {
        Entry& entry = **at++;
        uint32_t awaited = 0;
        for (uint32_t left = entry.parties & undecided; left; left &= left - 1) {
            const size_t party = static_cast<size_t>(__builtin_ctz(left));
            const uint32_t bit = left & -left;
            // What follows for this party belongs to the same group or a later one.
            if (entry.group[party] != kUncommitted && uint64_t{entry.group[party]} + wait.keep < queue->committed[party])
                awaited |= bit;
            else
                undecided &= ~bit;
        }
        if (awaited && !f(entry, awaited)) return;
    }
}

bool AsyncUnits::reached(const GroupWait& wait) const { return !blocker_of(wait); }

const AsyncOperation* AsyncUnits::blocker_of(const GroupWait& wait) const {
    const AsyncOperation* found = nullptr;
    each_awaited(wait, [&](const Entry& entry, uint32_t) {
        found = &entry;
        return false;
    });
    return found;
}

std::vector<const AsyncOperation*> AsyncUnits::awaited(const GroupWait& wait) const {
    std::vector<const AsyncOperation*> found;
    each_awaited(wait, [&](const Entry& entry, uint32_t) {
        found.push_back(&entry);
        return true;
    });
    return found;
}

// An mma is performed as a whole; of the others the lanes asked for.
void AsyncUnits::perform(Entry& entry, uint32_t parties, bool reads_only) {
    const uint32_t some = entry.unit == Unit::mma ? entry.parties : parties;
    try {
        if (entry.read && !entry.was_read) {
            entry.read(entry, some);
            was_read(entry);
            if (reads_only) return;
        }
        entry.write(entry, some);
    } catch (GuestTrap& trap) {
        with_place(trap, entry);
    }
    entry.parties &= ~some;
    if (entry.parties != 0) return;
    if (sink_) sink_->performed(cluster_, entry);
    remove(entry);
}

bool AsyncUnits::help(const GroupWait& wait) {
    bool helped = false;
    each_awaited(wait, [&](Entry& entry, uint32_t parties) {
        if (entry.missing != 0) return false;  // and what follows it in the unit waits, too
        perform(entry, parties, wait.reads_only);
        return helped = true;
    });
    return helped;
}

void AsyncUnits::perform_arrival(Entry& arrival) {
    const uint32_t lanes = arrival.parties;
    if (const Queue* queue = queue_of(Unit::copy, arrival.warp))
        for (Row::const_iterator at = queue->pending.begin(); at != queue->pending.end();) {
            Entry& copy = **at++;
            if (copy.number > arrival.number) break;
            if (copy.parties & lanes) perform(copy, copy.parties & lanes, false);
        }
    perform(arrival, lanes, false);
}

bool AsyncUnits::help(uint32_t mbarrier) {
    const auto row = signals_.find(mbarrier);
    if (row == signals_.end()) return false;
    Entry& entry = *row->second.front();
    if (entry.arrival) perform_arrival(entry);
    else perform(entry, entry.parties, false);
    return true;
}

// Groups complete in the order of their commits; an arrival comes after the copies before it; a
// unit of matrix products works in order.
bool AsyncUnits::may_complete(const Entry& entry) const {
    if (entry.missing != 0) return false;
    if (entry.unit == Unit::mma) return entry.queue->pending.front() == &entry;
    const Queue* queue = entry.arrival ? queue_of(Unit::copy, entry.warp) : entry.queue;
    if (!queue) return true;
    for (const Entry* earlier : queue->pending) {
        if (earlier->number >= entry.number) return true;
        const uint32_t both = earlier->parties & entry.parties;
        if (both && entry.arrival) return false;
        for (uint32_t left = both; left; left &= left - 1) {
            const size_t party = static_cast<size_t>(__builtin_ctz(left));
            if (earlier->group[party] < entry.group[party]) return false;
        }
    }
    return true;
}

bool AsyncUnits::complete_oldest() {
    for (auto& [number, entry] : pending_)
        if (may_complete(entry)) {
            perform(entry, entry.parties, false);
            return true;
        }
    return false;
}

bool AsyncUnits::step() {
    if (idle() || random_.below(4) != 0) return false;
    Entry& entry = *all_[random_.below(all_.size())];
    if (!may_complete(entry)) return false;
    const bool reads_only = entry.read && !entry.was_read && random_.below(2) == 0;
    perform(entry, entry.parties, reads_only);
    return true;
}

void AsyncUnits::drain() {
    while (!idle()) {
        Entry& entry = pending_.begin()->second;
        if (entry.missing == 0) {
            perform(entry, entry.parties, false);
            continue;
        }
        GuestTrap trap(fmt::format("the block ended, but warps {} of the warpgroup never executed this wgmma",
                                   missing_warps(entry)));
        with_place(trap, entry);
    }
}

const AsyncOperation* AsyncUnits::writer_of(uint32_t offset) const {
    for (const auto& [number, entry] : pending_)
        for (const auto& [first, bytes, parties] : entry.destinations)
            if (offset - first < bytes && (parties & entry.parties)) return &entry;
    return nullptr;
}

const AsyncOperation* AsyncUnits::signaller_of(uint32_t mbarrier) const {
    const auto row = signals_.find(mbarrier);
    return row == signals_.end() ? nullptr : row->second.front();
}

std::string missing_warps(const AsyncOperation& operation) {
    std::string text;
    for (uint32_t left = operation.missing; left; left &= left - 1)
        text += fmt::format("{}{}", text.empty() ? "" : ", ", operation.warp % kWarpsOfBlock + static_cast<uint32_t>(__builtin_ctz(left)));
    return text;
}

}  // namespace ww::machine

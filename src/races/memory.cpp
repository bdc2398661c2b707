// SPDX-License-Identifier: Apache-2.0
// Accesses to memory against those before them.
#include <algorithm>

#include "races/checker.hpp"

namespace ww::races {

using machine::MemoryEvent;
using machine::Space;

namespace {

constexpr uint32_t kOffsetMask = (1u << machine::kRankShift) - 1;

bool scope_includes(machine::Scope scope, const Side& a, const Side& b) {
    if (scope == machine::Scope::cta) return a.cluster == b.cluster && a.block == b.block;
    return scope != machine::Scope::cluster || a.cluster == b.cluster;
}

// All lanes, one behind the other.
bool is_row(const MemoryEvent& event) {
    if (event.lanes != machine::kAllLanes || event.pieces != 0) return false;
    uint64_t unlike = 0;
    for (uint64_t i = 0; i < kLanes; ++i) unlike |= event.address[i] ^ (event.address[0] + i * event.bytes);
    return unlike == 0;
}

}  // namespace

void Checker::memory(const MemoryEvent& event) {
    if (event.agent == machine::Agent::thread) by_threads(event);
    else by_operation(event);
}

Shadow* Checker::shadow_of(ClusterState& cluster, const machine::Warp& warp, uint64_t& address) {
    const Space space = machine::space_of(address);
    if (space == Space::global) return &global_;
    if (space != Space::shared) return nullptr;
    const uint64_t named = (address - machine::kSharedWindow) >> machine::kRankShift;
    address &= kOffsetMask;
    return &cluster.blocks[named ? named - 1 : warp.block->rank].shared;
}

void Checker::by_threads(const MemoryEvent& event) {
    const Space first = machine::space_of(event.address[__builtin_ctz(event.lanes)]);
    if (first != Space::global && first != Space::shared) return;
    ClusterState& cluster = cluster_of(event.warp);
    WarpState& warp = cluster.warp(event.warp);
    const machine::Ordering ordering = event.inst.ordering;
    const bool is_strong = event.access == machine::Access::atomic || ordering.semantics != machine::Semantics::weak;
    const Clock* clock = warp.groups.front().clock.get();
    Access access{.clocks = &clock, .thread = &warp, .cluster = &cluster, .warp = &event.warp};
    access.read = event.access != machine::Access::write;
    access.write = event.access != machine::Access::read;
    access.record = {.epoch = warp.now(), .actor = warp.actor, .what = event.inst.index & Record::kInstMask};
    if (access.write) access.record.what |= Record::kWrite;
    if (event.access == machine::Access::atomic) access.record.what |= Record::kAtomic;
    if (is_strong) access.record.what |= Record::kStrong | static_cast<uint32_t>(ordering.scope) << Record::kScopeShift;
    const bool each_its_own = is_strong || warp.groups.size() > 1;
    if (!each_its_own && is_row(event)) {
        uint64_t address = event.address[0];
        access.shadow = shadow_of(cluster, event.warp, address);
        const int shift = __builtin_ctz(event.bytes);
        return access.shadow->each(address, uint64_t{event.bytes} * kLanes, event.bytes, [&](Cell& cell, uint64_t at, uint64_t bytes) {
            access.record.lanes = LaneMask{1} << ((at - address) >> shift);
            touch(cell, access, at, bytes);
        });
    }
    for (LaneMask left = event.lanes; left;) {
        const int lane = __builtin_ctz(left);
        uint64_t address = event.address[lane];
        // Lanes that know the same and read the same place do so as one.
        LaneMask same = LaneMask{1} << lane;
        if (!access.write && !each_its_own)
            for (LaneMask rest = left & ~same; rest && event.address[__builtin_ctz(rest)] == address; rest &= rest - 1) same |= rest & -rest;
        left &= ~same;
        access.shadow = shadow_of(cluster, event.warp, address);
        if (!access.shadow) continue;
        if (access.shadow->ended.epoch) judge_after_end(access, address, event.bytes);
        if (is_strong) {
            access.record.epoch = warp.now();  // before it releases: who acquires that comes after the write itself, too
            strong(event, lane, warp);
        }
        if (each_its_own) {
            clock = warp.group_of(lane).clock.get();
            access.known = access.known_fenced = {};
        }
        access.record.lanes = same;
        access.shadow->each(address, event.bytes, 16, [&](Cell& cell, uint64_t at, uint64_t bytes) { touch(cell, access, at, bytes); });
    }
}

void Checker::by_operation(const MemoryEvent& event) {
    ClusterState& cluster = cluster_of(event.warp);
    const OperationState* found = cluster.operation(event.operation);
    if (!found) return;
    const OperationState& operation = *found;
    const int lane = __builtin_ctz(event.lanes);
    std::array<const Clock*, kLanes> clocks;
    Access access{.clocks = clocks.data(), .clock_count = 0, .cluster = &cluster, .warp = &event.warp, .operation = found};
    for (const auto& [lanes, clock] : operation.issued)
        if (operation.unit == machine::Unit::mma || (lanes >> lane & 1)) clocks[access.clock_count++] = clock.get();
    access.deeds = operation.deeds.get();
    access.lane = static_cast<uint32_t>(lane);
    access.read = event.access != machine::Access::write;
    access.write = event.access != machine::Access::read;
    access.record.what = event.inst.index & Record::kInstMask;
    if (operation.object) {
        access.record.epoch = operation.object->phase;
        access.record.actor = operation.object->actor;
    } else {
        access.record.epoch = operation.epoch;
        access.record.actor = access.write ? operation.writes : operation.reads;
    }
    const bool lanes_known = operation.unit != machine::Unit::mma && !operation.object;
    access.record.lanes = lanes_known ? LaneMask{1} << lane : operation.issuer;
    if (!lanes_known) access.record.what |= Record::kIssuer;
    if (event.agent != machine::Agent::copy && event.agent != machine::Agent::store) access.record.what |= Record::kAsyncProxy;
    if (access.write) access.record.what |= Record::kWrite;
    if (event.access == machine::Access::atomic)
        access.record.what |= Record::kAtomic | Record::kStrong | static_cast<uint32_t>(machine::Scope::gpu) << Record::kScopeShift;
    // st.async.release and red.async.release tell what their thread knew.
    if (event.agent == machine::Agent::store && event.inst.ordering.releases() && access.clock_count != 0) {
        access.record.what &= ~(3u << Record::kScopeShift);
        access.record.what |= Record::kStrong | static_cast<uint32_t>(event.inst.ordering.scope) << Record::kScopeShift;
        Location& location = locations_[location_of(event, event.address[lane], 0)];
        if (access.write && !access.read) location = {};
        auto known = std::make_shared<Clock>(*clocks[0]);
        if (operation.deeds) operation.deeds->tell(*known, LaneMask{1} << lane);
        publish(location, event.inst.ordering.scope, *event.warp.block, std::move(known));
    }
    machine::each_piece(event, [&](int, uint64_t address) {
        access.shadow = shadow_of(cluster, event.warp, address);
        if (!access.shadow) return;
        if (access.shadow->ended.epoch) judge_after_end(access, address, event.bytes);
        access.shadow->each(address, event.bytes, 16, [&](Cell& cell, uint64_t at, uint64_t bytes) { touch(cell, access, at, bytes); });
    });
}

bool Checker::covered_for_all(Layer layer, const Record& before, const Access& access, std::array<Access::Known, 2>& known) {
    for (const Access::Known& one : known)
        if (one.actor == before.actor && before.epoch <= one.epoch) return true;
    for (size_t i = 0; i < access.clock_count; ++i)
        if (!access.clocks[i]->covers(layer, before.actor, before.epoch, machine::kAllLanes)) return false;
    known[1] = known[0];
    known[0] = {before.actor, before.epoch};
    return access.clock_count != 0;
}

bool Checker::covered(Layer layer, const Record& before, const Access& access) const {
    LaneMask lanes = before.lanes_of_actor();
    if (access.deeds && (lanes >> access.lane & 1) && access.deeds->reach(layer, before.actor, access.lane) >= before.epoch) {
        lanes &= ~(LaneMask{1} << access.lane);
        if (lanes == 0) return true;
    }
    for (size_t i = 0; i < access.clock_count; ++i)
        if (!access.clocks[i]->covers(layer, before.actor, before.epoch, lanes)) return false;
    return access.clock_count != 0;
}

bool Checker::is_ordered(const Record& before, const Access& access) const {
    if (covered(Layer::order, before, access)) return true;
    const Record& record = access.record;
    if (before.actor == record.actor) {
        // A thread itself; the lanes of other threads must be known.
        if (access.thread) {
            const LaneMask others = before.lanes & ~record.lanes;
            return others == 0 || access.clocks[0]->covers(Layer::order, before.actor, before.epoch, others);
        }
        // One operation; where an mbarrier counts its phases, one instruction of it.
        return before.epoch == record.epoch && before.lanes == record.lanes && before.inst() == record.inst();
    }
    if (!access.thread || before.is(Record::kIssuer)) return false;
    // An operation that this thread has waited for itself, and told nobody of so far.
    for (size_t engine = 0; engine < kEngines; ++engine)
        if (access.thread->engines[engine] == before.actor && before.lanes == record.lanes)
            return access.thread->done[engine][static_cast<size_t>(__builtin_ctz(record.lanes))] >= before.epoch;
    return false;
}

void Checker::judge(const Record& before, const Access& access, uint64_t address, uint64_t bytes) {
    const Record& record = access.record;
    if (!(before.is(Record::kWrite) || access.write)) return;
    if (!is_ordered(before, access)) {
        if (before.is(Record::kStrong) && record.is(Record::kStrong)) {
            if (before.is(Record::kAsyncProxy) != record.is(Record::kAsyncProxy))
                return report(Rule::mixed_proxies, before, access, address, bytes);
            const Side a = side_of(before), b = side_of(record);
            const bool both = scope_includes(static_cast<machine::Scope>(before.scope()), a, b) &&
                              scope_includes(static_cast<machine::Scope>(record.scope()), a, b);
            if (!both) report(Rule::scope, before, access, address, bytes);
            return;
        }
        const bool together = access.thread && before.actor == record.actor && before.what == record.what && access.write &&
                              before.epoch == record.epoch;
        return report(together ? Rule::one_instruction : Rule::unordered, before, access, address, bytes);
    }
    if (!before.is(Record::kAsyncProxy) && record.is(Record::kAsyncProxy)) judge_proxies(before, access, address, bytes);
}

// They are ordered, and go through the generic proxy and then through the async proxy.
void Checker::judge_proxies(const Record& before, const Access& access, uint64_t address, uint64_t bytes) {
    const Layer fenced = fenced_at(access);
    const Layer refenced = fenced == Layer::fenced_global ? Layer::refenced_global : Layer::refenced_shared;
    // Nobody can put a fence behind an operation's write but who waits for it.
    if (covered(fenced, before, access) || (before.is(Record::kIssuer) && covered(refenced, before, access))) return;
    if (!before.is(Record::kWrite)) {
        if (covered(refenced, before, access)) return;
        const bool own = access.cluster->warp(*access.warp).actor == before.actor && access.operation && before.epoch > access.operation->crossed;
        return report(own ? Rule::async_write_after_own_read : Rule::async_write_after_read, before, access, address, bytes);
    }
    if (covered(refenced, before, access)) return report(Rule::fence_elsewhere, before, access, address, bytes);
    report(access.read ? Rule::no_proxy_fence : Rule::async_overwrite, before, access, address, bytes);
}

// is_ordered() without its rarer cases.
bool Checker::is_known(const Record& before, Access& access) {
    if (before.epoch == 0) return true;
    const LaneMask lanes = access.record.lanes;
    if (access.thread && before.actor == access.record.actor && before.lanes == lanes && (lanes & (lanes - 1)) == 0) return true;
    return covered_for_all(Layer::order, before, access, access.known);
}

// A read: every write before is known, and a read of the same actor before, if there is one, is
// superseded, since whoever learns of this one learns of that one too.
bool Checker::read_quickly(Cell& cell, Access& access) {
    constexpr uint32_t kAlike = Record::kStrong | Record::kAsyncProxy | Record::kIssuer;
    const Record& record = access.record;
    Record* place = cell.other.epoch == 0 ? &cell.other : nullptr;
    const auto passes = [&](Record& old) {
        if (old.is(Record::kWrite)) return !record.is(Record::kAsyncProxy) && is_known(old, access);
        if (place || old.actor != record.actor || ((old.what ^ record.what) & kAlike)) return true;
        const bool same_lanes = access.thread || !record.is(Record::kIssuer) ? (old.lanes & ~record.lanes) == 0 : true;
        if (old.is_again(record) || (same_lanes && old.epoch <= record.epoch)) place = &old;
        return true;
    };
    if (cell.other.epoch && !passes(cell.other)) return false;
    if (cell.more)
        for (Record& old : access.shadow->list(cell.more))
            if (!passes(old)) return false;
    if (!place) return false;
    const LaneMask lanes = place->is_again(record) ? place->lanes : 0;
    *place = record;
    place->lanes |= lanes;
    return true;
}

bool Checker::touch_quickly(Cell& cell, Access& access) {
    const Record& record = access.record;
    if (!is_known(cell.write, access)) return false;
    const bool crosses = record.is(Record::kAsyncProxy) && cell.write.epoch && !cell.write.is(Record::kAsyncProxy);
    if (crosses && !covered_for_all(fenced_at(access), cell.write, access, access.known_fenced)) return false;
    if (!access.write) return read_quickly(cell, access);
    if (record.is(Record::kStrong) || cell.more || !is_known(cell.other, access)) return false;
    if (record.is(Record::kAsyncProxy) && cell.other.epoch && !cell.other.is(Record::kAsyncProxy)) return false;
    cell.write = record;
    cell.other = {};
    return true;
}

// A weak write replaces what it must come after. Reads and strong writes stay beside each other.
void Checker::touch(Cell& cell, Access& access, uint64_t address, uint64_t bytes) {
    if (touch_quickly(cell, access)) return;
    const LaneMask lanes = access.record.lanes;
    for (LaneMask left = access.thread ? lanes : 0; left & (left - 1); left &= left - 1) {
        access.record.lanes = left & -left;
        touch_slowly(cell, access, address, bytes);
    }
    if (access.thread) access.record.lanes = LaneMask{1} << (31 - __builtin_clz(lanes));
    touch_slowly(cell, access, address, bytes);
    access.record.lanes = lanes;
}

void Checker::touch_slowly(Cell& cell, Access& access, uint64_t address, uint64_t bytes) {
    if (cell.write.epoch) judge(cell.write, access, address, bytes);
    const bool weak_write = access.write && !access.record.is(Record::kStrong);
    if (cell.other.epoch) judge(cell.other, access, address, bytes);
    if (cell.more)
        for (const Record& record : access.shadow->list(cell.more)) judge(record, access, address, bytes);
    if (weak_write) {
        cell.write = access.record;
        access.shadow->clear(cell);
        return;
    }
    keep(cell, access);
}

void Checker::keep(Cell& cell, const Access& access) {
    const Record& record = access.record;
    const auto merged = [&](Record& old) {
        if (old.epoch == 0) {
            old = record;
            return true;
        }
        if (old.is_again(record)) {
            old.lanes |= record.lanes;
            return true;
        }
        // Whoever comes after this one comes after the old one, too.
        constexpr uint32_t kAlike = Record::kWrite | Record::kAsyncProxy | Record::kStrong;
        const bool as_much = (record.what & kAlike) == (old.what & kAlike);
        if (!as_much || !is_ordered(old, access)) return false;
        old = record;
        return true;
    };
    if (merged(cell.other)) return;
    if (cell.more)
        for (Record& old : access.shadow->list(cell.more))
            if (merged(old)) return;
    access.shadow->add(cell, record);
}

}  // namespace ww::races

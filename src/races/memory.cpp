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

}  // namespace

void Checker::memory(const MemoryEvent& event) {
    ++events_;
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
    Access access{.clocks = &clock, .thread = &warp, .cluster = &cluster, .warp = &event.warp, .serial = events_};
    access.read = event.access != machine::Access::write;
    access.write = event.access != machine::Access::read;
    access.record = {.epoch = warp.now(), .actor = warp.actor, .what = event.inst.index & Record::kInstMask};
    if (access.write) access.record.what |= Record::kWrite;
    if (event.access == machine::Access::atomic) access.record.what |= Record::kAtomic;
    if (is_strong) access.record.what |= Record::kStrong | static_cast<uint32_t>(ordering.scope) << Record::kScopeShift;
    for (LaneMask left = event.lanes; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        uint64_t address = event.address[lane];
        Shadow* shadow = shadow_of(cluster, event.warp, address);
        if (!shadow) continue;
        if (is_strong) {
            strong(event, lane, warp);
            access.record.epoch = warp.now();
        }
        if (is_strong || warp.groups.size() > 1) clock = warp.group_of(lane).clock.get();
        access.record.lanes = LaneMask{1} << lane;
        access.shadow = shadow;
        shadow->each(address, event.bytes, [&](Cell& cell, uint64_t at, uint64_t bytes) { touch(cell, access, at, bytes); });
    }
}

void Checker::by_operation(const MemoryEvent& event) {
    ClusterState& cluster = cluster_of(event.warp);
    const auto found = cluster.operations.find(event.operation);
    if (found == cluster.operations.end()) return;
    const OperationState& operation = found->second;
    const int lane = __builtin_ctz(event.lanes);
    std::array<const Clock*, kLanes> clocks{};
    Access access{.clocks = clocks.data(), .clock_count = 0, .cluster = &cluster, .warp = &event.warp, .serial = events_};
    for (const auto& [lanes, clock] : operation.issued)
        if (operation.unit == machine::Unit::mma || (lanes >> lane & 1)) clocks[access.clock_count++] = clock.get();
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
    if (operation.unit != machine::Unit::copy) access.record.what |= Record::kAsyncProxy;
    if (access.write) access.record.what |= Record::kWrite;
    if (event.access == machine::Access::atomic)
        access.record.what |= Record::kAtomic | Record::kStrong | static_cast<uint32_t>(machine::Scope::gpu) << Record::kScopeShift;
    uint64_t address = event.address[lane];
    access.shadow = shadow_of(cluster, event.warp, address);
    if (!access.shadow) return;
    access.shadow->each(address, event.bytes, [&](Cell& cell, uint64_t at, uint64_t bytes) { touch(cell, access, at, bytes); });
}

bool Checker::covered(Layer layer, const Record& before, const Access& access) const {
    for (size_t i = 0; i < access.clock_count; ++i)
        if (!access.clocks[i]->covers(layer, before.actor, before.epoch, before.lanes_of_actor())) return false;
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
    if (before.is(Record::kAsyncProxy) || !record.is(Record::kAsyncProxy)) return;
    if (!before.is(Record::kWrite)) {
        if (level_ == RaceLevel::pedantic) report(Rule::async_write_after_read, before, access, address, bytes);
        return;
    }
    if (covered(Layer::fenced, before, access)) return;
    if (!access.read) {
        if (level_ >= RaceLevel::strict) report(Rule::async_overwrite, before, access, address, bytes);
        return;
    }
    report(covered(Layer::refenced, before, access) ? Rule::fence_elsewhere : Rule::no_proxy_fence, before, access, address, bytes);
}

// A weak write replaces what it must come after. Reads and strong writes stay beside each other.
void Checker::touch(Cell& cell, const Access& access, uint64_t address, uint64_t bytes) {
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
        if (old.actor == record.actor && old.epoch == record.epoch && old.what == record.what && !old.is(Record::kIssuer)) {
            old.lanes |= record.lanes;
            return true;
        }
        // Whoever comes after this one comes after the old one, too.
        const bool as_much = (record.what & (Record::kWrite | Record::kAsyncProxy)) == (old.what & (Record::kWrite | Record::kAsyncProxy));
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

Side Checker::side_of(const Record& record) const {
    const Slot& slot = slots_[slot_of(record.actor)];
    const ActorInfo& info = slot.actors[number_of(record.actor)];
    const uint32_t key = record.is(Record::kIssuer) ? record.lanes >> 5 : info.warp_key;
    const int lane = record.is(Record::kIssuer) ? static_cast<int>(record.lanes & 31) : __builtin_ctz(record.lanes | 1u << 31);
    Side side{.by = info.object ? Side::By::bulk : info.by, .inst = record.inst(), .cluster = slot.cluster};
    const machine::Coordinates &dim = grid_->cluster_dim, &blocks = grid_->grid_dim, &threads = grid_->block_dim;
    const uint64_t across = blocks[0] / dim[0], down = blocks[1] / dim[1];
    const uint32_t rank = key / machine::kWarpsOfBlock, linear = key % machine::kWarpsOfBlock * kLanes + static_cast<uint32_t>(lane);
    side.block = {static_cast<uint32_t>(slot.cluster % across) * dim[0] + rank % dim[0],
                  static_cast<uint32_t>(slot.cluster / across % down) * dim[1] + rank / dim[0] % dim[1],
                  static_cast<uint32_t>(slot.cluster / across / down) * dim[2] + rank / dim[0] / dim[1]};
    side.thread = {linear % threads[0], linear / threads[0] % threads[1], linear / (threads[0] * threads[1])};
    side.warp = key % machine::kWarpsOfBlock;
    side.write = record.is(Record::kWrite);
    side.atomic = record.is(Record::kAtomic);
    side.strong = record.is(Record::kStrong);
    side.scope = static_cast<machine::Scope>(record.scope());
    return side;
}

void Checker::report(Rule rule, const Record& before, const Access& access, uint64_t address, uint64_t bytes) {
    if (level_of(rule) > level_) return;
    // Two accesses without an order are the same pair whichever came first.
    uint32_t one = before.inst(), two = access.record.inst();
    if (rule == Rule::unordered && one > two) std::swap(one, two);
    const auto [known, fresh] = known_.try_emplace({rule, one, two}, findings_.size());
    if (!fresh) {
        ++findings_[known->second].count;
        return;
    }
    // Of a record with several lanes, one that is not the thread itself.
    Record other = before;
    if (access.thread && before.actor == access.record.actor) other.lanes &= ~access.record.lanes;
    Finding finding{.rule = rule, .first = side_of(other), .second = side_of(access.record), .address = address, .bytes = bytes, .count = 1};
    for (size_t i = 0; i < access.clock_count; ++i)
        finding.known_to_some |= access.clocks[i]->covers(Layer::order, before.actor, before.epoch, before.lanes_of_actor());
    finding.space = access.shadow == &global_ ? Space::global : Space::shared;
    if (finding.space == Space::shared)
        for (size_t rank = 0; rank < access.cluster->blocks.size(); ++rank)
            if (&access.cluster->blocks[rank].shared == access.shadow) finding.owner = access.warp->block->cluster.blocks[rank]->id;
    findings_.push_back(std::move(finding));
}

}  // namespace ww::races

// SPDX-License-Identifier: Apache-2.0
// Asynchronous operations: what their issuers knew, and how threads learn that they are complete.
#include <algorithm>

#include "races/checker.hpp"

namespace ww::races {

using machine::AsyncOperation;
using machine::MbarrierEvent;
using machine::Unit;
using machine::Warp;

Actor Checker::engine_of(ClusterState& cluster, WarpState& warp, Engine engine) {
    Actor& actor = warp.engines[static_cast<size_t>(engine)];
    if (actor == 0) actor = new_actor(cluster, {.by = engine == Engine::copy ? Side::By::copy : Side::By::bulk, .warp_key = warp.warp_key});
    return actor;
}

ObjectState& Checker::object_of(ClusterState& cluster, uint32_t at) {
    ObjectState& object = cluster.objects[at];
    if (object.actor == 0) object.actor = new_actor(cluster, {.object = true});
    return object;
}

void Checker::issued(const Warp& warp, const AsyncOperation& operation) {
    ClusterState& cluster = cluster_of(warp);
    WarpState& state = cluster.warp(warp);
    cluster.issued = operation.number;
    OperationState& own = cluster.operations[operation.number];
    own.unit = operation.unit;
    own.epoch = static_cast<uint32_t>(operation.number);
    const int lane = operation.parties ? __builtin_ctz(operation.parties) : 0;
    own.crossed = state.crossed;
    own.issuer = operation.warp << 5 | (operation.unit == Unit::mma ? 0 : static_cast<uint32_t>(lane));
    if (operation.unit == Unit::mma) {
        GroupsState& groups = cluster.groups[{Unit::mma, operation.warp}];
        if (groups.mma == 0) groups.mma = new_actor(cluster, {.by = Side::By::mma, .warp_key = operation.warp});
        own.reads = own.writes = groups.mma;
        return;  // joined() says what the warps know
    }
    // Each lane issues its own part, and knows nothing of what the others just did.
    const bool alone = (operation.parties & (operation.parties - 1)) == 0;
    for (const WarpState::Group& group : state.groups)
        if (const LaneMask lanes = group.lanes & operation.parties)
            own.issued.emplace_back(lanes, alone ? std::make_shared<const Clock>(state.release(group, lanes)) : group.clock);
    if (!alone) own.deeds = std::make_shared<const OwnDeeds>(state);
    state.published = true;
    if (operation.unit == Unit::copy) {
        own.reads = own.writes = engine_of(cluster, state, Engine::copy);
    } else if (operation.mbarrier) {
        own.object = &object_of(cluster, *operation.mbarrier);
    } else {
        own.reads = engine_of(cluster, state, Engine::bulk_read);
        own.writes = engine_of(cluster, state, Engine::bulk_write);
    }
}

void Checker::joined(const Warp& warp, const AsyncOperation& operation) {
    ClusterState& cluster = cluster_of(warp);
    WarpState& state = cluster.warp(warp);
    const uint32_t party = warp.key - operation.warp;
    cluster.groups[{Unit::mma, operation.warp}].joined[party] = static_cast<uint32_t>(operation.number);
    hold_registers(state, static_cast<uint32_t>(operation.number));
    // The warp executes it together: what one of its lanes knows, it knows.
    cluster.operations[operation.number].issued.emplace_back(1u << party, std::make_shared<const Clock>(state.release(kAllLanes)));
}

void Checker::performed(const machine::Cluster& cluster, const AsyncOperation& operation) {
    ClusterState& state = cluster_of(cluster);
    state.operations.erase(operation.number);
    state.active = nullptr;
}

void Checker::committed(const Warp& warp, const machine::GroupWait& who) {
    ClusterState& cluster = cluster_of(warp);
    GroupsState& groups = cluster.groups[{who.unit, who.warp}];
    uint32_t last = static_cast<uint32_t>(cluster.issued);
    if (who.unit == Unit::mma) last = groups.joined[static_cast<size_t>(__builtin_ctz(who.parties))];
    groups.commits.push_back({who.parties, last});
    constexpr size_t kKept = 1024;  // no wait looks back further
    if (groups.commits.size() > kKept) groups.commits.pop_front();
}

// For each party: the operations up to the last one of the newest group that must be complete.
void Checker::waited(const Warp& warp, const machine::GroupWait& wait) {
    ClusterState& cluster = cluster_of(warp);
    const auto found = cluster.groups.find({wait.unit, wait.warp});
    if (found == cluster.groups.end()) return;
    WarpState& state = cluster.warp(warp);
    const GroupsState& groups = found->second;
    LaneMask left = wait.parties;
    std::array<uint32_t, kLanes> newer{};
    for (auto commit = groups.commits.rbegin(); commit != groups.commits.rend() && left; ++commit)
        for (LaneMask some = commit->parties & left; some; some &= some - 1) {
            const size_t party = static_cast<size_t>(__builtin_ctz(some));
            if (newer[party]++ < wait.keep) continue;
            left &= ~(1u << party);
            if (wait.unit == Unit::mma) {
                Clock complete;
                complete.raise(Layer::order, groups.mma, commit->last, kAllLanes);
                state.acquire(kAllLanes, complete);
                state.products_done = std::max(state.products_done, commit->last);
            } else if (wait.unit == Unit::copy) {
                state.done[static_cast<size_t>(Engine::copy)][party] = commit->last;
            } else {
                state.done[static_cast<size_t>(Engine::bulk_read)][party] = commit->last;
                if (!wait.reads_only) state.done[static_cast<size_t>(Engine::bulk_write)][party] = commit->last;
            }
        }
}

// The object itself is reached through the generic proxy by everybody, with strong accesses.
void Checker::touch_object(const MbarrierEvent& event, ClusterState& cluster, ObjectState& object) {
    WarpState& warp = cluster.warp(event.warp);
    const bool reads = event.kind == MbarrierEvent::Kind::wait;
    const Clock* clock = nullptr;
    Access access{.clocks = &clock, .cluster = &cluster, .warp = &event.warp, .read = true, .write = !reads};
    access.shadow = &cluster.blocks[event.object >> machine::kRankShift].shared;
    access.record = {.epoch = 0, .actor = warp.actor, .what = event.inst.index & Record::kInstMask};
    access.record.what |= Record::kStrong | Record::kAtomic | static_cast<uint32_t>(machine::Scope::cluster) << Record::kScopeShift;
    if (!reads) access.record.what |= Record::kWrite;
    const OperationState* operation = nullptr;
    if (event.agent == machine::Agent::thread) {
        access.thread = &warp;
        access.record.epoch = warp.now();
    } else {
        operation = cluster.operation(event.operation);
        if (!operation) return;
        access.record.actor = operation->object ? object.actor : operation->writes;
        access.record.epoch = operation->object ? object.phase : operation->epoch;
        if (operation->object) access.record.what |= Record::kIssuer;
    }
    for (LaneMask left = event.lanes; left; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        access.record.lanes = operation && operation->object ? operation->issuer : LaneMask{1} << lane;
        if (operation) {
            for (const auto& [lanes, issued] : operation->issued)
                if (lanes >> lane & 1) clock = issued.get();
            access.deeds = operation->deeds.get();
            access.lane = static_cast<uint32_t>(lane);
        } else {
            clock = warp.group_of(lane).clock.get();
        }
        if (!clock) continue;
        access.known = access.known_fenced = {};
        if (access.shadow->ended.epoch) judge_after_end(access, event.object & ((1u << machine::kRankShift) - 1), 8);
        access.shadow->each(event.object & ((1u << machine::kRankShift) - 1), 8, 8,
                            [&](Cell& cell, uint64_t at, uint64_t bytes) { touch(cell, access, at, bytes); });
    }
}

void Checker::mbarrier(const MbarrierEvent& event) {
    using Kind = MbarrierEvent::Kind;
    ClusterState& cluster = cluster_of(event.warp);
    WarpState& warp = cluster.warp(event.warp);
    ObjectState& object = object_of(cluster, event.object);
    if (event.kind == Kind::init || event.kind == Kind::inval) {
        object.arrived = {};
        object.completed = std::make_shared<const Clock>();
        object.phase += 2;  // no thread knows a phase of the new object
        return;
    }
    if (event.kind == Kind::ask) return;
    touch_object(event, cluster, object);
    const machine::Ordering ordering = event.inst.ordering;
    if (event.kind == Kind::arrive && event.agent == machine::Agent::thread) {
        if (event.warp.block->rank != event.object >> machine::kRankShift)
            object.remote = {event.inst.index, event.warp.key, event.lanes, ordering.scope};
        if (ordering.releases()) {
            object.arrived.join(warp.release(event.lanes));
        } else {
            for (const WarpState::Group& group : warp.groups)
                if ((group.lanes & event.lanes) && group.released[0]) object.arrived.join(*group.released[0]);
        }
    } else if (event.kind == Kind::arrive) {
        // It comes after the copies that its thread issued before, and after nothing else.
        object.arrived.raise(Layer::order, engine_of(cluster, warp, Engine::copy), static_cast<uint32_t>(event.operation), event.lanes);
    }
    if (event.completed) {
        auto known = std::make_shared<Clock>(*object.completed);
        known->join(object.arrived);
        known->raise(Layer::order, object.actor, object.phase, kAllLanes);
        object.completed = std::move(known);
        object.arrived = {};
        ++object.phase;
    }
    if (event.kind != Kind::wait) return;
    if (object.remote.lanes != 0) judge_scopes(event, object.remote);
    warp.cross(*object.completed);
    if (ordering.acquires()) warp.acquire(event.lanes, *object.completed);
    else warp.hear(event.lanes, object.completed, 0);
}

// Both scopes must include the other block.
void Checker::judge_scopes(const MbarrierEvent& event, const ObjectState::Remote& arrival) {
    if (level_ < level_of(Rule::mbarrier_scope)) return;
    if (arrival.scope != machine::Scope::cta && event.inst.ordering.scope != machine::Scope::cta) return;
    ClusterState& cluster = cluster_of(event.warp);
    const Clock* clock = nullptr;
    Access access{.clocks = &clock, .clock_count = 0, .thread = nullptr, .cluster = &cluster, .warp = &event.warp};
    access.shadow = &cluster.blocks[event.object >> machine::kRankShift].shared;
    const auto record = [&](uint32_t inst, const WarpState& warp, LaneMask lanes, machine::Scope scope) {
        return Record{.epoch = 1, .lanes = lanes, .actor = warp.actor,
                      .what = (inst & Record::kInstMask) | Record::kStrong | Record::kAtomic | static_cast<uint32_t>(scope) << Record::kScopeShift};
    };
    const WarpState& from = cluster.blocks[arrival.warp_key / machine::kWarpsOfBlock].warps[arrival.warp_key % machine::kWarpsOfBlock];
    access.record = record(event.inst.index, cluster.warp(event.warp), event.lanes, event.inst.ordering.scope);
    report(Rule::mbarrier_scope, record(arrival.inst, from, arrival.lanes, arrival.scope), access, event.object & ((1u << machine::kRankShift) - 1), 8);
}

}  // namespace ww::races

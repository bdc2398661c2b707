// SPDX-License-Identifier: Apache-2.0
// What orders threads: barriers of a warp, a block and a cluster, fences, releases and acquires.
#include <algorithm>
#include <utility>

#include "machine/fence.hpp"
#include "races/checker.hpp"

namespace ww::races {

using machine::Warp;

ClusterState& Checker::cluster_of(const machine::Cluster& cluster) {
    if (last_ && last_index_ == cluster.index) return *last_;
    grid_ = &cluster.grid;
    std::unique_ptr<ClusterState>& state = clusters_[cluster.index];
    if (!state) {
        state = std::make_unique<ClusterState>();
        WW_CHECK(slots_.size() < (1u << (32 - kActorBits)) - 1, "a launch of too many clusters for the race checker");
        // Actor 0 is nobody.
        if (slots_.empty()) slots_.push_back({.cluster = 0, .actors = {}});
        state->slot = static_cast<uint32_t>(slots_.size());
        slots_.push_back({.cluster = cluster.index, .actors = {}});
        for (const auto& block : cluster.blocks) {
            BlockState& own = state->blocks.emplace_back();
            own.warps.resize(block->warps.size());
            for (size_t i = 0; i < own.warps.size(); ++i) {
                own.warps[i].warp_key = block->warps[i].key;
                own.warps[i].actor = new_actor(*state, {.warp_key = block->warps[i].key});
            }
        }
    }
    last_ = state.get();
    last_index_ = cluster.index;
    return *state;
}

Actor Checker::new_actor(ClusterState& cluster, const ActorInfo& info) {
    WW_CHECK(cluster.actors < 1u << kActorBits, "a cluster uses too many mbarriers for the race checker");
    slots_[cluster.slot].actors.push_back(info);
    return cluster.slot << kActorBits | cluster.actors++;
}

void Checker::cluster_ended(const machine::Cluster& cluster) {
    clusters_.erase(cluster.index);
    last_ = nullptr;
}

void Checker::warp_sync(const Warp& warp, LaneMask lanes, LaneMask members) {
    WarpState& state = cluster_of(warp).warp(warp);
    if (state.sync_left != 0 && (lanes & ~state.sync_left) == 0) {
        state.sync_left &= ~lanes;
        return;
    }
    // Those who came before wait still: what they know is what they knew when they came.
    state.replace(members, std::make_shared<Clock>(state.release(members)));
    state.sync_left = members & ~lanes;
}

void Checker::exited(const Warp& warp, LaneMask lanes) {
    ClusterState& cluster = cluster_of(warp);
    WarpState& state = cluster.warp(warp);
    cluster.blocks[warp.block->rank].ended.join(state.release(lanes));
    // Who came to the cluster's barrier already tells this phase no more than the arrival did.
    const LaneMask came = warp.block->cluster.barrier.arrived_lanes(warp.key) & lanes;
    if (came) cluster.ended_behind.join(state.release(came));
    if (lanes & ~came) cluster.ended.join(state.release(lanes & ~came));
    const auto& warps = warp.block->warps;
    const bool last = std::all_of(warps.begin(), warps.end(), [](const Warp& each) { return each.alive() == 0; });
    if (last && cluster.blocks.size() > 1) judge_end(cluster, warp, lanes);
}

void Checker::barrier_arrive(const Warp& warp, uint32_t index, LaneMask lanes, bool waits) {
    ClusterState& cluster = cluster_of(warp);
    WarpState& state = cluster.warp(warp);
    BarrierState& barrier = cluster.blocks[warp.block->rank].barriers[index];
    barrier.arrived.join(state.release(lanes));
    if (waits) barrier.waiting.emplace_back(&state, lanes);
}

void Checker::barrier_complete(const machine::Block& block, uint32_t index, bool everybody) {
    BlockState& state = cluster_of(block.cluster).blocks[block.rank];
    BarrierState& barrier = state.barriers[index];
    if (everybody) barrier.arrived.join(state.ended);
    const auto known = std::make_shared<const Clock>(std::move(barrier.arrived));
    for (const auto& [warp, lanes] : barrier.waiting) {
        warp->cross(*known);
        warp->replace(lanes, known);
    }
    barrier.arrived = {};
    barrier.waiting.clear();
}

void Checker::cluster_arrive(const Warp& warp, LaneMask lanes, bool release) {
    ClusterState& cluster = cluster_of(warp);
    WarpState& state = cluster.warp(warp);
    if (release) {
        cluster.arrived.join(state.release(lanes));
        return;
    }
    for (const WarpState::Group& group : state.groups)
        if (const SharedClock& released = group.released[static_cast<size_t>(machine::Scope::cluster)]; (group.lanes & lanes) && released)
            cluster.arrived.join(*released);
}

void Checker::cluster_complete(const machine::Cluster& cluster) {
    ClusterState& state = cluster_of(cluster);
    state.arrived.join(state.ended);
    state.completed = std::make_shared<const Clock>(std::move(state.arrived));
    state.arrived = {};
    state.ended.join(std::exchange(state.ended_behind, {}));
}

void Checker::cluster_wait(const Warp& warp, LaneMask lanes) {
    ClusterState& cluster = cluster_of(warp);
    cluster.warp(warp).cross(*cluster.completed);
    cluster.warp(warp).acquire(lanes, *cluster.completed);
}

void Checker::fence(const Warp& warp, const machine::Inst& inst, machine::Fence kind, LaneMask lanes) {
    using machine::Fence;
    WarpState& state = cluster_of(warp).warp(warp);
    const FenceSpaces spaces{.shared = kind == Fence::proxy_async || kind == Fence::proxy_async_shared,
                             .global = kind == Fence::proxy_async || kind == Fence::proxy_async_global};
    const bool of_proxies = spaces.shared || spaces.global;
    if (of_proxies) state.fence(lanes, spaces);
    if (machine::is_sc_fence(inst)) order_sc(warp, state, lanes, inst.ordering.scope);
    const size_t scope = static_cast<size_t>(inst.ordering.scope);
    state.each_group(lanes, [&](WarpState::Group& group) {
        auto known = std::make_shared<Clock>(*group.clock);
        if (of_proxies) {
            known->refence(spaces);
            group.clock = std::move(known);
            return;
        }
        if (inst.ordering.acquires()) {
            for (size_t from = 0; from < group.heard.size() && from <= scope; ++from)
                if (group.heard[from]) known->join(*group.heard[from]);
            group.clock = known;
        }
        if (!inst.ordering.releases()) return;
        const auto released = std::make_shared<const Clock>(state.release(group, group.lanes));
        for (size_t to = 0; to <= scope; ++to) group.released[to] = released;
    });
}

// A fence.sc comes after those that ran before it, where both scopes include the other's thread: they have
// a block in common, or a cluster or the grid that both reach.
void Checker::order_sc(const Warp& warp, WarpState& state, LaneMask lanes, machine::Scope scope) {
    const std::array<uint64_t, 4> who = {warp.block->linear_id, warp.block->cluster.index, 0, 0};
    for (size_t reach = 0; reach <= static_cast<size_t>(scope); ++reach)
        if (const auto found = sc_.find({reach, who[reach]}); found != sc_.end()) state.acquire(lanes, *found->second);
    const Clock known = state.release(lanes);
    for (size_t reach = 0; reach <= static_cast<size_t>(scope); ++reach) {
        SharedClock& before = sc_[{reach, who[reach]}];
        auto both = before ? std::make_shared<Clock>(*before) : std::make_shared<Clock>();
        both->join(known);
        before = std::move(both);
    }
}

uint64_t Checker::location_of(const machine::MemoryEvent& event, uint64_t address, uint32_t slot) {
    if (machine::space_of(address) != machine::Space::shared) return address;
    const uint64_t named = (address - machine::kSharedWindow) >> machine::kRankShift;
    const uint64_t rank = named ? named - 1 : event.warp.block->rank;
    return (address & ((1u << machine::kRankShift) - 1)) | machine::kSharedWindow | rank << machine::kRankShift | uint64_t{slot} << 32;
}

void Checker::publish(Location& location, machine::Scope scope, const machine::Block& block, SharedClock clock) {
    const size_t at = static_cast<size_t>(scope);
    if (location.released[at]) {
        auto both = std::make_shared<Clock>(*location.released[at]);
        both->join(*clock);
        clock = std::move(both);
        if (location.block[at] != block.linear_id) location.block[at] = UINT64_MAX;
        if (location.cluster[at] != block.cluster.index) location.cluster[at] = UINT64_MAX;
    } else {
        location.block[at] = block.linear_id;
        location.cluster[at] = block.cluster.index;
    }
    location.released[at] = std::move(clock);
}

// What one lane's strong read learns.
void Checker::observe(const Location& location, const machine::Ordering& ordering, const machine::Block& block, LaneMask self, WarpState& warp) {
    using machine::Scope;
    for (size_t scope = 0; scope < location.released.size(); ++scope) {
        const SharedClock& released = location.released[scope];
        if (!released) continue;
        const bool same_block = location.block[scope] == block.linear_id, same_cluster = location.cluster[scope] == block.cluster.index;
        const auto reaches = [&](Scope of) { return of == Scope::cta ? same_block : of != Scope::cluster || same_cluster; };
        if (!reaches(static_cast<Scope>(scope)) || !reaches(ordering.scope)) continue;
        if (ordering.acquires()) warp.acquire(self, *released);
        else warp.hear(self, released, same_block ? 0 : same_cluster ? 1 : 2);
    }
}

// The synchronisation of one lane's strong access. A read-modify-write observes, unless it is a red,
// and publishes; a relaxed one passes earlier releases on.
void Checker::strong(const machine::MemoryEvent& event, int lane, WarpState& warp) {
    const machine::Ordering ordering = event.inst.ordering;
    const machine::Block& block = *event.warp.block;
    const uint64_t key = location_of(event, event.address[lane], slot_of(warp.actor));
    const bool reads = event.access != machine::Access::write, writes = event.access != machine::Access::read;
    const LaneMask self = LaneMask{1} << lane;
    if (reads && !ordering.blind)
        if (const auto found = locations_.find(key); found != locations_.end()) observe(found->second, ordering, block, self, warp);
    if (!writes) return;
    // Of this write, by scope: a fence reaches no further than its own scope.
    std::array<SharedClock, 4> publishes;
    const size_t widest = static_cast<size_t>(ordering.scope);
    if (ordering.releases()) publishes[widest] = std::make_shared<const Clock>(warp.release(self));
    else
        for (size_t scope = 0; scope <= widest; ++scope) publishes[scope] = warp.group_of(lane).released[scope];
    const bool any = std::any_of(publishes.begin(), publishes.end(), [](const SharedClock& clock) { return clock != nullptr; });
    if (!any && (reads || locations_.empty())) return;
    Location& location = locations_[key];
    if (!reads) location = {};
    for (size_t scope = 0; scope < publishes.size(); ++scope) {
        const bool more = publishes[scope] && (scope == widest || publishes[scope] != publishes[scope + 1]);
        if (more) publish(location, static_cast<machine::Scope>(scope), block, publishes[scope]);
    }
}

}  // namespace ww::races

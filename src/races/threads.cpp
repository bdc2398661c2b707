// SPDX-License-Identifier: Apache-2.0
// What orders threads: barriers of a warp, a block and a cluster, fences, releases and acquires.
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
    const Clock known = cluster.warp(warp).release(lanes);
    cluster.blocks[warp.block->rank].ended.join(known);
    cluster.ended.join(known);
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
    for (const auto& [warp, lanes] : barrier.waiting) warp->replace(lanes, known);
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
        if ((group.lanes & lanes) && group.released) cluster.arrived.join(*group.released);
}

void Checker::cluster_complete(const machine::Cluster& cluster) {
    ClusterState& state = cluster_of(cluster);
    state.arrived.join(state.ended);
    state.completed = std::make_shared<const Clock>(std::move(state.arrived));
    state.arrived = {};
}

void Checker::cluster_wait(const Warp& warp, LaneMask lanes) {
    ClusterState& cluster = cluster_of(warp);
    cluster.warp(warp).acquire(lanes, *cluster.completed);
}

void Checker::fence(const Warp& warp, const machine::Inst& inst, machine::Fence kind, LaneMask lanes) {
    WarpState& state = cluster_of(warp).warp(warp);
    if (kind == machine::Fence::proxy_async) state.fence(lanes);
    state.each_group(lanes, [&](WarpState::Group& group) {
        auto known = std::make_shared<Clock>(*group.clock);
        if (kind == machine::Fence::proxy_async) {
            known->refence();
            group.clock = std::move(known);
            return;
        }
        if (inst.ordering.acquires() && group.heard) {
            known->join(*group.heard);
            group.clock = known;
        }
        if (inst.ordering.releases()) group.released = std::make_shared<const Clock>(state.release(group, group.lanes));
    });
}

// The synchronisation of one lane's strong access. A read-modify-write observes and publishes.
void Checker::strong(const machine::MemoryEvent& event, int lane, WarpState& warp) {
    const machine::Ordering ordering = event.inst.ordering;
    const machine::Block& block = *event.warp.block;
    uint64_t key = event.address[lane];
    if (machine::space_of(key) == machine::Space::shared) {
        key &= (1u << machine::kRankShift) - 1;
        const uint64_t named = (event.address[lane] - machine::kSharedWindow) >> machine::kRankShift;
        key |= machine::kSharedWindow | (named ? named - 1 : block.rank) << machine::kRankShift | uint64_t{slot_of(warp.actor)} << 32;
    }
    const bool reads = event.access != machine::Access::write, writes = event.access != machine::Access::read;
    const LaneMask self = LaneMask{1} << lane;
    const uint64_t cluster = block.cluster.index;
    if (reads) {
        const auto found = locations_.find(key);
        if (found != locations_.end())
            for (size_t scope = 0; scope < 4; ++scope) {
                const SharedClock& released = found->second.released[scope];
                if (!released) continue;
                const bool same_block = found->second.block[scope] == block.linear_id;
                const bool same_cluster = found->second.cluster[scope] == cluster;
                const auto reaches = [&](machine::Scope of) {
                    return of == machine::Scope::cta ? same_block : of != machine::Scope::cluster || same_cluster;
                };
                if (!reaches(static_cast<machine::Scope>(scope)) || !reaches(ordering.scope)) continue;
                if (ordering.acquires()) {
                    warp.acquire(self, *released);
                } else {
                    warp.each_group(self, [&](WarpState::Group& group) {
                        auto heard = group.heard ? std::make_shared<Clock>(*group.heard) : std::make_shared<Clock>();
                        heard->join(*released);
                        group.heard = std::move(heard);
                    });
                }
            }
    }
    if (!writes) return;
    SharedClock publishes = ordering.releases() ? std::make_shared<const Clock>(warp.release(self)) : warp.group_of(lane).released;
    if (!publishes && locations_.empty()) return;
    if (!publishes && reads) return;  // a relaxed read-modify-write passes earlier releases on
    Location& location = locations_[key];
    if (!reads) location = {};
    if (!publishes) return;
    const size_t scope = static_cast<size_t>(ordering.scope);
    if (location.released[scope]) {
        auto both = std::make_shared<Clock>(*location.released[scope]);
        both->join(*publishes);
        publishes = std::move(both);
        if (location.block[scope] != block.linear_id) location.block[scope] = UINT64_MAX;
        if (location.cluster[scope] != cluster) location.cluster[scope] = UINT64_MAX;
    } else {
        location.block[scope] = block.linear_id;
        location.cluster[scope] = cluster;
    }
    location.released[scope] = std::move(publishes);
}

}  // namespace ww::races

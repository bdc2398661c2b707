// SPDX-License-Identifier: Apache-2.0
// Findings: who two accesses were by, and each pair of instructions once.
#include "races/checker.hpp"

namespace ww::races {

using machine::Space;

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
    side.end = record.is(Record::kEnd);
    side.scope = static_cast<machine::Scope>(record.scope());
    return side;
}

void Checker::report(Rule rule, const Record& before, const Access& access, uint64_t address, uint64_t bytes) {
    if (level_of(rule) > level_) return;
    // Two accesses without an order are the same pair whichever came first.
    uint32_t one = before.inst(), two = access.record.inst();
    if ((rule == Rule::unordered || rule == Rule::block_ended) && one > two) std::swap(one, two);
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

void Checker::judge_end(ClusterState& cluster, const machine::Warp& warp, LaneMask lanes) {
    BlockState& block = cluster.blocks[warp.block->rank];
    const Clock* clock = &block.ended;
    Access access{.clocks = &clock, .cluster = &cluster, .warp = &warp, .shadow = &block.shared};
    access.record = {.epoch = cluster.warp(warp).epoch, .lanes = lanes & -lanes, .actor = cluster.warp(warp).actor,
                     .what = (warp.pc & Record::kInstMask) | Record::kEnd};
    block.shared.each_record([&](const Record& before, uint64_t address, uint64_t bytes) {
        const uint32_t key = before.is(Record::kIssuer) ? before.lanes >> 5 : slots_[slot_of(before.actor)].actors[number_of(before.actor)].warp_key;
        if (key / machine::kWarpsOfBlock != warp.block->rank && !covered(Layer::order, before, access))
            report(Rule::block_ended, before, access, address, bytes);
    });
    block.shared.ended = access.record;
}

// What the block itself has in flight may end after it.
void Checker::judge_after_end(const Access& access, uint64_t address, uint64_t bytes) {
    if (&access.cluster->blocks[access.warp->block->rank].shared != access.shadow)
        report(Rule::block_ended, access.shadow->ended, access, address, bytes);
}

}  // namespace ww::races

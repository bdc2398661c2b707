// SPDX-License-Identifier: Apache-2.0
#include "machine/block.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "machine/program.hpp"

namespace ww::machine {

Coordinates first_block(const Grid& grid, uint64_t cluster) {
    const Coordinates& dim = grid.cluster_dim;
    const uint64_t across = grid.grid_dim[0] / dim[0], down = grid.grid_dim[1] / dim[1];
    return {static_cast<uint32_t>(cluster % across) * dim[0], static_cast<uint32_t>(cluster / across % down) * dim[1],
            static_cast<uint32_t>(cluster / across / down) * dim[2]};
}

Cluster::Cluster(Grid& grid_in, uint64_t index_in)
    : grid(grid_in), index(index_in), async(*this, Random(grid_in.async.seed ^ index_in).next()) {
    const Coordinates& dim = grid.cluster_dim;
    const Coordinates first = first_block(grid, index);
    for (uint32_t rank = 0; rank < dim[0] * dim[1] * dim[2]; ++rank) {
        const Coordinates id{first[0] + rank % dim[0], first[1] + rank / dim[0] % dim[1], first[2] + rank / dim[0] / dim[1]};
        const uint64_t linear = id[0] + uint64_t{grid.grid_dim[0]} * (id[1] + uint64_t{grid.grid_dim[1]} * id[2]);
        blocks.push_back(std::make_unique<Block>(*this, rank, id, linear));
    }
}

Block::Block(Cluster& cluster_in, uint32_t rank_in, Coordinates id_in, uint64_t linear_id_in)
    : cluster(cluster_in), grid(cluster_in.grid), rank(rank_in), id(id_in), linear_id(linear_id_in) {
    const uint64_t threads = grid.lanes_of_block();
    const uint64_t warp_count = (threads + kLanes - 1) / kLanes;
    const uint32_t shared_bytes = grid.static_shared_bytes + grid.dynamic_shared_bytes;
    shared_data_.resize(shared_bytes);
    shared_valid_.resize(shared_bytes);
    shared = Region{.size = shared_bytes,
                    .data = shared_data_.data(),
                    .valid = shared_valid_.data(),
                    .name = "shared memory of the block"};
    const uint64_t local = uint64_t{grid.local_bytes} * kLanes;
    local_.resize(2 * local * warp_count);
    warps.resize(warp_count);
    for (uint64_t w = 0; w < warp_count; ++w) {
        Warp& warp = warps[w];
        warp.block = this;
        warp.grid = &grid;
        warp.sink = grid.sink;
        warp.id = static_cast<uint32_t>(w);
        warp.key = rank * kWarpsOfBlock + warp.id;
        warp.local_bytes = grid.local_bytes;
        warp.local_data = local_.data() + 2 * local * w;
        warp.local_valid = warp.local_data + local;
        warp.constants = grid.program->constants.data();
        for (int lane = 0; lane < kLanes; ++lane) {
            if (w * kLanes + static_cast<uint64_t>(lane) >= threads) warp.exited |= LaneMask{1} << lane;
            const Coordinates thread = thread_of(warp.id, lane);
            for (size_t axis = 0; axis < 3; ++axis) warp.tid[axis][static_cast<size_t>(lane)] = thread[axis];
        }
        warp.frame = std::make_shared<Frame>();
        warp.frame->registers.resize(grid.program->functions[0].register_bytes);
        warp.registers = warp.frame->registers.data();
        warp.pc = grid.program->functions[0].entry_pc;
        warp.mask = warp.alive();
    }
}

Coordinates Block::thread_of(uint32_t warp, int lane) const {
    const uint32_t linear = warp * kLanes + static_cast<uint32_t>(lane);
    const uint32_t x = grid.block_dim[0], y = grid.block_dim[1];
    return {linear % x, linear / x % y, linear / (x * y)};
}

// A warp counts as 32 threads once all of its live lanes came, as the hardware counts.
uint32_t Barrier::arrived(const Block& block) const {
    uint32_t threads = 0;
    for (size_t w = 0; w < lanes_.size(); ++w) {
        threads += extra_[w];
        if (lanes_[w] == 0) continue;
        const bool whole = (lanes_[w] | block.warps[w].exited) == kAllLanes;
        threads += whole ? kLanes : static_cast<uint32_t>(__builtin_popcount(lanes_[w]));
    }
    return threads;
}

uint32_t Barrier::pending(const Block& block) const {
    uint32_t needed = expected_;
    if (needed == 0)
        for (size_t w = 0; w < block.warps.size(); ++w) {
            const LaneMask came = lanes_.empty() ? 0 : lanes_[w];
            if (came || block.warps[w].alive()) needed += kLanes;
        }
    const uint32_t here = arrived(block);
    return needed > here ? needed - here : 0;
}

void Barrier::complete(Block& block) {
    last = {.count = votes_, .all = votes_ == arrived_threads_, .any = votes_ > 0};
    const auto waits = [&](const Wait& wait) {
        return wait.kind == Wait::Kind::barrier && &block.barriers[wait.barrier] == this &&
               wait.generation == generation_;
    };
    for (Warp& warp : block.warps) {
        if (waits(warp.wait)) warp.outcome = last;
        for (Split& split : warp.parked)
            if (waits(split.wait)) split.outcome = last;
    }
    if (block.grid.sink)
        block.grid.sink->barrier_complete(block, static_cast<uint32_t>(this - block.barriers.data()), expected_ == 0);
    ++generation_;
    std::fill(lanes_.begin(), lanes_.end(), 0);
    std::fill(extra_.begin(), extra_.end(), 0);
    expected_ = arrived_threads_ = votes_ = 0;
}

Barrier::Arrival Barrier::arrive(Warp& warp, LaneMask lanes, uint32_t expected, LaneMask vote_true, Block& block) {
    lanes_.resize(block.warps.size());
    extra_.resize(block.warps.size());
    if (expected % kLanes != 0)
        throw GuestTrap(fmt::format("the thread count of a barrier must be a multiple of {}, not {}", kLanes, expected));
    if (in_use() && expected != expected_)
        throw GuestTrap(fmt::format("threads use one barrier with different thread counts: {} and {}", expected_, expected));
    expected_ = expected;
    LaneMask& came = lanes_[warp.id];
    if (came & lanes) {  // a second arrival of this warp in one phase, as bar.arrive may do
        const LaneMask again = came & lanes;
        const bool whole = (again | warp.exited) == kAllLanes;
        extra_[warp.id] += whole ? kLanes : static_cast<uint32_t>(__builtin_popcount(again));
    }
    came |= lanes;
    arrived_threads_ += static_cast<uint32_t>(__builtin_popcount(lanes));
    votes_ += static_cast<uint32_t>(__builtin_popcount(lanes & vote_true));
    Arrival arrival{.generation = generation_};
    if (expected_ != 0 && arrived(block) > expected_)
        throw GuestTrap(fmt::format("more arrivals at a barrier than its thread count of {}", expected_));
    if (pending(block) == 0) {
        complete(block);
        arrival.completed = true;
    }
    return arrival;
}

bool Barrier::recheck(Block& block) {
    if (!in_use() || pending(block) != 0) return false;
    complete(block);
    return true;
}

uint32_t ClusterBarrier::pending(const Cluster& cluster) const {
    uint32_t missing = 0;
    for (const auto& block : cluster.blocks)
        for (const Warp& warp : block->warps) {
            const auto it = warps_.find(warp.key);
            const LaneMask arrived = it == warps_.end() ? 0 : it->second.arrived;
            missing += static_cast<uint32_t>(__builtin_popcount(warp.alive() & ~arrived));
        }
    return missing;
}

void ClusterBarrier::recheck(const Cluster& cluster) {
    bool any = false;
    for (const auto& [key, lanes] : warps_) any |= lanes.arrived != 0;
    if (!any || pending(cluster) != 0) return;
    for (auto& [key, lanes] : warps_) lanes.arrived = 0;
    ++generation_;
    if (cluster.grid.sink) cluster.grid.sink->cluster_complete(cluster);
}

void ClusterBarrier::arrive(const Warp& warp, LaneMask lanes, const Cluster& cluster) {
    Lanes& own = warps_[warp.key];
    if (const LaneMask again = own.owed & lanes)
        throw GuestTrap("barrier.cluster.arrive twice, without barrier.cluster.wait between", __builtin_ctz(again));
    own.arrived |= lanes;
    own.owed |= lanes;
    recheck(cluster);
}

LaneMask ClusterBarrier::wait(const Warp& warp, LaneMask lanes) {
    Lanes& own = warps_[warp.key];
    if (const LaneMask never = lanes & ~own.owed)
        throw GuestTrap("barrier.cluster.wait without barrier.cluster.arrive before it", __builtin_ctz(never));
    const LaneMask over = lanes & ~own.arrived;
    if (over == lanes) own.owed &= ~lanes;
    return over;
}

}  // namespace ww::machine

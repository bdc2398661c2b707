// SPDX-License-Identifier: Apache-2.0
// What the race checker keeps of the running clusters: clocks of threads, units, barriers and
// mbarriers. Who is ordered after whom follows from these alone.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "machine/block.hpp"
#include "races/clock.hpp"
#include "races/shadow.hpp"

namespace ww::races {

using machine::kAllLanes;
using machine::kLanes;

// The units that work for one warp, and whose operations its lanes wait for by groups. A bulk store
// is over twice: its sources were read, its destinations are written.
enum class Engine : uint8_t { copy, bulk_read, bulk_write };
constexpr size_t kEngines = 3;

// What each lane of a warp did and waited for itself.
struct OwnDeeds {
    using Lanes = std::array<uint32_t, kLanes>;
    // Of its own accesses, and of operations that it waited for, those behind its last fence.proxy.async of
    // shared and of global memory. A lane tells others when it releases, as it does its own epoch.
    struct Fenced {
        std::array<Lanes, kEngines> done{};
        Lanes own{};
        bool any = false;
    };
    Actor actor = 0;
    uint32_t epoch = 1;
    std::array<Actor, kEngines> engines{};  // 0: not used so far
    std::array<Lanes, kEngines> done{};     // operations that each lane waited for
    std::array<Fenced, 2> fenced;

    void tell(Clock& clock, LaneMask lanes) const;  // adds what only these lanes know
    // Up to which epoch of an actor the lane's own deeds reach.
    uint32_t reach(Layer layer, Actor of, uint32_t lane) const;
};

struct WarpState : OwnDeeds {
    // Lanes that know the same. A clock is shared: to change it is to copy it first.
    struct Group {
        LaneMask lanes = kAllLanes;
        SharedClock clock = std::make_shared<Clock>();
        // What strong reads observed of writers of the own block, the own cluster and others: a fence
        // whose scope includes them makes it known.
        std::array<SharedClock, 3> heard;
        // As of the last fence of at least that scope: what strong writes publish.
        std::array<SharedClock, 4> released;
    };
    uint32_t warp_key = 0;
    bool published = false;  // since the last access: the next one belongs to a new epoch
    std::vector<Group> groups = std::vector<Group>(1);
    // The last of its epochs that came back to it through a barrier other than bar.warp.sync.
    uint32_t crossed = 0;
    void cross(const Clock& barrier) { crossed = std::max(crossed, barrier.latest(actor)); }
    // Registers of wgmma, by number.
    struct Register {
        uint32_t product = 0, inst = 0;  // the last product that took it, and where
        // By instruction written - 1 and read - 1 since the last wgmma.fence; 0: not.
        uint32_t written = 0, read = 0;
        bool accumulator = false;        // of that product; else a fragment of A
    };
    std::vector<Register> registers;
    bool product_fenced = false;  // a wgmma.fence was executed
    struct {
        uint32_t inst = 0;
        std::vector<uint32_t> accumulators, fragments;
    } next_product;              // that the warp is about to join
    uint32_t products_done = 0;  // products up to this number are complete for this warp
    LaneMask sync_left = 0;  // lanes that have yet to hear of a bar.warp.sync that is complete

    // The epoch that an access of now belongs to.
    uint32_t now() {
        if (published) ++epoch;
        published = false;
        return epoch;
    }
    // What these lanes of a group know, themselves included. Their next access is a new epoch.
    Clock release(const Group& group, LaneMask lanes);
    Clock release(LaneMask lanes);  // of all groups
    void acquire(LaneMask lanes, const Clock& clock);
    void replace(LaneMask lanes, const SharedClock& clock);  // by one that knows at least as much
    void hear(LaneMask lanes, const SharedClock& clock, size_t from);  // index into Group::heard
    const Group& group_of(int lane) const;
    // Applies f to the group of exactly these lanes (of each group that has some of them).
    template <class F>
    void each_group(LaneMask lanes, F&& f) {
        for (size_t i = 0, count = groups.size(); i < count; ++i) {
            const LaneMask some = groups[i].lanes & lanes;
            if (some == 0) continue;
            if (some != groups[i].lanes) {
                groups[i].lanes &= ~some;
                groups.push_back(groups[i]);
                groups.back().lanes = some;
                f(groups.back());
            } else {
                f(groups[i]);
            }
        }
    }
    void fence(LaneMask lanes, FenceSpaces spaces);  // fence.proxy.async
};

struct BarrierState {
    Clock arrived;
    std::vector<std::pair<WarpState*, LaneMask>> waiting;
};

struct BlockState {
    std::vector<WarpState> warps;
    std::array<BarrierState, 16> barriers;
    Clock ended;  // threads that have
    Shadow shared;
};

// An mbarrier. Its own epochs are its phases, which go on where the memory is used again.
struct ObjectState {
    Actor actor = 0;
    uint32_t phase = 1;  // in progress
    Clock arrived;       // in this phase
    SharedClock completed = std::make_shared<Clock>();
    // The last arrival by a thread of another block, if there was one.
    struct Remote {
        uint32_t inst = 0, warp_key = 0;
        LaneMask lanes = 0;
        machine::Scope scope = machine::Scope::cta;
    };
    Remote remote;
};

// An asynchronous operation in flight.
struct OperationState {
    machine::Unit unit = machine::Unit::copy;
    std::vector<std::pair<LaneMask, SharedClock>> issued;  // what its issuers knew; mma: warps instead of lanes
    std::shared_ptr<const OwnDeeds> deeds;  // of several lanes, each of which issued a part: not in these clocks
    Actor reads = 0, writes = 0;
    uint32_t epoch = 0;          // of them; 0: the phase of the mbarrier
    ObjectState* object = nullptr;
    uint32_t issuer = 0;         // as in Record::kIssuer
    uint32_t crossed = 0;        // of its warp
};

// The groups of a unit of one warp (mma: warpgroup).
struct GroupsState {
    Actor mma = 0;
    std::array<uint32_t, kLanes> joined{};  // mma: the party's last product
    struct Commit {
        uint32_t parties = 0, last = 0;  // operations up to this number
    };
    std::deque<Commit> commits;
};

struct ClusterState {
    uint32_t slot = 0;
    uint32_t actors = 0;  // in use
    std::vector<BlockState> blocks;
    std::unordered_map<uint32_t, ObjectState> objects;       // by cluster_offset
    std::unordered_map<uint64_t, OperationState> operations;  // by number
    std::map<std::pair<machine::Unit, uint32_t>, GroupsState> groups;
    uint64_t issued = 0;  // operations
    // The operation that accessed memory last.
    uint64_t active_number = 0;
    const OperationState* active = nullptr;
    // At the cluster's barrier. ended_behind: after they had arrived in the phase in progress.
    Clock arrived, ended, ended_behind;
    SharedClock completed = std::make_shared<Clock>();

    WarpState& warp(const machine::Warp& w) { return blocks[w.block->rank].warps[w.id]; }
    const WarpState& warp(const machine::Warp& w) const { return blocks[w.block->rank].warps[w.id]; }
    const OperationState* operation(uint64_t number) {
        if (number == active_number && active) return active;
        const auto found = operations.find(number);
        if (found == operations.end()) return nullptr;
        active_number = number;
        return active = &found->second;
    }
};

}  // namespace ww::races

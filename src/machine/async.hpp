// SPDX-License-Identifier: Apache-2.0
// Asynchronous operations of one cluster: issued by an instruction, performed later, when the policy
// says. docs/async.md holds the rules; src/isa says what each operation does, src/emulator's
// scheduler calls help(), step() and drain(). An operation that an instruction performs at once
// (eager) never comes here, so a cluster that has none in flight pays one test.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/policy.hpp"
#include "machine/warp.hpp"

namespace ww::machine {

struct Cluster;

struct AsyncOperation {
    Unit unit = Unit::copy;
    const Inst* inst = nullptr;
    uint32_t warp = 0;     // Warp::key of the issuer; mma: of the first of its warpgroup
    uint32_t parties = 0;  // in flight: lanes (mma: warps), as in GroupWait
    uint32_t missing = 0;  // mma: warps of the warpgroup that have not issued it
    bool grouped = true;   // tracked by the groups of its unit
    bool arrival = false;  // cp.async.mbarrier.arrive: after the earlier copies of its lanes
    // The mbarrier that is signalled on completion: its cluster_offset.
    std::optional<uint32_t> mbarrier;
    // In this order, for some of the parties, each once. read may be empty: then nothing is read
    // before the moment of the writes.
    std::function<void(AsyncOperation&, uint32_t parties)> read, write;
    std::vector<uint8_t> data;  // what read leaves for write
    std::shared_ptr<void> payload;  // mma: what the warps that join bring along
    // Shared memory that will be written: cluster_offset and bytes.
    std::vector<std::pair<uint32_t, uint32_t>> destinations;

    // Kept by AsyncUnits.
    uint64_t number = 0;  // in issue order, from 1
    bool was_read = false;
    std::array<uint32_t, kLanes> group{};
};

class AsyncUnits {
  public:
    static constexpr uint32_t kUncommitted = UINT32_MAX;
    AsyncUnits(AsyncPolicy policy, uint64_t seed) : policy_(policy), random_(seed) {}

    bool eager() const { return policy_.kind == AsyncPolicy::Kind::eager; }
    bool random() const { return policy_.kind == AsyncPolicy::Kind::random; }
    bool idle() const { return pending_.empty(); }

    // Performed now if the policy is eager and nobody is missing; else kept, and what it will write
    // to shared memory loses its validity until then. Null: it was performed.
    AsyncOperation* issue(AsyncOperation operation, Cluster& cluster);
    // The wgmma that a warp is to join: the oldest of its warpgroup that it is missing in, or null.
    AsyncOperation* joinable(uint32_t warpgroup, uint32_t party);
    // A warp has joined: with the last one the operation may start.
    void joined(AsyncOperation& operation);
    // The uncommitted operations of each party become its next group.
    void commit(Unit unit, uint32_t warp, uint32_t parties);
    bool reached(const GroupWait& wait) const;

    // ---- for the scheduler; a fault is thrown with the place where the operation was issued ----
    // Performs what keeps this wait from being reached. False: nothing could be done.
    bool help(const GroupWait& wait);
    // Performs one operation that signals the mbarrier. False: there is none.
    bool help(uint32_t mbarrier);
    // Now and then, of a random policy: an operation goes one step on. True when one did.
    bool step();
    // The cluster has ended: everything is performed.
    void drain();

    // An operation in flight that will write this byte of shared memory, or will signal the
    // mbarrier there; null: none.
    const AsyncOperation* writer_of(uint32_t cluster_offset) const;
    const AsyncOperation* signaller_of(uint32_t mbarrier) const;
    // The oldest operation that keeps a wait from being reached, or null.
    const AsyncOperation* blocker_of(const GroupWait& wait) const;

  private:
    using Place = std::list<AsyncOperation>::iterator;
    // Parties of an operation that this wait is about.
    uint32_t awaited(const AsyncOperation& operation, const GroupWait& wait) const;
    uint32_t committed(Unit unit, uint32_t warp, uint32_t party) const;
    void perform(Place at, uint32_t parties, bool reads_only);
    // First the earlier copies of its lanes.
    void perform_arrival(Place at);
    bool may_complete(Place at) const;

    AsyncPolicy policy_;
    Random random_;
    uint64_t issued_ = 0;
    std::list<AsyncOperation> pending_;  // in issue order
    std::map<std::pair<Unit, uint32_t>, std::array<uint32_t, kLanes>> committed_;
};

// "1, 3": the warps that an mma still waits for.
std::string missing_warps(const AsyncOperation& operation);

}  // namespace ww::machine

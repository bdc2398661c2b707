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
#include <unordered_map>
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
    // Shared memory that will be written.
    struct Destination {
        uint32_t offset = 0, bytes = 0;  // offset: a cluster_offset
        uint32_t parties = UINT32_MAX;   // for which of them
    };
    std::vector<Destination> destinations;

    // Kept by AsyncUnits.
    uint64_t number = 0;  // in issue order, from 1
    bool was_read = false;
    std::array<uint32_t, kLanes> group{};
};

class AsyncUnits {
  public:
    static constexpr uint32_t kUncommitted = UINT32_MAX;
    // Operations of a cluster that may be in flight, and bytes that some of them may hold between
    // their two moments: the oldest ones complete when there are more.
    static constexpr size_t kMostPending = 4096, kMostHeldBytes = size_t{16} << 20;
    AsyncUnits(Cluster& cluster, uint64_t seed);

    bool eager() const { return policy_.kind == AsyncPolicy::Kind::eager; }
    bool random() const { return policy_.kind == AsyncPolicy::Kind::random; }
    bool idle() const { return pending_.empty(); }

    // Performed now if the policy is eager and nobody is missing; else kept, and what it will write
    // to shared memory loses its validity until then. Null: it was performed.
    AsyncOperation* issue(AsyncOperation operation, const Warp& by);
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
    // Performs the oldest operation that may complete, wanted or not. False: there is none.
    bool complete_oldest();
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
    // All that do.
    std::vector<const AsyncOperation*> awaited(const GroupWait& wait) const;

  private:
    static constexpr uint32_t kWarpgroup = 4;  // parties of an mma
    struct Entry;
    using Row = std::list<Entry*>;  // in issue order
    // What groups track of one unit and warp. For each party the groups ascend along `pending`, so
    // that the first operation of a party decides what it waits for.
    struct Queue {
        Row pending, uncommitted;
        Row unread;  // of bulk: their sources were not read
        std::array<uint32_t, kLanes> committed{};  // groups of each party
        std::array<Row::iterator, kWarpgroup> next;  // mma: in pending, what each warp joins next
        Queue() { next.fill(pending.end()); }
    };
    // An operation in flight, and its places in all lists.
    struct Entry : AsyncOperation {
        Queue* queue = nullptr;  // null: not grouped
        Row::iterator in_queue, in_uncommitted, in_unread, in_signals;
        bool is_uncommitted = false, is_unread = false;
        size_t in_all = 0;
    };

    const Queue* queue_of(Unit unit, uint32_t warp) const;
    void add(Entry& entry);
    void remove(Entry& entry);
    void was_read(Entry& entry);
    // f(entry, parties) for each operation that keeps the wait from being reached; until f gives false.
    template <class F>
    void each_awaited(const GroupWait& wait, F&& f) const;
    void perform(Entry& entry, uint32_t parties, bool reads_only);
    // First the earlier copies of its lanes.
    void perform_arrival(Entry& arrival);
    bool may_complete(const Entry& entry) const;
    void make_room();

    Cluster& cluster_;
    AsyncPolicy policy_;
    EventSink* sink_;
    Random random_;
    uint64_t issued_ = 0;
    size_t held_bytes_ = 0;
    std::map<uint64_t, Entry> pending_;  // by number
    std::vector<Entry*> all_;            // in any order, to draw from
    std::map<std::pair<Unit, uint32_t>, Queue> queues_;
    std::unordered_map<uint32_t, Row> signals_;  // by mbarrier
};

// "1, 3": the warps that an mma still waits for.
std::string missing_warps(const AsyncOperation& operation);

}  // namespace ww::machine

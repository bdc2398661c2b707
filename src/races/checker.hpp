// SPDX-License-Identifier: Apache-2.0
// The race checker: watches one launch, and reports pairs of accesses that nothing orders. The rules
// are docs/memory_model.md. A happens-before detector with vector clocks: threads of a warp share a
// component, asynchronous operations have components of their own.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "races/finding.hpp"
#include "races/state.hpp"

namespace ww::races {

class Checker : public machine::EventSink {
  public:
    explicit Checker(RaceLevel level) : level_(level) {}
    // In the order in which they were found.
    const std::vector<Finding>& findings() const { return findings_; }

    void memory(const machine::MemoryEvent& event) override;
    void fence(const machine::Warp& warp, const machine::Inst& inst, machine::Fence kind, LaneMask lanes) override;
    void warp_sync(const machine::Warp& warp, LaneMask lanes, LaneMask members) override;
    void exited(const machine::Warp& warp, LaneMask lanes) override;
    void barrier_arrive(const machine::Warp& warp, uint32_t index, LaneMask lanes, bool waits) override;
    void barrier_complete(const machine::Block& block, uint32_t index, bool everybody) override;
    void cluster_arrive(const machine::Warp& warp, LaneMask lanes, bool release) override;
    void cluster_complete(const machine::Cluster& cluster) override;
    void cluster_wait(const machine::Warp& warp, LaneMask lanes) override;
    void mbarrier(const machine::MbarrierEvent& event) override;
    void issued(const machine::Warp& warp, const machine::AsyncOperation& operation) override;
    void joined(const machine::Warp& warp, const machine::AsyncOperation& operation) override;
    void performed(const machine::Cluster& cluster, const machine::AsyncOperation& operation) override;
    void committed(const machine::Warp& warp, const machine::GroupWait& who) override;
    void waited(const machine::Warp& warp, const machine::GroupWait& wait) override;
    // The warp is about to touch registers that some wgmma of the program uses. Of a product,
    // accumulators are writes and fragments of A reads.
    void registers(const machine::Warp& warp, const machine::Inst& inst, bool product, std::span<const uint32_t> reads,
                   std::span<const uint32_t> writes);
    void registers_fenced(const machine::Warp& warp);  // wgmma.fence
    void cluster_ended(const machine::Cluster& cluster) override;

  private:
    // Who accesses memory now, and what is known before it.
    struct Access {
        Record record;
        const Clock* const* clocks = nullptr;  // all of them must know what went before
        size_t clock_count = 1;
        const WarpState* thread = nullptr;  // of a thread: its warp; null: an operation
        const ClusterState* cluster = nullptr;
        const machine::Warp* warp = nullptr;
        Shadow* shadow = nullptr;
        const OperationState* operation = nullptr;  // of an operation
        const OwnDeeds* deeds = nullptr;            // of its issuer's lane, if the clocks lack them
        uint32_t lane = 0;
        bool read = false, write = false;
        // Epochs that `clocks` were found to cover for all lanes, of the actors asked for last: the
        // cells of one access ask for the same ones again and again.
        struct Known {
            Actor actor = 0;
            uint32_t epoch = 0;
        };
        std::array<Known, 2> known{}, known_fenced{};
    };
    // Releases of one location, by scope. Blocks: of who released; kMixed: of several.
    struct Location {
        std::array<SharedClock, 4> released;
        std::array<uint64_t, 4> block{}, cluster{};
    };
    struct ActorInfo {
        Side::By by = Side::By::thread;
        uint32_t warp_key = 0;
        bool object = false;  // an mbarrier
    };
    struct Slot {
        uint64_t cluster = 0;  // index
        std::vector<ActorInfo> actors;
    };

    ClusterState& cluster_of(const machine::Warp& warp) { return cluster_of(warp.block->cluster); }
    ClusterState& cluster_of(const machine::Cluster& cluster);
    Actor new_actor(ClusterState& cluster, const ActorInfo& info);
    ObjectState& object_of(ClusterState& cluster, uint32_t at);
    Actor engine_of(ClusterState& cluster, WarpState& warp, Engine engine);
    SharedClock completed_by_now(ClusterState& cluster) const;

    void by_threads(const machine::MemoryEvent& event);
    void by_operation(const machine::MemoryEvent& event);
    void strong(const machine::MemoryEvent& event, int lane, WarpState& warp);
    void order_sc(const machine::Warp& warp, WarpState& state, LaneMask lanes, machine::Scope scope);
    static uint64_t location_of(const machine::MemoryEvent& event, uint64_t address, uint32_t slot);
    static void publish(Location& location, machine::Scope scope, const machine::Block& block, SharedClock clock);
    static void observe(const Location& location, const machine::Ordering& ordering, const machine::Block& block, LaneMask self, WarpState& warp);
    void touch(Cell& cell, Access& access, uint64_t address, uint64_t bytes);
    void touch_slowly(Cell& cell, Access& access, uint64_t address, uint64_t bytes);  // lane by lane
    // The common cases, in which nothing is wrong: true when the cell is up to date.
    bool touch_quickly(Cell& cell, Access& access);
    bool read_quickly(Cell& cell, Access& access);
    bool is_known(const Record& before, Access& access);
    static bool covered_for_all(Layer layer, const Record& before, const Access& access, std::array<Access::Known, 2>& known);
    void keep(Cell& cell, const Access& access);
    bool is_ordered(const Record& before, const Access& access) const;
    bool covered(Layer layer, const Record& before, const Access& access) const;
    void judge(const Record& before, const Access& access, uint64_t address, uint64_t bytes);
    void judge_proxies(const Record& before, const Access& access, uint64_t address, uint64_t bytes);
    Layer fenced_at(const Access& access) const { return access.shadow == &global_ ? Layer::fenced_global : Layer::fenced_shared; }
    void report(Rule rule, const Record& before, const Access& access, uint64_t address, uint64_t bytes);
    // The shadow of an address, and the address in it. Null: memory of a thread's own.
    Shadow* shadow_of(ClusterState& cluster, const machine::Warp& warp, uint64_t& address);
    static void hold_registers(WarpState& state, uint32_t number);
    void report_register(Rule rule, const machine::Warp& warp, uint32_t first, const machine::Inst& second, uint32_t number,
                         bool first_reads = false);
    Side side_of(const Record& record) const;
    // The block of `warp` ends with it: what other blocks did in its memory must have been before.
    void judge_end(ClusterState& cluster, const machine::Warp& warp, LaneMask lanes);
    void judge_after_end(const Access& access, uint64_t address, uint64_t bytes);
    void judge_scopes(const machine::MbarrierEvent& event, const ObjectState::Remote& arrival);
    void touch_object(const machine::MbarrierEvent& event, ClusterState& cluster, ObjectState& object);

    const RaceLevel level_;
    const machine::Grid* grid_ = nullptr;
    std::unordered_map<uint64_t, std::unique_ptr<ClusterState>> clusters_;  // running, by index
    ClusterState* last_ = nullptr;
    uint64_t last_index_ = UINT64_MAX;
    std::vector<Slot> slots_;
    Shadow global_;
    std::unordered_map<uint64_t, Location> locations_;  // by generic address; shared: with the slot
    // What the fences.sc so far knew, by how far they reached and of which block or cluster they were.
    std::map<std::pair<size_t, uint64_t>, SharedClock> sc_;
    std::vector<Finding> findings_;
    std::map<std::tuple<Rule, uint32_t, uint32_t>, size_t> known_;
};

}  // namespace ww::races

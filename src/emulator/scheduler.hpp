// SPDX-License-Identifier: Apache-2.0
// Runs the warps of one cluster, which is one block where a launch has no clusters: which split of
// which warp is next, when splits meet again, who waits, when asynchronous operations complete,
// and what to say when nobody can go on.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulator/decode.hpp"
#include "machine/block.hpp"

namespace ww::emulator {

struct Standing;

// A guest fault with its place; thrown by ClusterRunner::run.
struct BlockFault {
    std::string message;
    const machine::Block* block = nullptr;  // null: the first of the cluster
    uint32_t inst = 0;
    uint32_t warp = 0;  // within the block
    int lane = -1;
    bool has_place = false;
    std::shared_ptr<const Standing> standing;  // of a deadlock, and of a budget that is used up
};

// Notes whether guest code reaches global memory, which other blocks may change.
class GlobalProbe : public machine::EventSink {
  public:
    machine::EventSink* next = nullptr;
    bool seen = false;
    void memory(const machine::MemoryEvent& event) override;
};

class ClusterRunner {
  public:
    // code: what runs in place of the program's; null: the program's.
    ClusterRunner(const Kernel& kernel, machine::Grid& grid, uint64_t index, SchedulePolicy schedule,
                  const machine::Inst* code = nullptr);

    enum class State { finished, yielded };
    // Runs at most `budget` warp instructions; budget is lowered by what was used.
    State run(uint64_t& budget);

    const machine::Cluster& cluster() const { return cluster_; }
    // Before it runs: all shared memory holds this byte and counts as written.
    void fill_shared(uint8_t byte);
    uint64_t lane_instructions() const;

  private:
    static constexpr uint64_t kMostPatience = uint64_t{1} << 20, kLeastPatience = uint64_t{1} << 14;
    // polled: it ran, up to a question whose answer was no.
    enum class Turn { ran, polled, blocked, done };
    struct Round {
        bool ran = false, polled = false, all_done = true;
    };
    Round run_round(uint64_t& budget);
    Turn run_warp(machine::Warp& warp, uint32_t quantum, uint64_t& budget);
    uint32_t quantum();
    bool choose(machine::Warp& warp);
    bool stays(const machine::Warp& warp);
    bool ready(const machine::Warp& warp, const machine::Split& split) const;
    bool others_ready(const machine::Warp& warp) const;
    bool wake(const machine::Warp& warp, machine::Split& split);
    void store_current(machine::Warp& warp);
    void load(machine::Warp& warp, size_t index);
    void merge_same_pc(machine::Warp& warp);
    uint64_t order(const machine::Frame& frame, uint32_t pc) const;
    void after_exit(machine::Block& block);
    // Runs f; its faults get a place.
    template <class F>
    void guarded(const machine::Warp* warp, F&& f) const {
        try {
            f();
        } catch (const machine::GuestTrap& trap) {
            fail_at(trap, warp);
        }
    }
    [[noreturn]] void fail_at(const machine::GuestTrap& trap, const machine::Warp* warp) const;

    // ---- stall.cpp: no warp can go on by itself, or only some can, on and on ----
    void relieve(uint64_t executed);
    bool awaits_async() const;
    // False: only other clusters can help; they should have their turn.
    bool unstick();
    bool gives_up();
    bool help_async();
    bool released() const;
    // Some only ask again and again, or may give up waiting: try_wait has a time limit.
    bool waits_may_expire() const;
    void expire_waits();
    void watch_global(bool on);
    uint64_t fingerprint() const;
    [[noreturn]] void deadlock() const;

    const Kernel& kernel_;
    const machine::Inst* const code_;
    machine::Cluster cluster_;
    SchedulePolicy schedule_;
    Random random_;
    std::vector<machine::Warp*> warps_;  // of all blocks
    size_t next_warp_ = 0;
    uint32_t quiet_ = 0;   // rounds in which warps only polled
    uint32_t stalls_ = 0;  // times that waits expired with nothing else to do
    bool expires_ = false;  // waits expire when the next slice begins
    uint32_t helpless_ = 0;  // times that no warp could go on and an operation could help a try_wait
    uint64_t fingerprint_ = 0;  // of one of these times
    // Warp instructions since somebody waits, or something is in flight, without a completion; and how
    // many there may be.
    uint64_t awaited_for_ = 0, in_flight_for_ = 0, patience_ = kMostPatience;
    GlobalProbe probe_;
    // Per warp: how long a split that was chosen out of order may still run, now and the next time.
    struct Turns {
        uint32_t hold = 0, next_hold = 1;
    };
    std::vector<Turns> turns_;  // by Warp::key
};

}  // namespace ww::emulator

// SPDX-License-Identifier: Apache-2.0
// Runs the warps of one block: which split of which warp is next, when splits meet again, who
// waits, and what to say when nobody can go on.
#pragma once
#include <cstdint>
#include <string>

#include "emulator/decode.hpp"
#include "machine/block.hpp"

namespace ww::emulator {

// A guest fault with its place; thrown by BlockRunner::run.
struct BlockFault {
    std::string message;
    uint32_t inst = 0;
    uint32_t warp = 0;
    int lane = -1;
    bool has_place = false;
};

class BlockRunner {
  public:
    BlockRunner(const Kernel& kernel, machine::Grid& grid, machine::Coordinates id, uint64_t linear_id);

    enum class State { finished, yielded };
    // Runs at most `budget` warp instructions; budget is lowered by what was used.
    State run(uint64_t& budget);

    const machine::Block& block() const { return block_; }
    uint64_t lane_instructions() const;
    // Where every warp stands: for deadlock and budget reports.
    std::string where() const;

  private:
    enum class Turn { ran, blocked, done };
    Turn run_warp(machine::Warp& warp, uint32_t quantum, uint64_t& budget);
    bool choose(machine::Warp& warp);
    bool stays(const machine::Warp& warp);
    bool ready(const machine::Split& split) const;
    bool wake(machine::Split& split);
    void store_current(machine::Warp& warp);
    void load(machine::Warp& warp, size_t index);
    void merge_same_pc(machine::Warp& warp);
    uint64_t order(const machine::Frame& frame, uint32_t pc) const;
    void after_exit();
    [[noreturn]] void deadlock() const;

    const Kernel& kernel_;
    machine::Block block_;
    uint64_t issued_ = 0;
    size_t next_warp_ = 0;
    // Per warp: how long a split that was chosen out of order may still run, now and the next time.
    struct Turns {
        uint32_t hold = 0, next_hold = 1;
    };
    std::vector<Turns> turns_;
};

}  // namespace ww::emulator

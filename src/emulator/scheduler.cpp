// SPDX-License-Identifier: Apache-2.0
#include "emulator/scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace ww::emulator {

using machine::Inst;
using machine::LaneMask;
using machine::Split;
using machine::Wait;
using machine::Warp;

namespace {

constexpr uint32_t kQuantum = 4096;  // instructions a warp runs before the next warp has its turn
constexpr uint32_t kPatience = 2048;  // instructions of the warp before a parked split has its turn
// A bit of choose()'s key above those of order().
constexpr uint64_t kWaitsForLanes = uint64_t{1} << 63;

bool starves(const Warp& warp, const Split& split) { return warp.executed - split.since >= kPatience; }

std::string wait_text(const Warp& warp, const Split& split) {
    switch (split.wait.kind) {
        case Wait::Kind::barrier: {
            const machine::Barrier& barrier = warp.block->barriers[split.wait.barrier];
            return fmt::format("waits at barrier {} for {} more thread(s)", split.wait.barrier, barrier.pending(*warp.block));
        }
        case Wait::Kind::lanes:
            return fmt::format("waits for lanes {:#010x}", split.wait.lanes & ~split.mask & warp.alive());
        case Wait::Kind::copies: return "waits for asynchronous copies";
        case Wait::Kind::timer: return "sleeps";
        case Wait::Kind::none: break;
    }
    return "can run";
}

}  // namespace

BlockRunner::BlockRunner(const Kernel& kernel, machine::Grid& grid, machine::Coordinates id, uint64_t linear_id)
    : kernel_(kernel), block_(grid, id, linear_id), turns_(block_.warps.size()) {}

uint64_t BlockRunner::lane_instructions() const {
    uint64_t sum = 0;
    for (const Warp& warp : block_.warps) sum += warp.lane_executed;
    return sum;
}

// Lower runs first: lanes inside a call before those that wait for them in the caller, then by rank.
uint64_t BlockRunner::order(const machine::Frame& frame, uint32_t pc) const {
    constexpr uint32_t kDeepest = (1u << 30) - 1;
    return uint64_t{kDeepest - std::min(frame.depth, kDeepest)} << 32 | kernel_.program.code[pc].rank;
}

// Packs the running split away; the warp then has none.
void BlockRunner::store_current(Warp& warp) {
    if (warp.mask)
        warp.parked.push_back(Split{warp.pc, warp.mask, warp.frame, warp.wait, warp.resumed, warp.outcome, warp.executed});
    warp.mask = 0;
    warp.wait = {};
    warp.resumed = false;
}

void BlockRunner::load(Warp& warp, size_t index) {
    Split split = std::move(warp.parked[index]);
    warp.parked.erase(warp.parked.begin() + static_cast<std::ptrdiff_t>(index));
    warp.pc = split.pc;
    warp.mask = split.mask;
    warp.frame = std::move(split.frame);
    warp.registers = warp.frame->registers.data();
    warp.wait = {};
    warp.resumed = split.resumed;
    warp.outcome = split.outcome;
}

bool BlockRunner::ready(const Split& split) const {
    switch (split.wait.kind) {
        case Wait::Kind::barrier: return block_.barriers[split.wait.barrier].released(split.wait.generation);
        case Wait::Kind::timer: return block_.clock >= split.wait.until;
        default: return true;
    }
}

bool BlockRunner::wake(Split& split) {
    if (!ready(split)) return false;
    // Who waits for lanes tries again, and waits again if still alone.
    if (split.wait.kind == Wait::Kind::none || split.wait.kind == Wait::Kind::lanes) return true;
    split.wait = {};
    split.resumed = true;
    return true;
}

// Splits at one instruction of one frame become one. A split that waits at a barrier has already
// arrived there and stays apart.
void BlockRunner::merge_same_pc(Warp& warp) {
    const auto mergeable = [](const Split& split) {
        return !split.resumed && (split.wait.kind == Wait::Kind::none || split.wait.kind == Wait::Kind::lanes);
    };
    for (size_t i = 0; i < warp.parked.size(); ++i)
        for (size_t k = i + 1; k < warp.parked.size();) {
            Split& a = warp.parked[i];
            const Split& b = warp.parked[k];
            if (a.pc == b.pc && a.frame == b.frame && mergeable(a) && mergeable(b)) {
                a.mask |= b.mask;
                a.wait = {};
                a.since = std::max(a.since, b.since);
                warp.parked.erase(warp.parked.begin() + static_cast<std::ptrdiff_t>(k));
            } else {
                ++k;
            }
        }
}

// Picks the split to run: ready ones in order. One that did not run for long comes first, so that a
// spin loop never starves the lanes it waits for; such turns are short at first: lanes in a long
// loop should still be met where it ends.
bool BlockRunner::choose(Warp& warp) {
    Turns& turns = turns_[warp.id];
    store_current(warp);
    merge_same_pc(warp);
    size_t best = SIZE_MAX, oldest = SIZE_MAX;
    uint64_t best_key = std::numeric_limits<uint64_t>::max();
    for (size_t i = 0; i < warp.parked.size(); ++i) {
        Split& split = warp.parked[i];
        if (!wake(split)) continue;
        uint64_t key = order(*split.frame, split.pc);
        if (split.wait.kind == Wait::Kind::lanes) key |= kWaitsForLanes;
        if (starves(warp, split) && (oldest == SIZE_MAX || split.since < warp.parked[oldest].since)) oldest = i;
        if (key < best_key) {
            best_key = key;
            best = i;
        }
    }
    if (best == SIZE_MAX) return false;
    if (oldest == SIZE_MAX && (best_key & kWaitsForLanes) && warp.parked[best].wait.lanes) {
        // Everybody here waits for lanes; a fresh try only helps if the set of live lanes changed
        // or a message came: retry each once, round robin.
        std::rotate(warp.parked.begin() + static_cast<std::ptrdiff_t>(best), warp.parked.begin() + static_cast<std::ptrdiff_t>(best) + 1, warp.parked.end());
        best = warp.parked.size() - 1;
    }
    if (warp.parked.size() == 1) turns.next_hold = 1;
    turns.hold = 0;
    if (oldest != SIZE_MAX) {
        best = oldest;
        turns.hold = turns.next_hold;
        turns.next_hold = std::min(2 * turns.next_hold, kPatience);
    }
    load(warp, best);
    return true;
}

// Whether the running split goes on: no other has come to the same place or comes before it.
bool BlockRunner::stays(const Warp& warp) {
    Turns& turns = turns_[warp.id];
    const bool held = turns.hold > 0;
    turns.hold -= held;
    const uint64_t own = order(*warp.frame, warp.pc);
    for (const Split& split : warp.parked) {
        if (split.pc == warp.pc && split.frame == warp.frame) return false;
        if (starves(warp, split) && ready(split)) return false;
        if (!held && split.wait.kind != Wait::Kind::lanes && ready(split) && order(*split.frame, split.pc) < own)
            return false;
    }
    return true;
}

BlockRunner::Turn BlockRunner::run_warp(Warp& warp, uint32_t quantum, uint64_t& budget) {
    const Inst* code = kernel_.program.code.data();
    Turn turn = Turn::blocked;
    uint32_t failed_tries = 0;
    while (quantum-- > 0 && budget > 0) {
        if (warp.mask == 0 && !choose(warp)) return warp.alive() == 0 || warp.parked.empty() ? Turn::done : turn;
        const Inst& inst = code[warp.pc];
        LaneMask active = warp.mask;
        if (inst.guard.bank != machine::Bank::none) active &= warp.predicate(inst.guard);
        warp.next_pc = warp.pc + 1;
        const LaneMask exited = warp.exited;
        if (active) {
            warp.active = active;
            inst.run(warp, inst);
            warp.lane_executed += static_cast<uint64_t>(__builtin_popcount(active));
        }
        --budget;
        ++issued_;
        ++block_.clock;
        ++warp.executed;
        if (warp.exited != exited) after_exit();
        if (warp.wait.kind != Wait::Kind::none) {
            const bool lanes = warp.wait.kind == Wait::Kind::lanes;
            // Lanes whose guard is false do not wait with the others.
            if (const LaneMask skip = warp.mask & ~active) {
                warp.park(skip, warp.pc + 1);
                warp.mask &= active;
            }
            warp.pc = warp.next_pc;
            warp.resumed = false;
            const size_t splits = warp.parked.size() + 1;
            store_current(warp);
            if (lanes && ++failed_tries > 2 * splits) return turn;
            continue;
        }
        failed_tries = 0;
        turn = Turn::ran;
        warp.pc = warp.next_pc;
        warp.resumed = false;
        if (!warp.parked.empty() && warp.mask) {
            if (!stays(warp)) choose(warp);
        }
    }
    return turn;
}

void BlockRunner::after_exit() {
    for (machine::Barrier& barrier : block_.barriers) barrier.recheck(block_);
}

BlockRunner::State BlockRunner::run(uint64_t& budget) {
    while (budget > 0) {
        bool ran = false, all_done = true;
        for (size_t i = 0; i < block_.warps.size() && budget > 0; ++i) {
            Warp& warp = block_.warps[next_warp_];
            try {
                const Turn turn = run_warp(warp, kQuantum, budget);
                ran |= turn == Turn::ran;
                all_done &= turn == Turn::done;
            } catch (const machine::GuestTrap& trap) {
                const LaneMask active = warp.active ? warp.active : 1;
                throw BlockFault{trap.what(), warp.pc, warp.id, trap.lane >= 0 ? trap.lane : __builtin_ctz(active), true};
            }
            next_warp_ = (next_warp_ + 1) % block_.warps.size();
        }
        if (all_done && budget > 0) return State::finished;
        if (all_done) {
            for (const Warp& warp : block_.warps) all_done &= warp.alive() == 0;
            if (all_done) return State::finished;
        }
        if (ran || budget == 0) continue;
        // Nobody ran: sleepers wake at the earliest time, else nobody ever will.
        uint64_t until = UINT64_MAX;
        for (const Warp& warp : block_.warps)
            for (const Split& split : warp.parked)
                if (split.wait.kind == Wait::Kind::timer) until = std::min(until, split.wait.until);
        if (until == UINT64_MAX) {
            bool released = false;
            for (Warp& warp : block_.warps)
                for (Split& split : warp.parked) released |= split.wait.kind == Wait::Kind::barrier && wake(split);
            if (!released) deadlock();
            continue;
        }
        block_.clock = std::max(block_.clock, until);
    }
    return State::yielded;
}

std::string BlockRunner::where() const {
    std::string text;
    int lines = 0;
    for (const Warp& warp : block_.warps) {
        std::vector<Split> splits = warp.parked;
        if (warp.mask) splits.push_back(Split{warp.pc, warp.mask, warp.frame, warp.wait, false});
        for (const Split& split : splits) {
            if (++lines > 24) return text + "\n    ... more warps";
            const SourcePlace place = source_place(kernel_, split.pc);
            text += fmt::format("\n    warp {} lanes {:#010x} {} at {} ({}:{}{})", warp.id, split.mask,
                                wait_text(warp, split), place.text, kernel_.module->name, place.ptx_line,
                                place.line > 0 ? fmt::format(", {}:{}", place.file, place.line) : "");
        }
    }
    return text;
}

void BlockRunner::deadlock() const {
    BlockFault fault{.message = "deadlock: no warp of the block can go on" + where()};
    for (const Warp& warp : block_.warps)
        if (!warp.parked.empty()) {
            fault.inst = warp.parked[0].pc;
            fault.warp = warp.id;
            fault.lane = __builtin_ctz(warp.parked[0].mask);
            fault.has_place = true;
            break;
        }
    throw fault;
}

}  // namespace ww::emulator

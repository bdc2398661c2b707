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
constexpr uint32_t kPatience = 2048;  // instructions a split runs before a parked one is tried

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
    : kernel_(kernel), block_(grid, id, linear_id), streak_(block_.warps.size(), 0) {}

uint64_t BlockRunner::lane_instructions() const {
    uint64_t sum = 0;
    for (const Warp& warp : block_.warps) sum += warp.lane_executed;
    return sum;
}

// Packs the running split away; the warp then has none.
void BlockRunner::store_current(Warp& warp) {
    if (warp.mask)
        warp.parked.push_back(Split{warp.pc, warp.mask, warp.frame, warp.wait, warp.resumed});
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
    streak_[warp.id] = 0;
}

bool BlockRunner::wake(Split& split) {
    switch (split.wait.kind) {
        case Wait::Kind::none:
        case Wait::Kind::lanes: return true;  // lanes: tried again, waits again if still alone
        case Wait::Kind::barrier:
            if (!block_.barriers[split.wait.barrier].released(split.wait.generation)) return false;
            break;
        case Wait::Kind::timer:
            if (block_.clock < split.wait.until) return false;
            break;
        case Wait::Kind::copies: break;
    }
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
                warp.parked.erase(warp.parked.begin() + static_cast<std::ptrdiff_t>(k));
            } else {
                ++k;
            }
        }
}

// Picks the split to run: ready ones by rank; when a split had its patience and did not part, the
// others come first, so that a spin loop never starves the lanes it waits for.
bool BlockRunner::choose(Warp& warp) {
    const bool impatient = streak_[warp.id] >= kPatience;
    const LaneMask previous = warp.mask;
    store_current(warp);
    merge_same_pc(warp);
    size_t best = SIZE_MAX;
    uint64_t best_key = std::numeric_limits<uint64_t>::max();
    for (size_t i = 0; i < warp.parked.size(); ++i) {
        Split& split = warp.parked[i];
        if (!wake(split)) continue;
        uint64_t key = kernel_.program.code[split.pc].rank;
        if (split.wait.kind == Wait::Kind::lanes) key |= uint64_t{1} << 40;
        if (impatient && (split.mask & previous)) key |= uint64_t{1} << 50;
        if (key < best_key) {
            best_key = key;
            best = i;
        }
    }
    if (best == SIZE_MAX) return false;
    const bool only_waiting = best_key >> 40 & 1;
    if (only_waiting && warp.parked[best].wait.lanes) {
        // Everybody here waits for lanes; a fresh try only helps if the set of live lanes changed
        // or a message came: retry each once, round robin.
        std::rotate(warp.parked.begin() + static_cast<std::ptrdiff_t>(best), warp.parked.begin() + static_cast<std::ptrdiff_t>(best) + 1, warp.parked.end());
        best = warp.parked.size() - 1;
    }
    load(warp, best);
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
        ++streak_[warp.id];
        if (warp.exited != exited) after_exit();
        if (warp.wait.kind != Wait::Kind::none) {
            const bool lanes = warp.wait.kind == Wait::Kind::lanes;
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
            const uint32_t rank = code[warp.pc].rank;
            bool change = streak_[warp.id] >= kPatience;
            for (const Split& split : warp.parked)
                change |= split.pc == warp.pc || code[split.pc].rank < rank;
            if (change) {
                const LaneMask before = warp.mask;
                const uint32_t streak = streak_[warp.id];
                choose(warp);
                if (warp.mask == before) streak_[warp.id] = streak >= kPatience ? 0 : streak;
            }
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

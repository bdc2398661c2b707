// SPDX-License-Identifier: Apache-2.0
#include "emulator/scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "machine/mbarrier.hpp"

namespace ww::emulator {

using machine::Inst;
using machine::LaneMask;
using machine::Split;
using machine::Wait;
using machine::Warp;

namespace {

constexpr uint32_t kQuantum = 4096;  // instructions a warp runs before the next warp has its turn
constexpr uint32_t kPatience = 2048;  // instructions of the warp before a parked split has its turn
// A bit of choose()'s key above those of order(): waits for lanes, or polls.
constexpr uint64_t kLast = uint64_t{1} << 63;
constexpr uint32_t kShortTurn = 64;  // at most, of a random schedule or random completions

bool starves(const Warp& warp, const Split& split) { return warp.executed - split.since >= kPatience; }

}  // namespace

ClusterRunner::ClusterRunner(const Kernel& kernel, machine::Grid& grid, uint64_t index, SchedulePolicy schedule, const machine::Inst* code)
    : kernel_(kernel), code_(code ? code : kernel.program.code.data()), cluster_(grid, index), schedule_(schedule), random_(Random(schedule.seed ^ index).next()) {
    for (const auto& block : cluster_.blocks)
        for (Warp& warp : block->warps) warps_.push_back(&warp);
    turns_.resize(cluster_.blocks.size() * machine::kWarpsOfBlock);
}

uint64_t ClusterRunner::lane_instructions() const {
    uint64_t sum = 0;
    for (const Warp* warp : warps_) sum += warp->lane_executed;
    return sum;
}

// Lower runs first: lanes inside a call before those that wait for them in the caller, then by rank.
uint64_t ClusterRunner::order(const machine::Frame& frame, uint32_t pc) const {
    constexpr uint32_t kDeepest = (1u << 30) - 1;
    return uint64_t{kDeepest - std::min(frame.depth, kDeepest)} << 32 | kernel_.program.code[pc].rank;
}

// Packs the running split away; the warp then has none.
void ClusterRunner::store_current(Warp& warp) {
    if (warp.mask)
        warp.parked.push_back(Split{warp.pc, warp.mask, warp.frame, warp.wait, warp.resumed, warp.outcome, warp.executed});
    warp.mask = 0;
    warp.wait = {};
    warp.resumed = false;
}

void ClusterRunner::load(Warp& warp, size_t index) {
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

bool ClusterRunner::ready(const Warp& warp, const Split& split) const {
    const machine::Block& block = *warp.block;
    switch (split.wait.kind) {
        case Wait::Kind::barrier: return block.barriers[split.wait.barrier].released(split.wait.generation);
        case Wait::Kind::cluster: return cluster_.barrier.released(split.wait.generation);
        case Wait::Kind::group: return cluster_.async.reached(split.wait.group);
        case Wait::Kind::mbarrier: return machine::phase_completed(block.shared.data + split.wait.mbarrier, split.wait.parity);
        default: return true;
    }
}

bool ClusterRunner::wake(const Warp& warp, Split& split) {
    if (!ready(warp, split)) return false;
    // Who waits for lanes tries again, and waits again if still alone; who polls goes on.
    if (split.wait.kind == Wait::Kind::none || split.wait.kind == Wait::Kind::lanes || split.wait.kind == Wait::Kind::poll)
        return true;
    split.wait = {};
    split.resumed = true;
    return true;
}

// Splits at one instruction of one frame become one. A split that waits at a barrier has already
// arrived there and stays apart.
void ClusterRunner::merge_same_pc(Warp& warp) {
    const auto mergeable = [](const Split& split) {
        return !split.resumed && (split.wait.kind == Wait::Kind::none || split.wait.kind == Wait::Kind::lanes ||
                                  split.wait.kind == Wait::Kind::poll);
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
bool ClusterRunner::choose(Warp& warp) {
    Turns& turns = turns_[warp.key];
    store_current(warp);
    merge_same_pc(warp);
    size_t best = SIZE_MAX, oldest = SIZE_MAX;
    uint64_t best_key = std::numeric_limits<uint64_t>::max();
    for (size_t i = 0; i < warp.parked.size(); ++i) {
        Split& split = warp.parked[i];
        if (!wake(warp, split)) continue;
        uint64_t key = order(*split.frame, split.pc);
        if (split.wait.kind == Wait::Kind::lanes || split.wait.kind == Wait::Kind::poll) key |= kLast;
        if (starves(warp, split) && (oldest == SIZE_MAX || split.since < warp.parked[oldest].since)) oldest = i;
        if (key < best_key) {
            best_key = key;
            best = i;
        }
    }
    if (best == SIZE_MAX) return false;
    if (oldest == SIZE_MAX && (best_key & kLast) && warp.parked[best].wait.lanes) {
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
bool ClusterRunner::stays(const Warp& warp) {
    Turns& turns = turns_[warp.key];
    const bool held = turns.hold > 0;
    turns.hold -= held;
    const uint64_t own = order(*warp.frame, warp.pc);
    for (const Split& split : warp.parked) {
        if (split.pc == warp.pc && split.frame == warp.frame) return false;
        if (starves(warp, split) && ready(warp, split)) return false;
        if (!held && split.wait.kind != Wait::Kind::lanes && ready(warp, split) && order(*split.frame, split.pc) < own)
            return false;
    }
    return true;
}

ClusterRunner::Turn ClusterRunner::run_warp(Warp& warp, uint32_t quantum, uint64_t& budget) {
    const Inst* code = code_;
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
        ++warp.block->clock;
        ++warp.executed;
        if (warp.exited != exited) after_exit(*warp.block);
        if (warp.wait.kind == Wait::Kind::poll) {
            warp.pc = warp.next_pc;
            warp.resumed = false;
            const bool others = others_ready(warp);
            store_current(warp);
            if (!others) return Turn::polled;
            continue;
        }
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

// A split that has something to do, apart from the running one.
bool ClusterRunner::others_ready(const Warp& warp) const {
    for (const Split& split : warp.parked)
        if (split.wait.kind != Wait::Kind::poll && split.wait.kind != Wait::Kind::lanes && ready(warp, split)) return true;
    return false;
}

void ClusterRunner::after_exit(machine::Block& block) {
    for (machine::Barrier& barrier : block.barriers) barrier.recheck(block);
    cluster_.barrier.recheck(cluster_);
}

uint32_t ClusterRunner::quantum() {
    const bool brief = schedule_.random || (cluster_.async.random() && !cluster_.async.idle());
    return brief ? 1 + static_cast<uint32_t>(random_.below(kShortTurn)) : kQuantum;
}

// A fault of the warp, or of an operation that it or another one issued before.
void ClusterRunner::fail_at(const machine::GuestTrap& trap, const Warp* warp) const {
    BlockFault fault{.message = trap.what(), .has_place = true};
    if (trap.has_place) {
        fault.block = cluster_.blocks[trap.warp / machine::kWarpsOfBlock].get();
        fault.warp = trap.warp % machine::kWarpsOfBlock;
        fault.inst = trap.inst;
        fault.lane = std::max(trap.lane, 0);
    } else {
        const LaneMask active = warp->active ? warp->active : 1;
        fault.block = warp->block;
        fault.warp = warp->id;
        fault.inst = warp->pc;
        fault.lane = trap.lane >= 0 ? trap.lane : __builtin_ctz(active);
    }
    throw fault;
}

// Every warp has one turn.
ClusterRunner::Round ClusterRunner::run_round(uint64_t& budget) {
    Round round;
    if (schedule_.random)
        for (size_t i = warps_.size(); i > 1; --i) std::swap(warps_[i - 1], warps_[random_.below(i)]);
    for (size_t i = 0; i < warps_.size() && budget > 0; ++i) {
        Warp& warp = *warps_[next_warp_];
        guarded(&warp, [&] {
            const Turn turn = run_warp(warp, quantum(), budget);
            round.ran |= turn == Turn::ran;
            round.polled |= turn == Turn::polled;
            round.all_done &= turn == Turn::done;
        });
        next_warp_ = (next_warp_ + 1) % warps_.size();
        if (cluster_.async.random()) guarded(&warp, [&] { round.ran |= cluster_.async.step(); });
    }
    return round;
}

void ClusterRunner::fill_shared(uint8_t byte) {
    for (const auto& block : cluster_.blocks) {
        std::memset(block->shared.data, byte, block->shared.size);
        std::memset(block->shared.valid, 1, block->shared.size);
    }
}

ClusterRunner::State ClusterRunner::run(uint64_t& budget) {
    if (expires_) expire_waits();
    expires_ = false;
    while (budget > 0) {
        const uint64_t before = budget;
        const Round round = run_round(budget);
        relieve(before - budget);
        if (round.all_done) {
            bool ended = budget > 0;
            if (!ended) {
                ended = true;
                for (const Warp* warp : warps_) ended &= warp->alive() == 0;
            }
            if (ended) {
                guarded(nullptr, [&] { cluster_.async.drain(); });
                if (cluster_.grid.sink) cluster_.grid.sink->cluster_ended(cluster_);
                return State::finished;
            }
        }
        if (round.ran || budget == 0) {
            quiet_ = 0;
            continue;
        }
        // What polled may have woken others before.
        if (round.polled && ++quiet_ < 2) continue;
        quiet_ = 0;
        if (unstick()) continue;
        budget = 0;  // a slice that ends early counts whole: waiting for others must not be for free
    }
    return State::yielded;
}

}  // namespace ww::emulator

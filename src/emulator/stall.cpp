// SPDX-License-Identifier: Apache-2.0
// What happens when no warp of a cluster can go on by itself: an asynchronous operation completes,
// try_wait gives up for once; or it is a deadlock (deadlock.cpp has the report). And what happens when some warps go on for long while others wait: the same, without the report.
#include <fmt/format.h>

#include <algorithm>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "emulator/deadlock.hpp"
#include "emulator/scheduler.hpp"
#include "machine/mbarrier.hpp"

namespace ww::emulator {

using machine::Split;
using machine::Wait;
using machine::Warp;

namespace {

// Waits may expire this often before the state is compared with that of the time before.
constexpr uint32_t kFreeStalls = 4;
// ... and so often before each further time costs a whole slice of the budget.
constexpr uint32_t kCheapStalls = 1024;
constexpr uint32_t kGoldenRatio = 0x9e3779b9;

const uint8_t* mbarrier_of(const Warp& warp, const Wait& wait) { return warp.block->shared.data + wait.mbarrier; }

bool waits_for_mbarrier(const Warp& warp, const Wait& wait) {
    return (wait.kind == Wait::Kind::mbarrier || wait.kind == Wait::Kind::poll) &&
           !machine::phase_completed(mbarrier_of(warp, wait), wait.parity);
}

}  // namespace

void GlobalProbe::memory(const machine::MemoryEvent& event) {
    machine::each_piece(event, [&](int, uint64_t address) { seen |= machine::space_of(address) == machine::Space::global; });
    if (next) next->memory(event);
}

// A try_wait may give up at any time, and what a program does then (as a rule: it waits once more) has to
// run, too. So a third of the waits that an operation could help expire instead; by the golden ratio, since
// a fixed period falls in step with loops.
bool ClusterRunner::gives_up() {
    if (cluster_.async.idle()) return false;
    for (Warp* warp : warps_)
        for (Split& split : warp->parked) {
            if (split.wait.kind != Wait::Kind::mbarrier) continue;
            if (!cluster_.async.signaller_of(machine::cluster_offset(warp->block->rank, split.wait.mbarrier))) continue;
            if (++helpless_ * kGoldenRatio > UINT32_MAX / 3) return false;
            split.wait = {};
            return split.resumed = true;
        }
    return false;
}

bool ClusterRunner::unstick() {
    if (gives_up()) return true;
    if (help_async() || released()) {
        stalls_ = 0;
        awaited_for_ = in_flight_for_ = 0;
        patience_ = std::min(2 * patience_, kMostPatience);
        watch_global(false);
        return true;
    }
    if (!waits_may_expire()) deadlock();
    // All is as it was some expiries before: then it will be so again, for ever, unless from outside.
    // Compared with the last power of two, since back-off loops take some rounds to repeat.
    bool same = false;
    if (++stalls_ >= kFreeStalls) {
        const uint64_t now = fingerprint();
        same = stalls_ > kFreeStalls && now == fingerprint_;
        if (same && !probe_.seen) deadlock();
        if ((stalls_ & (stalls_ - 1)) == 0) {
            fingerprint_ = now;
            probe_.seen = false;
        }
        watch_global(true);
    }
    // What other clusters write may still release this one, before its waits expire.
    expires_ = same || stalls_ >= kCheapStalls;
    if (!expires_) expire_waits();
    return !expires_;
}

bool ClusterRunner::awaits_async() const {
    for (const Warp* warp : warps_)
        for (const Split& split : warp->parked)
            if (split.wait.kind == Wait::Kind::group || waits_for_mbarrier(*warp, split.wait)) return true;
    return false;
}

// As long as some warp runs, nothing completes; but what runs may itself poll memory for what others
// do after they waited, or for what an operation writes. So after many instructions something
// completes all the same, and sooner each time that this happens again.
void ClusterRunner::relieve(uint64_t executed) {
    awaited_for_ = awaits_async() ? awaited_for_ + executed : 0;
    in_flight_for_ = cluster_.async.idle() ? 0 : in_flight_for_ + executed;
    if (awaited_for_ < patience_ && in_flight_for_ < 4 * patience_) return;
    awaited_for_ = in_flight_for_ = 0;
    patience_ = std::max(patience_ / 2, kLeastPatience);
    if (help_async()) return;
    guarded(nullptr, [&] { cluster_.async.complete_oldest(); });
    expire_waits();
}

// One waiter gets what it waits for; the others may be ready then, too, or run into what they
// should have waited for.
bool ClusterRunner::help_async() {
    if (cluster_.async.idle()) return false;
    bool helped = false;
    for (size_t i = 0; i < warps_.size() && !helped; ++i) {
        const Warp& warp = *warps_[i];
        guarded(&warp, [&] {
            for (const Split& split : warp.parked) {
                if (split.wait.kind == Wait::Kind::group)
                    helped = cluster_.async.help(split.wait.group);
                else if (waits_for_mbarrier(warp, split.wait))
                    helped = cluster_.async.help(machine::cluster_offset(warp.block->rank, split.wait.mbarrier));
                if (helped) return;
            }
        });
    }
    return helped;
}

// What a warp waits for may have come after its turn.
bool ClusterRunner::released() const {
    bool any = false;
    for (const Warp* warp : warps_)
        for (const Split& split : warp->parked) {
            const Wait::Kind kind = split.wait.kind;
            any |= (kind == Wait::Kind::barrier || kind == Wait::Kind::cluster || kind == Wait::Kind::group || kind == Wait::Kind::mbarrier) &&
                   ready(*warp, split);
        }
    return any;
}

bool ClusterRunner::waits_may_expire() const {
    for (const Warp* warp : warps_)
        for (const Split& split : warp->parked)
            if (split.wait.kind == Wait::Kind::poll || split.wait.kind == Wait::Kind::mbarrier) return true;
    return false;
}

void ClusterRunner::expire_waits() {
    for (Warp* warp : warps_)
        for (Split& split : warp->parked) {
            if (split.wait.kind != Wait::Kind::mbarrier) continue;
            split.wait = {};
            split.resumed = true;
        }
}

void ClusterRunner::watch_global(bool on) {
    if (on == (warps_[0]->sink == &probe_)) return;
    probe_.next = cluster_.grid.sink;
    for (Warp* warp : warps_) warp->sink = on ? &probe_ : probe_.next;
}

// Of everything that decides how the cluster goes on, apart from global memory and clocks.
uint64_t ClusterRunner::fingerprint() const {
    uint64_t hash = 0;
    const auto add = [&](const void* data, size_t bytes) { hash = XXH64(data, bytes, hash); };
    for (const auto& block : cluster_.blocks) {
        add(block->shared.data, block->shared.size);
        add(block->shared.valid, block->shared.size);
        for (const Warp& warp : block->warps) {
            add(&warp.exited, sizeof warp.exited);
            add(warp.local_data, 2 * warp.local_bytes * machine::kLanes);
            uint64_t splits = 0;  // their order does not matter
            for (const Split& split : warp.parked) {
                const uint64_t before = hash;
                hash = 0;
                const uint32_t words[] = {split.pc, split.mask};
                add(words, sizeof words);
                for (const machine::Frame* frame = split.frame.get(); frame; frame = frame->caller.get())
                    add(frame->registers.data(), frame->registers.size());
                splits += hash;
                hash = before;
            }
            add(&splits, sizeof splits);
        }
    }
    return hash;
}

void ClusterRunner::deadlock() const {
    const Standing standing = standing_of(kernel_, cluster_);
    BlockFault fault{.message = fmt::format("deadlock: no warp of the {} can go on", standing.clustered ? "cluster" : "block") + to_text(standing, true)};
    fault.standing = std::make_shared<const Standing>(standing);
    for (const auto& block : cluster_.blocks)
        for (const Warp& warp : block->warps)
            if (!warp.parked.empty() && !fault.has_place) {
                fault.block = block.get();
                fault.inst = warp.parked[0].pc - (warp.parked[0].wait.kind == Wait::Kind::poll);
                fault.warp = warp.id;
                fault.lane = __builtin_ctz(warp.parked[0].mask);
                fault.has_place = true;
            }
    throw fault;
}

}  // namespace ww::emulator

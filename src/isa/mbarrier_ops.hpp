// SPDX-License-Identifier: Apache-2.0
// Reaching an mbarrier from an instruction or from an asynchronous operation: address checks, the
// object in its bytes, and the event for observers.
#pragma once
#include "isa/memory_ops.hpp"
#include "machine/block.hpp"
#include "machine/mbarrier.hpp"

namespace ww::isa {

using machine::Agent;
using machine::AsyncAccess;
using machine::AsyncOperation;
using machine::GuestTrap;
using machine::Mbarrier;
using machine::MbarrierEvent;
using machine::MemoryRange;

inline MemoryRange mbarrier_range(Warp& w, Space space, uint64_t address, int lane) {
    const MemoryRange out = w.range(space, address, Mbarrier::kBytes, Mbarrier::kBytes, Access::atomic, lane);
    if (out.space == Space::shared) return out;
    GuestTrap trap("an mbarrier lies in shared memory, and this generic address does not");
    trap.lane = lane;
    throw trap;
}

inline Mbarrier load_mbarrier(const MemoryRange& at, int lane) try {
    for (uint64_t i = 0; i < Mbarrier::kBytes; ++i)
        if (!at.valid()[i]) throw GuestTrap("there is no mbarrier at this address: mbarrier.init did not run for it");
    return Mbarrier::load(at.data());
} catch (GuestTrap& trap) {
    trap.lane = lane;
    throw;
}

inline void notify_mbarrier(const AsyncAccess& by, const MemoryRange& at, MbarrierEvent::Kind kind, LaneMask lanes,
                            bool completed = false) {
    if (machine::EventSink* sink = by.warp.grid->sink)
        sink->mbarrier({by.warp, by.inst, kind, at.in_cluster(), lanes, completed, by.agent, by.operation});
}

// Runs change(mbarrier) on the object and stores it; what change returns.
template <class F>
auto update_mbarrier(const AsyncAccess& by, const MemoryRange& at, MbarrierEvent::Kind kind, F&& change) {
    Mbarrier mbarrier = load_mbarrier(at, by.lane);
    const bool parity = mbarrier.parity();
    const auto result = [&] {
        try {
            return change(mbarrier);
        } catch (GuestTrap& trap) {
            trap.lane = by.lane;
            throw;
        }
    }();
    mbarrier.store(at.data());
    if (kind != MbarrierEvent::Kind::count)
        by.warp.block->cluster.signals.note(at.in_cluster(), by.warp.key, by.inst.index, by.lane, kind == MbarrierEvent::Kind::complete_tx);
    notify_mbarrier(by, at, kind, LaneMask{1} << by.lane, mbarrier.parity() != parity);
    return result;
}

}  // namespace ww::isa

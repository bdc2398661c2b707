// SPDX-License-Identifier: Apache-2.0
// Who signalled the mbarriers of a cluster lately: for reports of deadlocks, which ask who could have
// released a waiter. Kept small and quick rather than complete: a few signallers of each mbarrier, and
// of two mbarriers that share a slot the one that was signalled last.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ww::machine {

// Arrivals, or completed bytes, that one instruction of one warp brought.
struct Signal {
    uint32_t warp = 0;   // Warp::key of the thread that arrived, or that issued the operation
    uint32_t inst = 0;
    uint32_t times = 0;  // 0: there is no signal
    uint8_t lane = 0;    // the last one
    bool bytes = false;  // complete_tx; else an arrival
};

class SignalHistory {
  public:
    static constexpr size_t kSignallers = 8;
    using Signals = std::array<Signal, kSignallers>;  // newest first

    void note(uint32_t object, uint32_t warp, uint32_t inst, int lane, bool bytes) {
        if (slots_.empty()) slots_.resize(kSlots);
        Slot& slot = slots_[slot_of(object)];
        if (slot.object != object) slot = Slot{object, {}};
        for (Signal& each : slot.signals)
            if (each.times != 0 && each.warp == warp && each.inst == inst && each.bytes == bytes) {
                each.lane = static_cast<uint8_t>(lane);
                ++each.times;
                return;
            }
        for (size_t i = kSignallers - 1; i > 0; --i) slot.signals[i] = slot.signals[i - 1];
        slot.signals[0] = {warp, inst, 1, static_cast<uint8_t>(lane), bytes};
    }
    // object: the mbarrier's cluster_offset.
    Signals of(uint32_t object) const {
        if (slots_.empty() || slots_[slot_of(object)].object != object) return {};
        return slots_[slot_of(object)].signals;
    }

  private:
    static constexpr size_t kSlots = 256;
    struct Slot {
        uint32_t object = UINT32_MAX;
        Signals signals{};
    };
    // Mbarriers lie 8 bytes apart; the blocks of a cluster have theirs at the same offsets.
    static size_t slot_of(uint32_t object) { return (object / 8 + (object >> 24) * 37) % kSlots; }
    std::vector<Slot> slots_;
};

}  // namespace ww::machine

// SPDX-License-Identifier: Apache-2.0
// Vector clocks of the race checker: what a thread, or an operation, knows of what others did.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "machine/types.hpp"

namespace ww::races {

using machine::LaneMask;

// One clock component: the threads of a warp, a unit that works for them, or an mbarrier. The
// number of its cluster, then its number in the cluster.
using Actor = uint32_t;
constexpr uint32_t kActorBits = 12;
constexpr uint32_t slot_of(Actor actor) { return actor >> kActorBits; }
constexpr uint32_t number_of(Actor actor) { return actor & ((1u << kActorBits) - 1); }

// Up to which epoch the lanes of an actor are known: `top` those of `mask`, `middle` those of
// `middle_mask`, `base` the others. More levels than these are rounded up, so that a race may be missed,
// and none is invented.
struct Seen {
    uint32_t base = 0, middle = 0, top = 0;
    LaneMask middle_mask = 0, mask = 0;  // disjoint; without mask no middle_mask

    bool covers(uint32_t epoch, LaneMask lanes) const {
        if (base >= epoch) return true;
        if (top < epoch) return false;
        const LaneMask known = middle >= epoch ? mask | middle_mask : mask;
        return known != 0 && (lanes & ~known) == 0;
    }
    void raise(uint32_t epoch, LaneMask lanes);
    void join(const Seen& other);

  private:
    void raise_above(uint32_t epoch, LaneMask lanes);
    void settle();
};

// order: what happened before. fenced: of that, what its own thread put a proxy fence behind.
// refenced: what some thread on the way put one behind. A fence is of shared memory, global memory or
// both.
enum class Layer : uint8_t { order, fenced_shared, fenced_global, refenced_shared, refenced_global };
constexpr size_t kLayers = 5;
struct FenceSpaces {
    bool shared = false, global = false;
};

class Clock {
  public:
    bool covers(Layer layer, Actor actor, uint32_t epoch, LaneMask lanes) const;
    void raise(Layer layer, Actor actor, uint32_t epoch, LaneMask lanes);
    void join(const Clock& other);
    // Everything that happened before is fenced now, though not by its own threads.
    void refence(FenceSpaces spaces);
    uint32_t latest(Actor actor) const;  // the last epoch that is known of some lane
    bool empty() const { return parts_.empty(); }

  private:
    struct Part {
        uint32_t slot = 0;
        std::array<std::vector<Seen>, kLayers> layers;  // by the actor's number
    };
    Part& part(uint32_t slot);
    std::vector<Part> parts_;  // as a rule one: the own cluster
};

using SharedClock = std::shared_ptr<const Clock>;

}  // namespace ww::races

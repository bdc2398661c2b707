// SPDX-License-Identifier: Apache-2.0
// What observers may watch. A machine without an observer pays one null test per memory access.
#pragma once
#include <cstdint>

#include "machine/types.hpp"

namespace ww::machine {

class Warp;
struct Inst;

enum class Access : uint8_t { read, write, atomic };

struct MemoryEvent {
    const Warp& warp;
    const Inst& inst;
    Access access;
    const uint64_t* address;  // per lane, generic
    uint32_t bytes;           // per lane
    LaneMask lanes;
};

// Called from the thread that runs the block; an observer of a launch on several threads locks.
class EventSink {
  public:
    virtual ~EventSink() = default;
    virtual void memory(const MemoryEvent& event) = 0;
};

}  // namespace ww::machine

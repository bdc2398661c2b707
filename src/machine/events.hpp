// SPDX-License-Identifier: Apache-2.0
// What observers may watch. A machine without an observer pays one null test per memory access.
#pragma once
#include <cstdint>

#include "machine/types.hpp"

namespace ww::machine {

class Warp;
struct Inst;

enum class Access : uint8_t { read, write, atomic };

// Who performs an access: a thread itself, or a unit on behalf of the thread that issued the
// operation (see async.hpp).
enum class Agent : uint8_t { thread, copy, bulk, mma };

struct MemoryEvent {
    const Warp& warp;  // that issued the instruction
    const Inst& inst;
    Access access;
    const uint64_t* address;  // per lane, generic
    uint32_t bytes;           // per lane
    LaneMask lanes;
    Agent agent = Agent::thread;
    uint64_t operation = 0;  // of an asynchronous agent: the operation's number in its block, from 1
};

// Called from the thread that runs the block; an observer of a launch on several threads locks.
class EventSink {
  public:
    virtual ~EventSink() = default;
    virtual void memory(const MemoryEvent& event) = 0;
};

}  // namespace ww::machine

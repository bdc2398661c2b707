// SPDX-License-Identifier: Apache-2.0
// What observers may watch: accesses to memory, and everything that orders them. A machine without
// an observer pays one null test per event.
#pragma once
#include <cstdint>

#include "machine/types.hpp"

namespace ww::machine {

class Block;
class Warp;
struct AsyncOperation;
struct Cluster;
struct GroupWait;
struct Inst;

enum class Access : uint8_t { read, write, atomic };

// Who performs an access: a thread itself, or a unit on behalf of the thread that issued the
// operation (see async.hpp). store: st.async and red.async, which go through the generic proxy.
enum class Agent : uint8_t { thread, copy, bulk, mma, store };

struct MemoryEvent {
    const Warp& warp;  // that issued the instruction
    const Inst& inst;
    Access access;
    const uint64_t* address;  // per lane, generic
    uint32_t bytes;           // per lane
    LaneMask lanes;
    Agent agent = Agent::thread;
    uint64_t operation = 0;  // of an asynchronous agent: the operation's number in its cluster, from 1
    // Not 0: the only lane accesses that many pieces, address[0] on, each of so many bytes.
    uint32_t pieces = 0;
};

// f(lane, address) for each piece of memory.
template <class F>
void each_piece(const MemoryEvent& event, F&& f) {
    const int first = __builtin_ctz(event.lanes);
    for (uint32_t i = 0; i < event.pieces; ++i) f(first, event.address[i]);
    for (LaneMask left = event.pieces ? 0 : event.lanes; left; left &= left - 1) f(__builtin_ctz(left), event.address[__builtin_ctz(left)]);
}

// An operation on an mbarrier object, after it was done.
struct MbarrierEvent {
    enum class Kind : uint8_t {
        init, inval,
        count,     // expect_tx; the pending arrival that cp.async.mbarrier.arrive announces
        arrive,    // also arrive.expect_tx
        complete_tx,
        wait,      // test_wait, try_wait: the phase that was asked for is complete
        ask,       // the same, and it is not
    };
    const Warp& warp;
    const Inst& inst;
    Kind kind;
    uint32_t object;  // cluster_offset
    LaneMask lanes;
    bool completed = false;  // the phase ended with this
    Agent agent = Agent::thread;
    uint64_t operation = 0;  // as in MemoryEvent
};

// proxy_async orders accesses through the generic and the async proxy, of all memory or of one space.
enum class Fence : uint8_t { memory, proxy_async, proxy_async_shared, proxy_async_global, mbarrier_init };

// Called from the thread that runs the block; an observer of a launch on several threads locks.
class EventSink {
  public:
    virtual ~EventSink() = default;
    virtual void memory(const MemoryEvent& event) = 0;

    // ---- threads ----
    // Memory fences have their semantics and scope in the instruction.
    virtual void fence(const Warp&, const Inst&, Fence, LaneMask) {}
    // bar.warp.sync of `members` is complete, for the lanes named first.
    virtual void warp_sync(const Warp&, LaneMask, LaneMask /*members*/) {}
    virtual void exited(const Warp&, LaneMask) {}

    // ---- barriers ----
    // waits: bar.sync and bar.red, not bar.arrive. An arrival comes before the completion it brings.
    virtual void barrier_arrive(const Warp&, uint32_t /*index*/, LaneMask, bool /*waits*/) {}
    // everybody: the barrier has no thread count, so that threads that ended count as arrived.
    virtual void barrier_complete(const Block&, uint32_t /*index*/, bool /*everybody*/) {}
    virtual void cluster_arrive(const Warp&, LaneMask, bool /*release*/) {}
    virtual void cluster_complete(const Cluster&) {}
    virtual void cluster_wait(const Warp&, LaneMask) {}
    virtual void mbarrier(const MbarrierEvent&) {}

    // ---- asynchronous operations ----
    virtual void issued(const Warp&, const AsyncOperation&) {}
    virtual void joined(const Warp&, const AsyncOperation&) {}  // a warp of the warpgroup, to a wgmma
    virtual void performed(const Cluster&, const AsyncOperation&) {}
    // parties: as in GroupWait, whose first three members say who commits.
    virtual void committed(const Warp&, const GroupWait& /*who*/) {}
    virtual void waited(const Warp&, const GroupWait&) {}

    virtual void cluster_ended(const Cluster&) {}
};

}  // namespace ww::machine

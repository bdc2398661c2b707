// SPDX-License-Identifier: Apache-2.0
// A warp: 32 lanes with structure-of-arrays registers, split where lanes diverged. This is what
// semantic functions act on; who runs next is the scheduler's business (src/emulator).
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "machine/constants.hpp"
#include "machine/events.hpp"
#include "machine/inst.hpp"
#include "machine/memory.hpp"
#include "machine/types.hpp"

namespace ww::machine {

class Block;
struct Grid;

constexpr uint32_t kWarpsOfBlock = 32;  // at most

// One function activation. Register rows are private to it, so that lanes in different functions
// never share a row.
struct Frame {
    uint32_t function = 0;     // index in the program
    uint32_t return_pc = 0;    // where the caller goes on
    uint32_t call_inst = 0;    // index of the call instruction, for copying results back
    uint32_t local_base = 0;   // bytes from the start of each lane's local memory
    uint32_t depth = 0;        // calls above it: 0 for the kernel
    std::vector<uint8_t> registers;
    std::shared_ptr<Frame> caller;
};

// The units that work for threads in the background, each with commit and wait groups of its own:
// copy is cp.async, bulk is cp.async.bulk, mma is wgmma.
enum class Unit : uint8_t { copy, bulk, mma };

// "All but the newest `keep` groups are complete." A party is a lane of the warp; for mma it is a
// warp of the warpgroup, whose first warp is `warp`.
struct GroupWait {
    Unit unit = Unit::copy;
    uint32_t warp = 0;
    uint32_t parties = 0;     // one bit each
    uint32_t keep = 0;
    bool reads_only = false;  // of bulk: sources have been read, destinations may not be written yet
};

// Why a split cannot run. The scheduler asks; a deadlock report prints it.
// poll: it can run, but what it asked for was not so; others first.
struct Wait {
    enum class Kind : uint8_t { none, barrier, cluster, lanes, group, mbarrier, poll };
    Kind kind = Kind::none;
    uint32_t barrier = 0;      // barrier: its index
    uint64_t generation = 0;   // barrier, cluster: released when the barrier's generation is greater
    LaneMask lanes = 0;        // lanes: the members it waits for
    GroupWait group;           // group: of asynchronous operations
    uint32_t mbarrier = 0;     // mbarrier, poll: its offset in the own block's shared memory
    bool parity = false;       // mbarrier, poll: of the phase that must complete
};

// What a completed barrier phase says of its predicates, for bar.red.
struct BarrierOutcome {
    uint32_t count = 0;
    bool all = false, any = false;
};

// Lanes of a warp that share a program counter.
struct Split {
    uint32_t pc = 0;
    LaneMask mask = 0;
    std::shared_ptr<Frame> frame;
    Wait wait;
    bool resumed = false;  // the instruction at pc already arrived once and was then released
    BarrierOutcome outcome;  // resumed at a barrier: of the phase it waited for
    uint64_t since = 0;      // Warp::executed when it was set aside
};

// Values that lanes publish to each other when a .sync instruction is reached at different times.
struct Exchange {
    LaneMask members = 0, published = 0, consumed = 0;
    Run operation = nullptr;
    uint64_t aux = 0;
    std::array<std::array<uint32_t, kLanes>, 3> values{};
};

// A byte of shared memory within a cluster: rank of the block, offset in it.
constexpr uint32_t kRankShift = 24;
constexpr uint32_t cluster_offset(uint32_t rank, uint64_t offset) {
    return rank << kRankShift | static_cast<uint32_t>(offset);
}
// An address in .shared::cluster: that of a block's own memory is the offset, that of block `rank`
// (mapa) has rank + 1 above it.
constexpr uint64_t cluster_address(uint32_t rank, uint64_t offset) {
    return (uint64_t{rank} + 1) << kRankShift | offset;
}

// Bytes of shared or global memory, checked against their region.
struct MemoryRange {
    const Region* region = nullptr;
    uint64_t offset = 0;  // in the region
    uint64_t bytes = 0;
    Space space = Space::global;
    uint32_t rank = 0;    // of shared memory: of its block
    bool remote = false;  // of shared memory: of another block of the cluster
    uint8_t* data() const { return region->data + offset; }
    uint8_t* valid() const { return region->valid ? region->valid + offset : nullptr; }
    uint32_t in_cluster() const { return cluster_offset(rank, offset); }
    uint64_t generic() const {
        if (remote) return cluster_address(rank, offset) + window_of(space);
        return region->base + offset + window_of(space);
    }
};

class Warp {
  public:
    Block* block = nullptr;
    uint32_t id = 0;          // within the block
    uint32_t key = 0;         // within the cluster: rank of the block * kWarpsOfBlock + id
    LaneMask exited = 0;      // lanes that do not exist or have ended
    LaneMask carry = 0;       // condition code CC.CF, one bit a lane

    // The split that is running now, unpacked.
    LaneMask mask = 0;        // its lanes
    LaneMask active = 0;      // lanes that execute this instruction (mask and guard)
    uint32_t pc = 0, next_pc = 0;
    bool resumed = false;
    BarrierOutcome outcome;   // resumed at a barrier
    Wait wait;                // set by an instruction that has to wait; see wait_here()
    std::shared_ptr<Frame> frame;
    std::vector<Split> parked;  // the other splits
    std::vector<Exchange> exchanges;

    uint8_t* registers = nullptr;        // frame->registers.data()
    const uint8_t* constants = nullptr;  // ConstantPool of the program
    Grid* grid = nullptr;
    EventSink* sink = nullptr;
    std::array<std::array<uint32_t, kLanes>, 3> tid{};  // x, y, z
    uint8_t* local_data = nullptr;   // local_bytes for lane 0, then lane 1, ...
    uint8_t* local_valid = nullptr;
    uint64_t local_bytes = 0;        // per lane
    const Region* last_global = nullptr;  // where the last global access went
    uint64_t executed = 0, lane_executed = 0;  // instructions issued; lanes summed over them

    // ---- operands ----
    // A source operand as 32 values of T: the register itself, or converted into scratch.
    template <class T>
    const T* in(const Operand& operand, T* scratch) const {
        if (operand.bank == Bank::regs && operand.width == sizeof(T))
            return reinterpret_cast<const T*>(registers + operand.offset);
        if (operand.bank == Bank::constants)
            return reinterpret_cast<const T*>(constants + operand.offset +
                                              ConstantPool::offset_of_width(sizeof(T)));
        read_slow(operand, scratch, sizeof(T));
        return scratch;
    }
    // Where 32 results of T go: the register itself when every lane writes, else scratch; call
    // commit afterwards. T's signedness decides how a wider register is filled.
    template <class T>
    T* out(const Operand& operand, T* scratch) const {
        const bool direct = active == kAllLanes && operand.bank == Bank::regs && operand.width == sizeof(T);
        return direct ? reinterpret_cast<T*>(registers + operand.offset) : scratch;
    }
    template <class T>
    void commit(const Operand& operand, const T* result, const T* scratch) {
        if (result != scratch) return;
        if (operand.bank == Bank::regs && operand.width == sizeof(T)) {
            T* to = reinterpret_cast<T*>(registers + operand.offset);
            for (int i = 0; i < kLanes; ++i) to[i] = (active >> i & 1) ? result[i] : to[i];
        } else {
            write_slow(operand, result, sizeof(T), T(-1) < T(0));
        }
    }
    LaneMask predicate(const Operand& operand) const {
        LaneMask bits = 0;
        if (operand.bank == Bank::regs) std::memcpy(&bits, registers + operand.offset, sizeof bits);
        else if (operand.bank == Bank::immediate_pred) bits = operand.offset ? kAllLanes : 0;
        return operand.negated ? ~bits : bits;
    }
    void set_predicate(const Operand& operand, LaneMask bits) {
        if (operand.bank != Bank::regs) return;  // the sink '_'
        LaneMask old = 0;
        std::memcpy(&old, registers + operand.offset, sizeof old);
        bits = (bits & active) | (old & ~active);
        std::memcpy(registers + operand.offset, &bits, sizeof bits);
    }
    // Base plus displacement of an address operand, per lane, in the space's own numbering.
    void addresses(const Arg& arg, uint64_t* out) const;

    // ---- memory ----
    // Checks the access of every active lane (bounds, alignment, validity for reads, read-only)
    // and gives host pointers; writes become valid. bytes: 1, 2, 4, 8, 16 or 32. A fault throws.
    // Inactive lanes' pointers are null.
    void access(const Inst& inst, Space space, const uint64_t* address, uint32_t bytes, Access kind,
                uint8_t** pointer);
    // The common case of access, in one piece: when all 32 lanes take part and their addresses step
    // by `bytes`, the host pointer of the first, checked for all. Null: use access. Atomics and
    // observed accesses always give null.
    uint8_t* access_row(Space space, const uint64_t* address, uint32_t bytes, Access kind) {
        return sink ? nullptr : row(space, address, bytes, kind);
    }
    // One lane, any size and alignment 1: for strings and parameters.
    uint8_t* access_lane(Space space, uint64_t address, uint64_t bytes, Access kind, int lane);
    // One lane's memory, of shared or global, that an asynchronous operation will access: bounds,
    // alignment and read-only are checked now, validity when the bytes are read.
    MemoryRange range(Space space, uint64_t address, uint64_t bytes, uint32_t align, Access kind, int lane);

    // ---- control ----
    LaneMask alive() const { return ~exited; }
    bool diverged() const { return !parked.empty(); }
    // Lanes that the caller takes out of the running split go on at `where` when their turn comes.
    void park(LaneMask lanes, uint32_t where) {
        parked.push_back(Split{.pc = where, .mask = lanes, .frame = frame, .wait = {}, .since = executed});
    }
    // Lanes in taken go to target, the other lanes of the split go on.
    void branch(LaneMask taken, uint32_t target);
    // Per-lane targets (brx.idx, indirect calls): active lanes are regrouped by target.
    void branch_each(const uint32_t* target);
    void exit_lanes(LaneMask lanes);
    // Run this instruction again when the wait is over; `resumed` is then true.
    void wait_here(const Wait& reason) {
        wait = reason;
        next_pc = pc;
    }
    // The instruction is done and gave a negative answer; the scheduler runs others before the next.
    void poll(uint32_t mbarrier, bool parity) {
        wait = {.kind = Wait::Kind::poll, .mbarrier = mbarrier, .parity = parity};
    }
    // For .sync instructions. members: the mask as the program names it; lanes that ended count as
    // present. values[0..count): own lanes' values on entry, all members' on return.
    // False: not everybody is here yet; the caller returns and is run again later.
    bool gather(const Inst& inst, LaneMask members, uint32_t (*values)[kLanes], int count);
    // For .aligned instructions: true when all live lanes of the warp execute it together.
    bool converged();

    void read_slow(const Operand& operand, void* out, int bytes) const;
    void write_slow(const Operand& operand, const void* values, int bytes, bool is_signed);

  private:
    uint8_t* row(Space space, const uint64_t* address, uint32_t bytes, Access kind);
    void notify(const Inst& inst, Space space, const uint64_t* address, uint32_t bytes, Access kind) const;
};

// How an asynchronous operation reaches memory: on behalf of one lane, with validity checked and
// observers told who it really is.
struct AsyncAccess {
    Warp& warp;
    const Inst& inst;
    Agent agent;
    uint64_t operation;
    int lane;
    void read(const MemoryRange& range, void* to) const;
    void write(const MemoryRange& range, const void* from) const;
    // All of it has been written; for reductions, which change bytes in place.
    void check(const MemoryRange& range, Access kind) const;
    void notify(const MemoryRange& range, Access kind) const;
    // Of several pieces of one size at once, by generic address.
    void notify(std::span<const uint64_t> pieces, uint32_t bytes, Access kind) const;
};

}  // namespace ww::machine

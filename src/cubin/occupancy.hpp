// SPDX-License-Identifier: Apache-2.0
// How many blocks of a kernel fit one SM, what limits that, and how far the next block is. By
// arithmetic over published limits: no device is asked, and clusters and L1's share are not looked
// at (a cluster needs its blocks' SMs free at once; shared memory gets its largest carve-out).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ww::cubin {

// Of one compute capability. Registers are 32 bits; a warp has 32 threads.
struct SmLimits {
    int sm = 0;  // 90 for 9.0
    int threads_per_sm = 0, blocks_per_sm = 0;
    int64_t shared_per_sm = 0;    // bytes, at the largest carve-out
    int64_t shared_reserved = 0;  // of each block, the system's
    int shared_unit = 0;          // a block's bytes are rounded up to it
    int barriers_per_sm = 0;      // named barriers of all blocks; 0: no limit below blocks_per_sm's
    int threads_per_block = 1024;
    int registers_per_sm = 65536, registers_per_block = 65536;
    int registers_per_thread = 255;
    int register_unit = 256;  // a warp's registers are rounded up to it
    int partitions = 4;  // of an SM, each with its share of registers: warps of a block count in
                         // multiples of it

    // Most that one block may ask for (static and dynamic), by cudaFuncSetAttribute where needed.
    int64_t shared_per_block() const { return shared_per_sm - shared_reserved; }
};

// Every compute capability that occupancy() knows, ascending.
std::span<const SmLimits> sm_limits();

// What a launch takes.
struct LaunchShape {
    int threads = 0;            // of a block
    int registers = 0;          // of a thread
    uint64_t shared_bytes = 0;  // of a block: static and dynamic, without the system's part
    int barriers = 1;           // named barriers of a block
};

enum class Limiter { registers, shared_memory, warps, blocks, barriers };
std::string_view limiter_name(Limiter limiter);

// Blocks per SM that registers admit, over the range of registers per thread that ends here.
struct RegisterStep {
    int registers = 0;  // most per thread
    int blocks = 0;     // by all limits together
    int warps = 0;
};

struct Occupancy {
    int blocks = 0;  // per SM; 0: the launch does not fit at all
    int warps_per_block = 0, warps = 0, max_warps = 0;
    double share = 0;  // warps / max_warps
    // Blocks per SM that each resource alone admits; kNoLimit where it is not used.
    int by_registers = 0, by_shared_memory = 0, by_warps = 0, by_blocks = 0, by_barriers = 0;
    std::vector<Limiter> limiters;  // those that admit no more than blocks

    // The cliffs below: what keeps `blocks` (0 blocks: nothing does, and these are -1).
    int registers_kept = -1;   // most registers per thread
    int64_t shared_kept = -1;  // most shared bytes of a block
    // The cliffs above: what blocks + 1 would take of each resource, whatever the others say; -1:
    // no value is low enough. Both must hold, and next_possible: warps, blocks and barriers admit
    // it.
    bool next_possible = false;
    int registers_next = -1;
    int64_t shared_next = -1;
    std::vector<RegisterStep> register_steps;  // descending from the most registers per thread
};

inline constexpr int kNoLimit = 2147483647;

// An architecture without a row, and a shape that no launch can have, are Diagnostics.
Result<Occupancy> occupancy(int sm, const LaunchShape& shape);

}  // namespace ww::cubin

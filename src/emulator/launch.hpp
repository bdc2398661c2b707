// SPDX-License-Identifier: Apache-2.0
// One launch: blocks over host threads, budget, printf, faults turned into diagnostics.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.hpp"
#include "emulator/decode.hpp"
#include "machine/block.hpp"

namespace ww::emulator {

struct Standing;

struct LaunchOptions {
    machine::Coordinates grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
    uint32_t dynamic_shared_bytes = 0;
    bool cooperative = false;  // all blocks are begun before any waits for the others
    uint32_t threads = 0;      // host threads; 0: one a core
    uint64_t budget = 0;       // warp instructions of the launch; 0: 2^36
    uint32_t stack_bytes = 16384;  // per thread, for kernels with recursion or indirect calls
    bool unordered_float_atomics = false;
    uint32_t max_shared_bytes = 227 * 1024;  // of a block, static and dynamic together
    AsyncPolicy async;
    SchedulePolicy schedule;
    // Shared memory that nobody wrote: a fault to read, or as on a GPU whatever is there: bytes 0xff,
    // which are NaN in most formats.
    bool garbage_in_shared = false;
    // Runs this code in place of the program's (RegisterWatch); null: the program's.
    const machine::Inst* code = nullptr;
    machine::EventSink* sink = nullptr;  // then one host thread runs the blocks in order
    // Where it is told how the warps stand, when the launch fails because they cannot go on.
    std::shared_ptr<const Standing>* standing = nullptr;
};

struct LaunchResult {
    uint64_t lane_instructions = 0;
    std::string printf_output;  // in block order
};

constexpr uint32_t kMaxBlockThreads = 1024;

// The sizes of a launch against the limits of the machine and of the kernel; launch() asks first.
Status check_launch(const Kernel& kernel, const LaunchOptions& options);

// params: the parameter buffer, laid out as kernel.params says.
Result<LaunchResult> launch(const Kernel& kernel, machine::GlobalMemory& global, machine::Region constant,
                            std::span<const std::byte> params, const LaunchOptions& options);

}  // namespace ww::emulator

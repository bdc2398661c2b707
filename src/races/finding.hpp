// SPDX-License-Identifier: Apache-2.0
// What the race checker found: two accesses and what is missing between them. Places are
// instruction numbers; who knows the program makes text of them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/race_level.hpp"
#include "machine/block.hpp"

namespace ww::races {

// docs/memory_model.md has a section for each.
enum class Rule : uint8_t {
    unordered,        // nothing orders two accesses, at least one of them a write
    scope,            // both are strong, but their scopes do not include each other
    mixed_proxies,    // both are strong, through different proxies
    no_proxy_fence,   // a write through the generic proxy, then a read through the async proxy
    fence_elsewhere,  // the same, and some other thread has a fence
    async_overwrite,  // a write through the generic proxy, then a write through the async proxy
    async_write_after_own_read,  // a read through the generic proxy, then a write through the async proxy that the same warp issued
    async_write_after_read,      // the same of other warps, or with a barrier between
    block_ended,  // shared memory of a block that may have ended
    mbarrier_scope,          // an arrival of another block and the wait for it, one of them of scope .cta
    register_in_flight,    // an accumulator, before wgmma.wait_group
    fragment_overwritten,  // a fragment of A, before wgmma.wait_group
    no_wgmma_fence,        // a register that a thread wrote, or an accumulator that it read, then wgmma; the first wgmma
    one_instruction,  // lanes of one instruction write to one place
};
std::string_view name(Rule rule);
RaceLevel level_of(Rule rule);
bool is_of_registers(Rule rule);

// One of the two.
struct Side {
    enum class By : uint8_t { thread, copy, bulk, mma };
    By by = By::thread;       // else: the unit that works for the thread
    uint32_t inst = 0;
    machine::Coordinates block{}, thread{};
    uint32_t warp = 0;        // of its block
    uint64_t cluster = 0;     // index
    bool write = false, atomic = false, strong = false;
    bool end = false;         // of its block, which is no access
    machine::Scope scope = machine::Scope::cta;
};

struct Finding {
    Rule rule = Rule::unordered;
    Side first, second;
    machine::Space space = machine::Space::shared;
    machine::Coordinates owner{};  // shared memory: the block whose it is
    uint64_t address = 0;          // of global memory; else the offset; of the rules on registers: the number
    uint64_t bytes = 0;            // accessed by both
    bool known_to_some = false;    // wgmma: one of its warps knew of the first access
    uint64_t count = 0;            // of pieces of memory, for this pair of instructions
};

// "no bar.sync, mbarrier or other barrier orders them"
std::string missing(const Finding& finding);

}  // namespace ww::races

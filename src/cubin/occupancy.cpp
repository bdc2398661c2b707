// SPDX-License-Identifier: Apache-2.0
// Limits by compute capability, and the arithmetic on them.
#include "cubin/occupancy.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ww::cubin {
namespace {

constexpr int kWarp = 32;
constexpr int64_t kKiB = 1024;

// Threads, blocks, registers and shared memory: CUDA Programming Guide, "Technical Specifications
// per Compute Capability" (8.8 and 12.1 have no column of their own there: the occupancy
// calculator, cuda_occupancy.h of CUDA 13.0, treats them as 8.6 and 12.0). Shared memory that is
// reserved of each block: the same guide, on 8.x and later. Units of allocation, partitions and
// barriers: the occupancy calculator, which counts barriers from 9.0 on.
// clang-format off
constexpr SmLimits kLimits[] = {
    //  sm  threads blocks  shared         reserved unit barriers
    {   75,  1024,  16,      64 * kKiB,       0,    256,  0},
    {   80,  2048,  32,     164 * kKiB,    1024,    128,  0},
    {   86,  1536,  16,     100 * kKiB,    1024,    128,  0},
    {   87,  1536,  16,     164 * kKiB,    1024,    128,  0},
    {   88,  1536,  16,     100 * kKiB,    1024,    128,  0},
    {   89,  1536,  24,     100 * kKiB,    1024,    128,  0},
    {   90,  2048,  32,     228 * kKiB,    1024,    128, 64},
    {  100,  2048,  32,     228 * kKiB,    1024,    128, 64},
    {  103,  2048,  32,     228 * kKiB,    1024,    128, 64},
    {  110,  1536,  24,     228 * kKiB,    1024,    128, 24},
    {  120,  1536,  24,     100 * kKiB,    1024,    128, 24},
    {  121,  1536,  24,     100 * kKiB,    1024,    128, 24},
};
// clang-format on

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

Result<SmLimits> limits_of(int sm) {
    std::string known;
    for (const SmLimits& limits : kLimits) {
        if (limits.sm == sm) return limits;
        known += fmt::format("{}sm_{}", known.empty() ? "" : ", ", limits.sm);
    }
    return fail(fmt::format("the limits of sm_{} are not known; known are {}", sm, known));
}

// A warp's registers lie in one partition of the SM, so warps count per partition.
int blocks_by_registers(const SmLimits& limits, int registers, int warps_per_block) {
    if (registers == 0) return kNoLimit;
    const int64_t per_warp = round_up(int64_t{registers} * kWarp, limits.register_unit);
    // A launch is checked as if its warps filled all partitions evenly.
    if (per_warp * round_up(warps_per_block, limits.partitions) > limits.registers_per_block)
        return 0;
    const int64_t warps =
        limits.registers_per_sm / limits.partitions / per_warp * limits.partitions;
    return static_cast<int>(warps / warps_per_block);
}

int blocks_by_shared(const SmLimits& limits, uint64_t bytes) {
    if (bytes > static_cast<uint64_t>(limits.shared_per_block())) return 0;
    const int64_t taken =
        round_up(static_cast<int64_t>(bytes) + limits.shared_reserved, limits.shared_unit);
    if (taken == 0) return kNoLimit;
    return static_cast<int>(limits.shared_per_sm / taken);
}

// Most registers per thread with which that many blocks fit; -1: none, however few.
int most_registers(const SmLimits& limits, int warps_per_block, int blocks) {
    for (int registers = limits.registers_per_thread; registers > 0; --registers)
        if (blocks_by_registers(limits, registers, warps_per_block) >= blocks) return registers;
    return -1;
}

int64_t most_shared(const SmLimits& limits, int blocks) {
    const int64_t taken = limits.shared_per_sm / blocks / limits.shared_unit * limits.shared_unit;
    return std::max<int64_t>(-1,
                             std::min(taken - limits.shared_reserved, limits.shared_per_block()));
}

Status check_shape(const SmLimits& limits, const LaunchShape& shape) {
    if (shape.threads < 1 || shape.threads > limits.threads_per_block)
        return fail(fmt::format("a block of {} threads: sm_{} launches 1 to {}", shape.threads,
                                limits.sm, limits.threads_per_block));
    if (shape.registers < 0 || shape.registers > limits.registers_per_thread)
        return fail(fmt::format("{} registers per thread: sm_{} has 0 to {}", shape.registers,
                                limits.sm, limits.registers_per_thread));
    if (shape.barriers < 0 || shape.barriers > 16)
        return fail(fmt::format("{} named barriers: a block has 0 to 16", shape.barriers));
    return ok();
}

int other_blocks(const Occupancy& occupancy) {
    return std::min({occupancy.by_warps, occupancy.by_blocks, occupancy.by_barriers});
}

void find_cliffs(const SmLimits& limits, Occupancy& result) {
    if (result.blocks > 0) {
        result.registers_kept = most_registers(limits, result.warps_per_block, result.blocks);
        result.shared_kept = most_shared(limits, result.blocks);
    }
    const int next = result.blocks + 1;
    result.next_possible = other_blocks(result) >= next;
    result.registers_next = most_registers(limits, result.warps_per_block, next);
    result.shared_next = most_shared(limits, next);
    for (int registers = limits.registers_per_thread; registers > 0; --registers) {
        const int blocks = std::min({blocks_by_registers(limits, registers, result.warps_per_block),
                                     result.by_shared_memory, other_blocks(result)});
        if (result.register_steps.empty() || result.register_steps.back().blocks != blocks)
            result.register_steps.push_back({.registers = registers,
                                             .blocks = blocks,
                                             .warps = blocks * result.warps_per_block});
    }
}

}  // namespace

std::span<const SmLimits> sm_limits() { return kLimits; }

std::string_view limiter_name(Limiter limiter) {
    switch (limiter) {
        case Limiter::registers:
            return "registers";
        case Limiter::shared_memory:
            return "shared memory";
        case Limiter::warps:
            return "warps";
        case Limiter::blocks:
            return "blocks";
        case Limiter::barriers:
            return "barriers";
    }
    return "";
}

Result<Occupancy> occupancy(int sm, const LaunchShape& shape) {
    WW_TRY(limits, limits_of(sm));
    WW_TRY(checked, check_shape(limits, shape));
    (void)checked;
    Occupancy result;
    result.warps_per_block = (shape.threads + kWarp - 1) / kWarp;
    result.max_warps = limits.threads_per_sm / kWarp;
    result.by_registers = blocks_by_registers(limits, shape.registers, result.warps_per_block);
    result.by_shared_memory = blocks_by_shared(limits, shape.shared_bytes);
    result.by_warps = result.max_warps / result.warps_per_block;
    result.by_blocks = limits.blocks_per_sm;
    result.by_barriers = limits.barriers_per_sm == 0 || shape.barriers == 0
                             ? kNoLimit
                             : limits.barriers_per_sm / shape.barriers;
    result.blocks = std::min({result.by_registers, result.by_shared_memory, other_blocks(result)});
    result.warps = result.blocks * result.warps_per_block;
    result.share = static_cast<double>(result.warps) / result.max_warps;
    const std::pair<Limiter, int> limiters[] = {{Limiter::registers, result.by_registers},
                                                {Limiter::shared_memory, result.by_shared_memory},
                                                {Limiter::warps, result.by_warps},
                                                {Limiter::blocks, result.by_blocks},
                                                {Limiter::barriers, result.by_barriers}};
    for (const auto& [limiter, blocks] : limiters)
        if (blocks == result.blocks) result.limiters.push_back(limiter);
    find_cliffs(limits, result);
    return result;
}

}  // namespace ww::cubin

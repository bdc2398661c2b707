// SPDX-License-Identifier: Apache-2.0
#include "cubin/occupancy.hpp"

#include <gtest/gtest.h>

#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>
#define WW_HAS_CUDA_OCCUPANCY 1
#endif

namespace ww::cubin {
namespace {

std::string names(const Occupancy& occupancy) {
    std::string text;
    for (const Limiter limiter : occupancy.limiters)
        text += (text.empty() ? "" : ", ") + std::string(limiter_name(limiter));
    return text;
}

// 168 registers, 384 threads and 200 KB: a Hopper attention kernel, one block per SM.
TEST(Occupancy, AnAttentionKernelOnHopper) {
    const auto found =
        occupancy(90, {.threads = 384, .registers = 168, .shared_bytes = 200 * 1024});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->blocks, 1);
    EXPECT_EQ(found->warps, 12);
    EXPECT_EQ(found->max_warps, 64);
    EXPECT_DOUBLE_EQ(found->share, 12.0 / 64);
    EXPECT_EQ(names(*found), "registers, shared memory");
    EXPECT_EQ(found->registers_kept, 168);  // 12 warps x 5376 = 64512 of 65536
    EXPECT_EQ(found->shared_kept, 227 * 1024);
    EXPECT_TRUE(found->next_possible);
    EXPECT_EQ(found->registers_next, 80);       // 24 warps: 6 of a partition, 2560 each
    EXPECT_EQ(found->shared_next, 113 * 1024);  // half of 228 KiB, less the system's 1 KiB
}

TEST(Occupancy, NoBlockFits) {
    const auto found = occupancy(90, {.threads = 1024, .registers = 65});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->blocks, 0);
    EXPECT_EQ(names(*found), "registers");
    EXPECT_EQ(found->registers_kept, -1);
    EXPECT_EQ(found->shared_kept, -1);
    EXPECT_EQ(found->registers_next, 64);
    EXPECT_EQ(found->shared_next, 227 * 1024);
    EXPECT_TRUE(found->next_possible);
    const auto shared =
        occupancy(120, {.threads = 128, .registers = 32, .shared_bytes = 99 * 1024 + 1});
    ASSERT_TRUE(shared);
    EXPECT_EQ(shared->blocks, 0);
    EXPECT_EQ(names(*shared), "shared memory");
}

TEST(Occupancy, WarpsLimitAndNothingHelps) {
    const auto found = occupancy(120, {.threads = 1024, .registers = 32});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->blocks, 1);
    EXPECT_EQ(names(*found), "warps");
    EXPECT_FALSE(found->next_possible);
    EXPECT_EQ(found->registers_kept, 64);
}

TEST(Occupancy, NamedBarriersLimitFromHopperOn) {
    const auto hopper = occupancy(90, {.threads = 128, .registers = 32, .barriers = 16});
    ASSERT_TRUE(hopper);
    EXPECT_EQ(hopper->blocks, 4);
    EXPECT_EQ(names(*hopper), "barriers");
    EXPECT_FALSE(hopper->next_possible);
    const auto ampere = occupancy(80, {.threads = 128, .registers = 32, .barriers = 16});
    ASSERT_TRUE(ampere);
    EXPECT_EQ(ampere->blocks, 16);
}

// The steps say for every number of registers what the calculation says for it.
TEST(Occupancy, RegisterStepsAgreeWithTheCalculation) {
    for (const SmLimits& limits : sm_limits())
        for (const int threads : {32, 96, 256, 384, 1024}) {
            const LaunchShape shape{.threads = threads, .registers = 1, .shared_bytes = 9000};
            const auto one = occupancy(limits.sm, shape);
            ASSERT_TRUE(one);
            const auto& steps = one->register_steps;
            ASSERT_FALSE(steps.empty());
            EXPECT_EQ(steps.front().registers, 255);
            for (int registers = 1; registers <= 255; ++registers) {
                LaunchShape other = shape;
                other.registers = registers;
                size_t i = 0;  // the step is the last one that admits as many registers
                while (i + 1 < steps.size() && steps[i + 1].registers >= registers) ++i;
                const auto found = occupancy(limits.sm, other);
                ASSERT_TRUE(found);
                EXPECT_EQ(found->blocks, steps[i].blocks) << limits.sm << ' ' << registers;
                EXPECT_EQ(found->warps, steps[i].warps);
            }
        }
}

// A cliff is where the calculation itself changes: at the value it stays, one further it does not.
TEST(Occupancy, CliffsAreWhereTheAnswerChanges) {
    for (const SmLimits& limits : sm_limits())
        for (const int threads : {64, 160, 384, 768})
            for (const int registers : {24, 72, 168})
                for (const uint64_t shared : {0, 12000, 40000}) {
                    const LaunchShape shape{threads, registers, shared};
                    const auto found = occupancy(limits.sm, shape);
                    ASSERT_TRUE(found);
                    if (found->blocks == 0) continue;
                    const auto with = [&](int r, int64_t s) {
                        return occupancy(limits.sm, {threads, r, static_cast<uint64_t>(s)})->blocks;
                    };
                    const auto at = testing::Message() << limits.sm << ' ' << threads << ' '
                                                       << registers << ' ' << shared;
                    EXPECT_EQ(with(found->registers_kept, found->shared_kept), found->blocks) << at;
                    if (found->registers_kept < 255) {
                        EXPECT_LT(with(found->registers_kept + 1, shared), found->blocks) << at;
                    }
                    EXPECT_LT(with(registers, found->shared_kept + 1), found->blocks) << at;
                    if (!found->next_possible) continue;
                    EXPECT_GT(with(found->registers_next, found->shared_next), found->blocks) << at;
                    if (found->registers_next < 255) {
                        EXPECT_LE(with(found->registers_next + 1, 0), found->blocks) << at;
                    }
                    EXPECT_LE(with(1, found->shared_next + 1), found->blocks) << at;
                }
}

TEST(Occupancy, WhatNoLaunchCanBe) {
    const auto message = [](const Result<Occupancy>& result) {
        return result ? "" : result.error()[0].message;
    };
    EXPECT_EQ(message(occupancy(61, {.threads = 32, .registers = 8})),
              "the limits of sm_61 are not known; known are sm_75, sm_80, sm_86, sm_87, sm_88, "
              "sm_89, sm_90, sm_100, sm_103, sm_110, sm_120, sm_121");
    EXPECT_EQ(message(occupancy(90, {.threads = 0})),
              "a block of 0 threads: sm_90 launches 1 to 1024");
    EXPECT_EQ(message(occupancy(90, {.threads = 1025})),
              "a block of 1025 threads: sm_90 launches 1 to 1024");
    EXPECT_EQ(message(occupancy(90, {.threads = 32, .registers = 256})),
              "256 registers per thread: sm_90 has 0 to 255");
    EXPECT_EQ(message(occupancy(90, {.threads = 32, .registers = 8, .barriers = 17})),
              "17 named barriers: a block has 0 to 16");
}

#ifdef WW_HAS_CUDA_OCCUPANCY
cudaOccDeviceProp device_of(const SmLimits& limits) {
    cudaOccDeviceProp device;
    device.computeMajor = limits.sm / 10;
    device.computeMinor = limits.sm % 10;
    device.maxThreadsPerBlock = limits.threads_per_block;
    device.maxThreadsPerMultiprocessor = limits.threads_per_sm;
    device.regsPerBlock = limits.registers_per_block;
    device.regsPerMultiprocessor = limits.registers_per_sm;
    device.warpSize = 32;
    device.sharedMemPerBlock = 48 * 1024;
    device.sharedMemPerMultiprocessor = static_cast<size_t>(limits.shared_per_sm);
    device.sharedMemPerBlockOptin = static_cast<size_t>(limits.shared_per_block());
    device.reservedSharedMemPerBlock = static_cast<size_t>(limits.shared_reserved);
    device.numSms = 100;
    return device;
}

void compare(const SmLimits& limits, const LaunchShape& shape) {
    cudaOccFuncAttributes function;
    function.maxThreadsPerBlock = 1024;
    function.numRegs = shape.registers;
    function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    function.maxDynamicSharedSizeBytes = shape.shared_bytes;
    function.numBlockBarriers = shape.barriers;
    const cudaOccDeviceProp device = device_of(limits);
    const cudaOccDeviceState state;
    cudaOccResult want;
    ASSERT_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&want, &device, &function, &state,
                                                      shape.threads, shape.shared_bytes),
              CUDA_OCC_SUCCESS);
    const auto found = occupancy(limits.sm, shape);
    ASSERT_TRUE(found);
    const auto at = testing::Message() << "sm_" << limits.sm << ' ' << shape.threads << " threads "
                                       << shape.registers << " registers " << shape.shared_bytes
                                       << " bytes " << shape.barriers << " barriers";
    ASSERT_EQ(found->blocks, want.activeBlocksPerMultiprocessor) << at;
    ASSERT_EQ(found->by_registers, want.blockLimitRegs) << at;
    ASSERT_EQ(found->by_shared_memory, want.blockLimitSharedMem) << at;
    ASSERT_EQ(found->by_warps, want.blockLimitWarps) << at;
    ASSERT_EQ(found->by_blocks, want.blockLimitBlocks) << at;
    ASSERT_EQ(found->by_barriers, want.blockLimitBarriers) << at;
}

TEST(Occupancy, AgreesWithTheCudaOccupancyCalculator) {
    for (const SmLimits& limits : sm_limits())
        for (int threads = 1; threads <= 1024; threads += threads < 32 ? 31 : 32)
            for (int registers = 0; registers <= 255; registers += registers < 16 ? 1 : 11)
                for (const uint64_t shared :
                     {0, 1, 100, 1024, 5000, 16384, 31 * 1024, 49152, 49153, 65536,
                      100 * 1024 - 1024, 100 * 1024 - 1023, 113 * 1024, 113 * 1024 + 1, 227 * 1024,
                      227 * 1024 + 1})
                    compare(limits, {threads, registers, shared, threads % 17});
}
#else
TEST(Occupancy, AgreesWithTheCudaOccupancyCalculator) {
    GTEST_SKIP() << "cuda_occupancy.h was not found when this test was built";
}
#endif

}  // namespace
}  // namespace ww::cubin

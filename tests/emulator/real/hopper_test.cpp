// SPDX-License-Identifier: Apache-2.0
// Warp-specialised Hopper GEMMs, compiled by NVRTC, under every policy, with and without the race
// checker. Skipped without NVRTC.
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/policy.hpp"
#include "device/device.hpp"
#include "hopper_problem.hpp"
#include "toolchain/found.hpp"
#include "toolchain/toolchain.hpp"

namespace ww::emulator_test {
namespace {

TEST(HopperGemm, EveryPolicyGivesTheProductWithoutARace) {
    for (const char* part : {"nvrtc", "headers"})
        if (toolchain::find_part(part).origin == toolchain::Origin::missing) GTEST_SKIP() << part << " is not on this machine";
    const hopper::Problem p = hopper::problem();
    for (const hopper::Kernel& kernel : {hopper::kRing, hopper::kCluster}) {
        const std::string path = std::string(WW_SOURCE_DIR "/tests/emulator/real/") + kernel.file;
        const auto source = read_file(path);
        ASSERT_TRUE(source);
        const auto compiled = toolchain::compile_ptx({.source = *source, .name = path, .target = "sm_90a", .include_dirs = toolchain::cuda_include_dirs()});
        ASSERT_TRUE(compiled) << format(compiled.error());
        for (const char* async : {"eager", "lazy", "random:1", "random:2"})
            for (const char* schedule : {"fair", "random:5"})
                for (const bool races : {false, true}) {
                    const auto device = device::open_emulated({.threads = 2,
                                                               .instruction_budget = 100'000'000,
                                                               .async = parse_async_policy(async).value(),
                                                               .schedule = parse_schedule_policy(schedule).value()});
                    if (races) device->check_races(RaceLevel::warning);
                    const auto out = hopper::run(*device, kernel, compiled->ptx, p);
                    ASSERT_TRUE(out) << kernel.entry << " " << async << " " << schedule << ": " << format(out.error());
                    EXPECT_EQ(*out, p.expected) << kernel.entry << " " << async << " " << schedule;
                    for (const device::RaceRecord& race : device->take_races()) ADD_FAILURE() << race_diagnostic(race).message;
                }
    }
}

}  // namespace
}  // namespace ww::emulator_test

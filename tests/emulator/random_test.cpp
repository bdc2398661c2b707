// SPDX-License-Identifier: Apache-2.0
// Random programs on the emulator give what the small interpreter gives: registers that share a
// row never disturb each other, and diverged lanes each follow their own path.
#include <gtest/gtest.h>

#include <cstring>

#include "device/device.hpp"
#include "random_program.hpp"

namespace ww::emulator_test {
namespace {

constexpr uint32_t kThreads = 48;

std::vector<uint32_t> emulate(const RandomProgram& program) {
    const std::unique_ptr<device::Device> device = device::open_emulated({.threads = 1, .instruction_budget = 20'000'000});
    const size_t count = kThreads * program.variables.size();
    const Result<device::Address> out = device->allocate(4 * count);
    const Result<device::ModuleId> module = device->load({device::Image::Kind::ptx, "random.ptx", program.ptx});
    if (!module) return ADD_FAILURE() << format(module.error()), std::vector<uint32_t>{};
    const Result<device::KernelId> kernel = device->kernel(*module, "k");
    if (!kernel) return ADD_FAILURE() << format(kernel.error()), std::vector<uint32_t>{};
    const Result<device::LaunchReport> report =
        device->launch(*kernel, {.block = {kThreads, 1, 1}, .arguments = {device::Argument::of(*out)}});
    if (!report) return ADD_FAILURE() << format(report.error()), std::vector<uint32_t>{};
    std::vector<uint32_t> values(count);
    const Status copied = device->copy_out(std::as_writable_bytes(std::span(values)), *out);
    if (!copied) ADD_FAILURE() << format(copied.error());
    return values;
}

void check(uint32_t seed, uint32_t statements) {
    const RandomProgram program = random_program(seed, statements);
    const std::vector<uint32_t> got = emulate(program);
    if (got.empty()) return;
    for (uint32_t thread = 0; thread < kThreads; ++thread) {
        const std::vector<uint32_t> want = program.run(thread);
        for (size_t v = 0; v < want.size(); ++v)
            ASSERT_EQ(got[thread * want.size() + v], want[v])
                << "seed " << seed << ", " << statements << " statements, thread " << thread << ", v" << v << "\n"
                << (program.ptx.size() < 20000 ? program.ptx : "");
    }
}

TEST(RandomPrograms, Small) {
    for (uint32_t seed = 1; seed <= 120 && !HasFailure(); ++seed) check(seed, 10 + seed % 40);
}
TEST(RandomPrograms, Medium) {
    for (uint32_t seed = 1001; seed <= 1070 && !HasFailure(); ++seed) check(seed, 300);
}
TEST(RandomPrograms, ThousandsOfRegisters) {
    for (uint32_t seed = 2001; seed <= 2010 && !HasFailure(); ++seed) {
        ASSERT_GT(random_program(seed, 4000).functions[0].words.size(), 2000u);
        check(seed, 4000);
    }
}
// The programs do what they are for: most threads of most programs differ.
TEST(RandomPrograms, AreNotTrivial) {
    int different = 0;
    for (uint32_t seed = 1; seed <= 50; ++seed) {
        const RandomProgram program = random_program(seed, 100);
        different += program.run(3) != program.run(4) && program.run(4) != program.run(5);
    }
    EXPECT_GE(different, 45);
}

}  // namespace
}  // namespace ww::emulator_test

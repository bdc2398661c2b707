// SPDX-License-Identifier: Apache-2.0
// The verdicts of run_tests, with a device that computes nothing but what it is told: recording, comparing,
// stale and missing records, and the words of a mismatch.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/files.hpp"
#include "exectest/archive.hpp"
#include "exectest/run.hpp"

namespace ww::exectest {
namespace {

using namespace device;
namespace fs = std::filesystem;

// Its kernel copies the input to the output, adding `error` to the first word.
class CopyDevice final : public Device {
  public:
    uint32_t error = 0;
    int launches = 0;
    bool changes = false;  // each launch another answer
    std::map<Address, std::vector<std::byte>> memory;

    Info info() const override { return {"cuda", "Copier", 90, "sm_90a", "1.0", 1, 1 << 20, 0}; }
    Result<Address> allocate(uint64_t bytes, MemoryLabel) override {
        Address address = (memory.size() + 1) << 32;
        memory[address].resize(bytes);
        return address;
    }
    Status release(Address) override { return ok(); }
    Status copy_in(Address to, std::span<const std::byte> from) override {
        std::copy(from.begin(), from.end(), memory.at(to).begin());
        return ok();
    }
    Status copy_out(std::span<std::byte> to, Address from) override {
        Address base = from >> 32 << 32;
        std::memcpy(to.data(), memory.at(base).data() + (from - base), to.size());
        return ok();
    }
    Status fill(Address, uint8_t, uint64_t, bool) override { return ok(); }
    Result<ModuleId> load(const Image&) override { return ModuleId{1}; }
    Status unload(ModuleId) override { return ok(); }
    Result<std::vector<std::string>> kernels(ModuleId) override { return std::vector<std::string>{}; }
    Result<KernelId> kernel(ModuleId, const std::string&) override { return KernelId{1}; }
    Result<std::vector<Param>> params(KernelId) override { return std::vector<Param>(3); }
    Status check(KernelId, const Launch&) override { return ok(); }
    Result<LaunchReport> launch(KernelId, const Launch& launch) override {
        Address from = 0, to = 0;
        std::memcpy(&from, launch.arguments[0].bytes.data(), 8);
        std::memcpy(&to, launch.arguments[1].bytes.data(), 8);
        memory[to] = memory[from];
        uint32_t first = 0;
        std::memcpy(&first, memory[to].data(), 4);
        first += error + (changes ? static_cast<uint32_t>(launches) : 0);
        std::memcpy(memory[to].data(), &first, 4);
        ++launches;
        return LaunchReport{};
    }
    Result<TensorMap> encode_tensor_map(const TensorMapTiled&) override { return fail("none"); }
    void trace_writes(bool) override {}
    std::optional<WriteRecord> last_write(Address) const override { return std::nullopt; }
};

class Run : public testing::Test {
  protected:
    void SetUp() override {
        folder = fs::temp_directory_path() / ("run_test." + std::to_string(getpid()));
        fs::create_directories(folder / "misc");
        write("// Copies.\n// in a f32\n// out d f32\n    mov.f32 d, a;\n");
        options.folder = folder;
        options.archive = folder / "recorded.bin";
        options.on_cuda = true;
        // The copying device takes PTX; no assembler has to be there.
        setenv("WARPWRIGHT_NO_TOOLKIT", "1", 1);
        setenv("WARPWRIGHT_CACHE", folder.c_str(), 1);
    }
    void TearDown() override { fs::remove_all(folder); }
    void write(const std::string& text) { ASSERT_TRUE(write_file(folder / "misc/copy.ptx", text)); }
    TestResult run(bool record = false) {
        options.record = record;
        auto report = run_tests(options, &device);
        EXPECT_TRUE(report) << format(report.error());
        return report ? report->tests.at(0) : TestResult{};
    }
    fs::path folder;
    RunOptions options;
    CopyDevice device;
};

TEST_F(Run, RecordsThenCompares) {
    EXPECT_EQ(run(true).outcome, Outcome::passed);
    EXPECT_EQ(device.launches, 2);
    auto archive = load_archive(options.archive);
    ASSERT_TRUE(archive);
    EXPECT_EQ(archive->runs.at(0).device, "Copier");
    EXPECT_EQ(archive->tests.at("misc/copy").outputs.size(), 2048u);
    EXPECT_EQ(run().outcome, Outcome::passed);
    device.error = 1;
    TestResult wrong = run();
    EXPECT_EQ(wrong.outcome, Outcome::failed);
    EXPECT_EQ(wrong.message.find("d of block 0, thread 0: expected 0x"), 0u) << wrong.message;
    EXPECT_NE(wrong.message.find("(1 of 512 values differ); inputs a=0x"), std::string::npos)
        << wrong.message;
}

TEST_F(Run, WithoutARecordFails) {
    EXPECT_NE(run().message.find("neither recorded nor expected"), std::string::npos);
    options.allow_unrecorded = true;
    EXPECT_EQ(run().outcome, Outcome::passed);
}

TEST_F(Run, AChangedTestIsStale) {
    run(true);
    write("// Copies.\n// in a f32\n// out d f32\n    mov.b32 d, a;\n");
    TestResult result = run();
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_EQ(result.message.find("stale record"), 0u);
}

TEST_F(Run, AnAnswerThatChangesIsNotRecorded) {
    device.changes = true;
    TestResult result = run(true);
    EXPECT_EQ(result.outcome, Outcome::failed);
    EXPECT_NE(result.message.find("two runs differ"), std::string::npos) << result.message;
    EXPECT_TRUE(load_archive(options.archive)->tests.empty());
}

TEST_F(Run, ExpectedValuesNeedNoRecord) {
    const std::string head = "// t\n// threads 2\n// trials 1\n// in a f32\n// out d f32\n";
    write(head + "// values a 3f800000 7fc00000\n// expect d 3f800000 7fffffff\n    mov.f32 d, a;\n");
    EXPECT_NE(run().message.find("thread 1: expected 0x7fffffff (nan)"), std::string::npos);
    write(head + "// nan any\n// values a 3f800000 7fc00000\n// expect d 3f800000 7fffffff\n"
                 "    mov.f32 d, a;\n");
    EXPECT_EQ(run().outcome, Outcome::passed);
}

TEST_F(Run, OtherTargetsAreSkipped) {
    write("// t\n// target sm_100a\n// in a f32\n// out d f32\n    mov.f32 d, a;\n");
    EXPECT_EQ(run().outcome, Outcome::skipped);
}

TEST_F(Run, AFaultMustHappenOnTheEmulator) {
    const auto on_emulator = [&](const std::string& text) {
        write(text);
        options.on_cuda = false;
        auto report = run_tests(options, nullptr);
        EXPECT_TRUE(report) << format(report.error());
        return report ? report->tests.at(0) : TestResult{};
    };
    EXPECT_EQ(on_emulator("// Ends.\n// fault program executed trap\n    trap;\n").outcome, Outcome::passed);
    const TestResult other = on_emulator("// Ends.\n// fault executed brkpt\n    trap;\n");
    EXPECT_EQ(other.outcome, Outcome::failed);
    EXPECT_NE(other.message.find("program executed trap"), std::string::npos) << other.message;
    const TestResult none = on_emulator("// Ends.\n// fault trap\n    membar.cta;\n");
    EXPECT_EQ(none.outcome, Outcome::failed);
    EXPECT_EQ(none.message.find("it ran to its end"), 0u) << none.message;
    options.on_cuda = true;
    EXPECT_EQ(run().outcome, Outcome::skipped);
    EXPECT_EQ(device.launches, 0);
}

TEST(TooNew, IsWhatTheAssemblerRefusesAsSuch) {
    const auto refused = [](const std::string& message) { return too_new_for_assembler(fail(message).diagnostics); };
    EXPECT_TRUE(refused("Unsupported .version 9.4; current version is '9.0'"));
    EXPECT_TRUE(refused("Value 'sm_107f' is not defined for option 'gpu-name'"));
    EXPECT_FALSE(refused("Illegal modifier '.async' for instruction 'membar.proxy'"));
}

TEST_F(Run, WrongUseIsAFailure) {
    options.pattern = "no/such*";
    EXPECT_FALSE(run_tests(options, &device));
    options.pattern = "";
    EXPECT_FALSE(run_tests(options, nullptr));
    options.on_cuda = false;
    options.record = true;
    EXPECT_FALSE(run_tests(options, nullptr));
}

}  // namespace
}  // namespace ww::exectest

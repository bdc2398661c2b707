// SPDX-License-Identifier: Apache-2.0
// Times of stages, on a fake device with a clock: which cases, what is counted, what stops a case.
#include "ladder/times.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "fake_device.hpp"
#include "toolchain/process.hpp"

namespace ww::ladder {
namespace {

constexpr const char* kPort = R"(
[port]
name = "twice"
flops = "2 * N"
[axes]
N = {}
processors = 3
[tensors.x]
dtype = "f32"
shape = ["N"]
role = "input"
[tensors.y]
dtype = "f32"
shape = ["N"]
role = "intermediate"
[tensors.z]
dtype = "f32"
shape = ["N"]
role = "output"
[[stage]]
name = "first"
inputs = ["x"]
outputs = ["y"]
[[stage]]
name = "second"
inputs = ["y"]
outputs = ["z"]
[implementations.reference.first]
kind = "library"
symbol = "none"
[implementations.reference.second]
kind = "library"
symbol = "none"
[implementations.mine.first]
kind = "kernel"
source = "fake.ptx"
entry = "quick"
grid = [1]
block = [1]
args = ["x", "y"]
[implementations.mine.second]
kind = "kernel"
source = "fake.ptx"
entry = "slow"
grid = [1]
block = [1]
args = ["y", "z"]
[[case]]
id = "small"
axes = { N = 4 }
[[case]]
id = "large"
axes = { N = 100 }
bench = true
)";

class ClockedDevice final : public FakeDevice {
  public:
    using FakeDevice::FakeDevice;
    device::Info info() const override {
        device::Info out = FakeDevice::info();
        out.multiprocessors = 7;
        return out;
    }
    // Kernels are numbered by name: "quick", "slow".
    Result<std::vector<double>> time_launches(device::KernelId kernel, const device::Launch&,
                                              uint32_t count) override {
        std::vector<double> out(count, kernel == 0 ? 1e-6 : 4e-6);
        out[0] *= 0.5;
        return out;
    }
};

class Times : public ::testing::Test {
  protected:
    Times() : folder_(toolchain::TemporaryFolder::make().value()) {
        EXPECT_TRUE(write_file(folder_.path() / "port.toml", kPort));
        EXPECT_TRUE(write_file(folder_.path() / "fake.ptx", "// only a name for the fake device"));
    }
    template <class OfDevice>
    Result<TimesReport> run(TimesOptions options, Status second = ok()) {
        FakeDevice::Kernel copy{.params = {{"from", 0, 8, 8}, {"to", 8, 8, 8}},
                                .body = [](const FakeDevice::Context& c) -> Status {
                                    c.store(c.argument<uint64_t>(1),
                                            c.load<float>(c.argument<uint64_t>(0)), 0);
                                    return ok();
                                }};
        std::map<std::string, FakeDevice::Kernel> kernels{{"quick", copy}, {"slow", copy}};
        if (!second) kernels["slow"].body = [second](const FakeDevice::Context&) { return second; };
        options.port = folder_.path();
        options.open_device = [kernels](const std::string&,
                                        uint32_t) -> Result<std::unique_ptr<device::Device>> {
            return std::unique_ptr<device::Device>(new OfDevice(kernels));
        };
        return time_stages(options);
    }
    toolchain::TemporaryFolder folder_;
};

TEST_F(Times, CasesMarkedBenchAreTimedStageByStage) {
    const auto report = run<ClockedDevice>({.repeats = 4});
    ASSERT_TRUE(report) << format(report.error());
    ASSERT_EQ(report->cases.size(), 1U);
    const CaseTimes& c = report->cases[0];
    EXPECT_EQ(c.case_id, "large");
    EXPECT_EQ(c.sizes, "N=100 processors=7");  // of the device
    EXPECT_EQ(c.flops, 200.0);
    EXPECT_FALSE(c.bytes);
    ASSERT_EQ(c.stages.size(), 2U);
    EXPECT_EQ(c.stages[0].kernel, "quick");
    EXPECT_EQ(c.stages[0].seconds.size(), 4U);
    EXPECT_EQ(c.stages[0].bytes, 800);
    EXPECT_DOUBLE_EQ(c.stages[1].min(), 2e-6);
    EXPECT_DOUBLE_EQ(c.stages[1].median(), 4e-6);
    EXPECT_DOUBLE_EQ(c.total(), 5e-6);
    EXPECT_EQ(c.longest(), &c.stages[1]);
    EXPECT_TRUE(report->timed());
}

TEST_F(Times, OthersAreTimedWhenTheyAreNamed) {
    const auto report = run<ClockedDevice>({.case_glob = "s*"});
    ASSERT_TRUE(report) << format(report.error());
    EXPECT_EQ(report->cases.at(0).case_id, "small");
    EXPECT_FALSE(run<ClockedDevice>({.case_glob = "none"}));
}

TEST_F(Times, ADeviceWithoutAClockRunsTheStagesAndHasNoTimes) {
    const auto report = run<FakeDevice>({});
    ASSERT_TRUE(report) << format(report.error());
    EXPECT_EQ(report->cases.at(0).stages.size(), 2U);
    EXPECT_FALSE(report->timed());
    EXPECT_EQ(report->cases.at(0).longest(), nullptr);
}

TEST_F(Times, AStageThatFailsEndsItsCase) {
    const auto report = run<ClockedDevice>({}, fail("a fault"));
    ASSERT_TRUE(report) << format(report.error());
    EXPECT_EQ(report->cases.at(0).stages.size(), 1U);
    EXPECT_EQ(report->cases.at(0).failure, "second: a fault");
}

}  // namespace
}  // namespace ww::ladder

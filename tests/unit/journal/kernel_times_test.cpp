// SPDX-License-Identifier: Apache-2.0
// Times for the log on a fake device with a clock: of which case, and what is said where there are none.
#include "journal/kernel_times.hpp"

#include <gtest/gtest.h>

#include "../ladder/fake_device.hpp"
#include "base/files.hpp"
#include "toolchain/process.hpp"

namespace ww::journal {
namespace {

using ladder::FakeDevice;

constexpr const char* kPort = R"(
[port]
name = "copy"
[axes]
N = {}
[tensors.x]
dtype = "f32"
shape = ["N"]
role = "input"
[tensors.y]
dtype = "f32"
shape = ["N"]
role = "output"
[[stage]]
name = "copy"
inputs = ["x"]
outputs = ["y"]
[implementations.reference.copy]
kind = "library"
symbol = "none"
[implementations.mine.copy]
kind = "kernel"
source = "fake.ptx"
entry = "copy"
grid = [1]
block = [1]
args = ["x", "y", { dtype = "i32", value = "N" }]
[[case]]
id = "small"
axes = { N = 1 }
[[case]]
id = "b20"
axes = { N = 20 }
bench = true
[[case]]
id = "b30"
axes = { N = 30 }
bench = true
)";

// A launch takes as many microseconds as it has elements.
class ClockedDevice final : public FakeDevice {
  public:
    using FakeDevice::FakeDevice;
    Result<std::vector<double>> time_launches(device::KernelId, const device::Launch& launch, uint32_t count) override {
        int32_t n = 0;
        std::memcpy(&n, launch.arguments.at(2).bytes.data(), sizeof n);
        return std::vector<double>(count, n * 1e-6);
    }
};

class Times : public ::testing::Test {
  protected:
    Times() : folder_(toolchain::TemporaryFolder::make().value()) {
        EXPECT_TRUE(write_file(folder_.path() / "port.toml", kPort));
        EXPECT_TRUE(write_file(folder_.path() / "fake.ptx", "// only a name for the fake device"));
    }
    KernelTimes run(const std::vector<inspect::Image>& images, Status runs = ok()) {
        std::vector<const inspect::Image*> all;
        for (const inspect::Image& each : images) all.push_back(&each);
        return time_kernels(folder_.path(), all, {}, [runs](const std::string&, uint32_t) -> Result<std::unique_ptr<device::Device>> {
            const FakeDevice::Kernel kernel{.params = {{"x", 0, 8, 8}, {"y", 8, 8, 8}, {"n", 16, 4, 4}},
                                            .body = [runs](const FakeDevice::Context&) { return runs; }};
            return std::unique_ptr<device::Device>(new ClockedDevice(std::map<std::string, FakeDevice::Kernel>{{"copy", kernel}}));
        });
    }
    static inspect::Image image(std::vector<std::string> cases) {
        inspect::Image out;
        out.implementation = "mine";
        out.stages = {"copy"};
        out.cases = std::move(cases);
        return out;
    }
    toolchain::TemporaryFolder folder_;
};

TEST_F(Times, AreOfTheFirstCaseForTimesThatRunsTheKernel) {
    const KernelTimes times = run({image({"small", "b20", "b30"}), image({"small"}), image({"b30"})});
    ASSERT_EQ(times.microseconds.size(), 3U);
    EXPECT_DOUBLE_EQ(times.microseconds[0].value(), 20);
    EXPECT_FALSE(times.microseconds[1]);
    EXPECT_DOUBLE_EQ(times.microseconds[2].value(), 30);
    EXPECT_EQ(times.text, "on fake device");
}

TEST_F(Times, SayWhyThereAreNone) {
    EXPECT_EQ(run({image({"small"})}).text, "no case that is marked bench runs it");
    const KernelTimes stopped = run({image({"b20"})}, fail("it stopped"));
    EXPECT_FALSE(stopped.microseconds[0]);
    EXPECT_EQ(stopped.text, "copy: it stopped");
}

}  // namespace
}  // namespace ww::journal

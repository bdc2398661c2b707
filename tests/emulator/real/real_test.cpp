// SPDX-License-Identifier: Apache-2.0
// CUDA C++ through NVRTC and the emulator against plain CPU code. Skipped without NVRTC.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "base/files.hpp"
#include "device/device.hpp"
#include "toolchain/found.hpp"
#include "toolchain/toolchain.hpp"

namespace ww::emulator_test {
namespace {

using Ints = std::vector<int>;

Ints random_ints(size_t n, int limit) {
    std::mt19937 random(7);
    Ints out(n);
    for (int& value : out) value = static_cast<int>(static_cast<int64_t>(random() % (2 * static_cast<uint64_t>(limit) + 1)) - limit);
    return out;
}

struct Shape {
    device::Dim3 grid, block;
    uint32_t shared = 0;
    bool cooperative = false;
};

class RealCode : public testing::TestWithParam<uint32_t> {
  protected:
    void SetUp() override {
        for (const char* part : {"nvrtc", "headers"})
            if (toolchain::find_part(part).origin == toolchain::Origin::missing) GTEST_SKIP() << part << " is not on this machine";
    }

    // Runs one kernel of tests/emulator/real/FILE on (in, out, n); the contents of out.
    Ints run(const char* file, const char* kernel, const Ints& in, size_t out_count, int n, const Shape& shape, int fill = 0) {
        Ints out(out_count, fill);
        const Status status = launch(file, kernel, in, out, n, shape);
        if (!status) ADD_FAILURE() << format(status.error());
        return out;
    }

  private:
    // Once a file and process: the compile cache still looks through all of CUB's headers.
    static Result<std::string> ptx_of(const std::string& file) {
        static std::map<std::string, std::string> known;
        if (const auto it = known.find(file); it != known.end()) return it->second;
        const std::string path = std::string(WW_SOURCE_DIR "/tests/emulator/real/") + file;
        WW_TRY(source, read_file(path));
        WW_TRY(compiled, toolchain::compile_ptx({.source = source, .name = path, .include_dirs = toolchain::cuda_include_dirs()}));
        return known[file] = compiled.ptx;
    }

    Status launch(const std::string& file, const char* kernel, const Ints& in, Ints& out, int n, const Shape& shape) {
        WW_TRY(ptx, ptx_of(file));
        const std::unique_ptr<device::Device> device = device::open_emulated({.threads = GetParam(), .instruction_budget = 200'000'000});
        if (GetParam() == 1) device->check_races(RaceLevel::warning);  // which takes one thread
        WW_TRY(module, device->load({device::Image::Kind::ptx, file, ptx}));
        WW_TRY(id, device->kernel(module, kernel));
        WW_TRY(from, device->allocate(in.size() * sizeof(int)));
        WW_TRY(to, device->allocate(out.size() * sizeof(int)));
        WW_TRY(copied_in, device->copy_in(from, std::as_bytes(std::span(in))));
        WW_TRY(filled, device->copy_in(to, std::as_bytes(std::span(out))));
        WW_TRY(report, device->launch(id, {.grid = shape.grid,
                                           .block = shape.block,
                                           .dynamic_shared_bytes = shape.shared,
                                           .cooperative = shape.cooperative,
                                           .arguments = {device::Argument::of(from), device::Argument::of(to), device::Argument::of(n)}}));
        for (const device::RaceRecord& race : device->take_races()) ADD_FAILURE() << race_diagnostic(race).message;
        WW_TRY(copied, device->copy_out(std::as_writable_bytes(std::span(out)), to));
        (void)copied_in, (void)filled, (void)report, (void)copied;
        return ok();
    }
};

TEST_P(RealCode, Reduction) {
    const Ints in = random_ints(10000, 1000);
    EXPECT_EQ(run("kernels.cu", "reduce_sum", in, 1, 10000, {{7, 1, 1}, {256, 1, 1}})[0], std::accumulate(in.begin(), in.end(), 0));
}

TEST_P(RealCode, ScanWithShuffles) {
    const Ints in = random_ints(1000, 1000);
    Ints want(1000);
    std::partial_sum(in.begin(), in.end(), want.begin());
    EXPECT_EQ(run("kernels.cu", "scan", in, 1000, 1000, {{1, 1, 1}, {1024, 1, 1}}), want);
    const Ints few(in.begin(), in.begin() + 40);
    Ints wanted(want.begin(), want.begin() + 40);
    EXPECT_EQ(run("kernels.cu", "scan", few, 40, 40, {{1, 1, 1}, {64, 1, 1}}), wanted);
}

TEST_P(RealCode, HistogramWithSharedAtomics) {
    const Ints in = random_ints(5000, 1 << 20);
    Ints want(64, 0);
    for (const int value : in) ++want[static_cast<size_t>(value & 63)];
    EXPECT_EQ(run("kernels.cu", "histogram", in, 64, 5000, {{5, 1, 1}, {96, 1, 1}, 256}), want);
}

TEST_P(RealCode, Transpose) {
    constexpr int kN = 77;
    const Ints in = random_ints(kN * kN, 1000);
    Ints want(in.size());
    for (size_t y = 0; y < kN; ++y)
        for (size_t x = 0; x < kN; ++x) want[x * kN + y] = in[y * kN + x];
    EXPECT_EQ(run("kernels.cu", "transpose", in, in.size(), kN, {{3, 3, 1}, {32, 8, 1}}), want);
}

TEST_P(RealCode, BitonicSort) {
    const Ints in = random_ints(512, 1 << 30);
    Ints want = in;
    std::sort(want.begin(), want.end());
    EXPECT_EQ(run("kernels.cu", "bitonic_sort", in, 512, 512, {{1, 1, 1}, {256, 1, 1}, 2048}), want);
}

TEST_P(RealCode, VirtualFunctionsAndFunctionTables) {
    const Ints in = random_ints(300, 1000);
    Ints want(300);
    const auto fibonacci = [](int n) {
        int a = 0, b = 1;
        for (; n > 0; --n) b += a, a = b - a;
        return a;
    };
    for (size_t i = 0; i < 300; ++i) {
        const int x = in[i] & 15;
        const int called = x % 3 == 0 ? 2 * x : x % 3 == 1 ? -x : fibonacci(x);
        want[i] = (x & 1 ? x * x : 3 * x + 1) * 1000 + called + ((x * 7 - x) & 15);
    }
    EXPECT_EQ(run("kernels.cu", "dispatch", in, 300, 300, {{5, 1, 1}, {64, 1, 1}}), want);
}

TEST_P(RealCode, TicketLock) {
    const Ints in = random_ints(256, 1000);
    EXPECT_EQ(run("kernels.cu", "ticket_lock", in, 1, 256, {{4, 1, 1}, {64, 1, 1}})[0], std::accumulate(in.begin(), in.end(), 0));
}

TEST_P(RealCode, CooperativeGridSync) {
    const Ints in = random_ints(1000, 1000);
    const Ints out = run("kernels.cu", "grid_sync", in, 2000, 1000, {{10, 1, 1}, {64, 1, 1}, 0, true}, -1);
    Ints want(1000);
    for (size_t i = 0; i < 1000; ++i) want[i] = in[999 - i] * 3;
    want[0] = std::accumulate(want.begin(), want.end(), 0);
    EXPECT_EQ(Ints(out.begin(), out.begin() + 1000), want);
}

TEST_P(RealCode, CoalescedGroups) {
    const Ints in = random_ints(500, 1000);
    Ints want;
    for (const int value : in)
        if (value % 3 == 0) want.push_back(value);
    Ints out = run("kernels.cu", "coalesced", in, 501, 500, {{4, 1, 1}, {128, 1, 1}});
    ASSERT_EQ(static_cast<size_t>(out[0]), want.size());
    std::sort(want.begin(), want.end());
    std::sort(out.begin() + 1, out.begin() + 1 + out[0]);
    EXPECT_EQ(Ints(out.begin() + 1, out.begin() + 1 + out[0]), want);
}

TEST_P(RealCode, CubScanReduceSort) {
    const Ints in = random_ints(512, 1 << 20);
    Ints sums(512), sorted = in;
    std::partial_sum(in.begin(), in.end(), sums.begin());
    std::sort(sorted.begin(), sorted.end());
    const Shape shape{{1, 1, 1}, {128, 1, 1}};
    EXPECT_EQ(run("cub_kernels.cu", "cub_scan", in, 512, 512, shape), sums);
    EXPECT_EQ(run("cub_kernels.cu", "cub_reduce", in, 1, 512, shape)[0], sums.back());
    EXPECT_EQ(run("cub_kernels.cu", "cub_sort", in, 512, 512, shape), sorted);
}

INSTANTIATE_TEST_SUITE_P(Threads, RealCode, testing::Values(1u, 2u, 7u));

}  // namespace
}  // namespace ww::emulator_test

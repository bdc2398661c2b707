// SPDX-License-Identifier: Apache-2.0
// A warp-specialised Hopper GEMM, compiled by NVRTC, under every policy; small integers, so that
// every sum is exact. Skipped without NVRTC.
#include <gtest/gtest.h>

#include <cstring>

#include "base/files.hpp"
#include "base/policy.hpp"
#include "device/device.hpp"
#include "toolchain/found.hpp"
#include "toolchain/toolchain.hpp"

namespace ww::emulator_test {
namespace {

constexpr uint32_t kM = 128, kN = 256, kK = 448;
constexpr uint32_t kBf16 = 9, kSwizzle128 = 3;

struct Problem {
    std::vector<uint16_t> a, b;
    std::vector<float> expected;
};

uint16_t bf16_of(int value) {
    const float f = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &f, sizeof bits);
    return static_cast<uint16_t>(bits >> 16);
}

Problem problem() {
    Random random(3);
    std::vector<int> a(kM * kK), b(kN * kK);
    for (int& value : a) value = static_cast<int>(random.below(9)) - 4;
    for (int& value : b) value = static_cast<int>(random.below(9)) - 4;
    Problem out;
    for (const int value : a) out.a.push_back(bf16_of(value));
    for (const int value : b) out.b.push_back(bf16_of(value));
    for (size_t row = 0; row < kM; ++row)
        for (size_t column = 0; column < kN; ++column) {
            int sum = 0;
            for (size_t i = 0; i < kK; ++i) sum += a[row * kK + i] * b[column * kK + i];
            out.expected.push_back(static_cast<float>(sum));
        }
    return out;
}

Result<device::Argument> map_of(device::Device& device, device::Address address, uint32_t rows, uint32_t box_rows) {
    WW_TRY(map, device.encode_tensor_map({.data_type = kBf16, .address = address, .sizes = {kK, rows}, .strides = {kK * 2},
                                          .box = {64, box_rows}, .element_strides = {1, 1}, .swizzle = kSwizzle128}));
    return device::Argument{.bytes = std::vector<std::byte>(map.begin(), map.end()), .align = 64};
}

Result<std::vector<float>> run(device::Device& device, const std::string& ptx, const Problem& p) {
    WW_TRY(a, device.allocate(p.a.size() * 2));
    WW_TRY(b, device.allocate(p.b.size() * 2));
    WW_TRY(c, device.allocate(p.expected.size() * 4));
    WW_TRY(copied_a, device.copy_in(a, std::as_bytes(std::span(p.a))));
    WW_TRY(copied_b, device.copy_in(b, std::as_bytes(std::span(p.b))));
    WW_TRY(a_map, map_of(device, a, kM, 64));
    WW_TRY(b_map, map_of(device, b, kN, 128));
    WW_TRY(module, device.load({device::Image::Kind::ptx, "hopper_gemm.ptx", ptx}));
    WW_TRY(id, device.kernel(module, "hopper_gemm"));
    const device::Launch launch{.grid = {kN / 128, kM / 64},
                                .block = {160},
                                .dynamic_shared_bytes = 3 * (64 + 128) * 64 * 2,
                                .arguments = {a_map, b_map, device::Argument::of(c), device::Argument::of(int{kN}), device::Argument::of(int{kK})}};
    WW_TRY(report, device.launch(id, launch));
    std::vector<float> out(p.expected.size());
    WW_TRY(copied, device.copy_out(std::as_writable_bytes(std::span(out)), c));
    (void)copied_a, (void)copied_b, (void)report, (void)copied;
    return out;
}

TEST(HopperGemm, EveryPolicyGivesTheProduct) {
    for (const char* part : {"nvrtc", "headers"})
        if (toolchain::find_part(part).origin == toolchain::Origin::missing) GTEST_SKIP() << part << " is not on this machine";
    const std::string path = WW_SOURCE_DIR "/tests/emulator/real/hopper_gemm.cu";
    const auto source = read_file(path);
    ASSERT_TRUE(source);
    const auto compiled = toolchain::compile_ptx({.source = *source, .name = path, .target = "sm_90a", .include_dirs = toolchain::cuda_include_dirs()});
    ASSERT_TRUE(compiled) << format(compiled.error());
    const Problem p = problem();
    for (const char* async : {"eager", "lazy", "random:1", "random:2"})
        for (const char* schedule : {"fair", "random:5"}) {
            const auto device = device::open_emulated({.threads = 2,
                                                       .instruction_budget = 100'000'000,
                                                       .async = parse_async_policy(async).value(),
                                                       .schedule = parse_schedule_policy(schedule).value()});
            const auto out = run(*device, compiled->ptx, p);
            ASSERT_TRUE(out) << async << " " << schedule << ": " << format(out.error());
            EXPECT_EQ(*out, p.expected) << async << " " << schedule;
        }
}

}  // namespace
}  // namespace ww::emulator_test

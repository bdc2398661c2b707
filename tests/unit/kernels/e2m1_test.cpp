// SPDX-License-Identifier: Apache-2.0
// links: device numerics
// kernels/common/e2m1.cuh where the GPU has no conversion to e2m1, on the emulator, against src/numerics.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "device/device.hpp"
#include "numerics/formats.hpp"
#include "toolchain/found.hpp"
#include "toolchain/toolchain.hpp"

namespace ww {
namespace {

constexpr uint32_t kBlock = 256;

constexpr const char* kSource =
    "#include \"e2m1.cuh\"\n"
    "extern \"C\" __global__ void convert(const float* x, unsigned char* codes) {\n"
    "    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    codes[i] = static_cast<unsigned char>(e2m1x2_codes(-x[i], x[i]));\n"
    "}\n";

// The code of x in the low nibble of each byte, that of -x in the high one.
std::vector<uint8_t> converted(const std::vector<uint32_t>& patterns) {
    const auto compiled = toolchain::compile_ptx({.source = kSource, .name = WW_SOURCE_DIR "/kernels/common/e2m1_test.cu",
                                                  .target = "sm_90a"});
    EXPECT_TRUE(compiled) << format(compiled.error());
    std::vector<uint8_t> out(patterns.size());
    if (!compiled) return out;
    const auto device = device::open_emulated({.target = "sm_90a"});
    const auto x = *device->allocate(patterns.size() * 4), codes = *device->allocate(out.size());
    EXPECT_TRUE(device->copy_in(x, std::as_bytes(std::span(patterns))));
    const auto module = device->load({device::Image::Kind::ptx, "e2m1_test.cu", compiled->ptx});
    EXPECT_TRUE(module) << format(module.error());
    device::Launch launch;
    launch.block.x = kBlock;
    launch.grid.x = static_cast<uint32_t>(patterns.size() / kBlock);
    launch.arguments = {device::Argument::of(x), device::Argument::of(codes)};
    const auto launched = device->launch(*device->kernel(*module, "convert"), launch);
    EXPECT_TRUE(launched) << format(launched.error());
    EXPECT_TRUE(device->copy_out(std::as_writable_bytes(std::span(out)), codes));
    return out;
}

uint8_t due(float x) {
    return static_cast<uint8_t>(numerics::encode(numerics::Format::e2m1, static_cast<double>(x), {.saturate = true}));
}

void expect_equal(const std::vector<uint32_t>& patterns) {
    const std::vector<uint8_t> codes = converted(patterns);
    for (size_t i = 0; i < patterns.size(); ++i) {
        float x;
        std::memcpy(&x, &patterns[i], 4);
        ASSERT_EQ(codes[i] & 15, due(x)) << "bits " << std::hex << patterns[i];
        ASSERT_EQ(codes[i] >> 4, due(-x)) << "bits " << std::hex << patterns[i] << ", negated";
    }
}

class E2m1 : public testing::Test {
  protected:
    void SetUp() override {
        if (toolchain::find_part("nvrtc").origin == toolchain::Origin::missing) GTEST_SKIP() << "nvrtc is not on this machine";
    }
};

// Every sign, exponent and 7 bits of the mantissa, at both ends and in the middle of what follows them: all ties of e2m1 and
// their neighbours, subnormal numbers, infinities, NaNs.
TEST_F(E2m1, codes_of_floats_by_their_upper_bits) {
    std::vector<uint32_t> patterns;
    for (uint32_t upper = 0; upper < 0x8000; ++upper)
        for (const uint32_t lower : std::array{0u, 1u, 0x7fffu, 0x8000u, 0xfffeu, 0xffffu, 0x1234u, 0xa5a5u})
            patterns.push_back(upper << 16 | lower);
    expect_equal(patterns);
}

// Each tie between two codes, and each power of two, where the step changes.
TEST_F(E2m1, codes_of_all_floats_around_ties_and_steps) {
    constexpr uint32_t kAround = 1 << 14;
    std::vector<uint32_t> patterns;
    for (const float x : {0.25f, 0.5f, 0.75f, 1.0f, 1.25f, 1.5f, 1.75f, 2.0f, 2.5f, 3.5f, 4.0f, 5.0f, 6.0f, 7.0f, 8.0f}) {
        uint32_t bits;
        std::memcpy(&bits, &x, 4);
        for (uint32_t i = 0; i < 2 * kAround; ++i) patterns.push_back(bits - kAround + i);
    }
    expect_equal(patterns);
}

}  // namespace
}  // namespace ww

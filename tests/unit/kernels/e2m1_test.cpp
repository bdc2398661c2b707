// SPDX-License-Identifier: Apache-2.0
// links: device numerics
// kernels/common/e2m1.cuh where the GPU has no conversion to e2m1, on the emulator, against src/numerics.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>
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
    "}\n"
    // last[c]: bits of the largest float of code c. Counts floats from `first` on that have another one.
    "extern \"C\" __global__ void count_wrong(const unsigned* last, unsigned first, unsigned* wrong) {\n"
    "    const unsigned bits = first + blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    unsigned due = 0;\n"
    "    for (int code = 0; code < 7; ++code) due += bits > last[code];\n"
    "    const float x = __uint_as_float(bits);\n"
    "    if (e2m1x2_codes(-x, x) != (due | (due | 8) << 4)) atomicAdd(wrong, 1);\n"
    "}\n";

// Both kernels on an emulator.
class Converter {
  public:
    Converter() {
        const auto compiled = toolchain::compile_ptx(
            {.source = kSource, .name = WW_SOURCE_DIR "/kernels/common/e2m1_test.cu", .target = "sm_90a"});
        if (!compiled) throw std::runtime_error(format(compiled.error()));
        module_ = *device_->load({device::Image::Kind::ptx, "e2m1_test.cu", compiled->ptx});
    }

    // The code of x in the low nibble of each byte, that of -x in the high one.
    std::vector<uint8_t> codes(const std::vector<uint32_t>& patterns) {
        std::vector<uint8_t> out(patterns.size());
        const auto x = memory(patterns), codes = *device_->allocate(out.size());
        launch("convert", patterns.size(), {device::Argument::of(x), device::Argument::of(codes)});
        EXPECT_TRUE(device_->copy_out(std::as_writable_bytes(std::span(out)), codes));
        return out;
    }
    // Of `count` floats from bits `first` on.
    uint32_t wrong(const std::vector<uint32_t>& last, uint32_t first, uint32_t count) {
        std::vector<uint32_t> out = {0};
        const auto last_at = memory(last), wrong = memory(out);
        launch("count_wrong", count, {device::Argument::of(last_at), device::Argument::of(first), device::Argument::of(wrong)});
        EXPECT_TRUE(device_->copy_out(std::as_writable_bytes(std::span(out)), wrong));
        return out[0];
    }

  private:
    device::Address memory(const std::vector<uint32_t>& words) {
        const auto out = *device_->allocate(words.size() * 4);
        EXPECT_TRUE(device_->copy_in(out, std::as_bytes(std::span(words))));
        return out;
    }
    void launch(const char* kernel, size_t threads, std::vector<device::Argument> arguments) {
        device::Launch launch;
        launch.block.x = kBlock;
        launch.grid.x = static_cast<uint32_t>(threads / kBlock);
        launch.arguments = std::move(arguments);
        const auto launched = device_->launch(*device_->kernel(module_, kernel), launch);
        EXPECT_TRUE(launched) << format(launched.error());
    }

    std::unique_ptr<device::Device> device_ = device::open_emulated({.target = "sm_90a"});
    device::ModuleId module_ = 0;
};

uint8_t due(float x) {
    return static_cast<uint8_t>(numerics::encode(numerics::Format::e2m1, static_cast<double>(x), {.saturate = true}));
}

uint32_t bits_of(float x) {
    uint32_t out;
    std::memcpy(&out, &x, 4);
    return out;
}
float float_of(uint32_t bits) {
    float out;
    std::memcpy(&out, &bits, 4);
    return out;
}

class E2m1 : public testing::Test {
  protected:
    void SetUp() override {
        if (toolchain::find_part("nvrtc").origin == toolchain::Origin::missing) GTEST_SKIP() << "nvrtc is not on this machine";
    }
};

// Every sign, exponent and 7 bits of the mantissa, at both ends and in the middle of what follows them: subnormal numbers,
// infinities and NaNs among them.
TEST_F(E2m1, codes_of_floats_by_their_upper_bits) {
    std::vector<uint32_t> patterns;
    for (uint32_t upper = 0; upper < 0x8000; ++upper)
        for (const uint32_t lower : std::array{0u, 1u, 0x7fffu, 0x8000u, 0xfffeu, 0xffffu, 0x1234u, 0xa5a5u})
            patterns.push_back(upper << 16 | lower);
    const std::vector<uint8_t> codes = Converter().codes(patterns);
    for (size_t i = 0; i < patterns.size(); ++i) {
        const float x = float_of(patterns[i]);
        ASSERT_EQ(codes[i] & 15, due(x)) << "bits " << std::hex << patterns[i];
        ASSERT_EQ(codes[i] >> 4, due(-x)) << "bits " << std::hex << patterns[i] << ", negated";
    }
}

// Between zeros and saturation, each float and its negative.
TEST_F(E2m1, codes_of_every_float_from_an_eighth_to_eight) {
    std::vector<uint32_t> last;
    for (uint8_t code = 0; code < 7; ++code) {
        uint32_t low = bits_of(0.125f), high = bits_of(8.0f);
        while (high - low > 1) {
            const uint32_t middle = low + (high - low) / 2;
            (due(float_of(middle)) <= code ? low : high) = middle;
        }
        last.push_back(low);
    }
    ASSERT_EQ(last[0], bits_of(0.25f));
    ASSERT_EQ(last[5], bits_of(3.5f) - 1);
    ASSERT_EQ(last[6], bits_of(5.0f));
    Converter converter;
    EXPECT_EQ(converter.wrong(last, bits_of(0.125f), bits_of(8.0f) - bits_of(0.125f)), 0u);
    last[3] += 1;
    EXPECT_EQ(converter.wrong(last, bits_of(1.0f), bits_of(2.0f) - bits_of(1.0f)), 1u) << "the count counts";
}

}  // namespace
}  // namespace ww

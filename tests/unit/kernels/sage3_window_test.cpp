// SPDX-License-Identifier: Apache-2.0
// What a window and a causal diagonal save: the attention kernel's executed instructions on the emulator.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "device/scoped_memory.hpp"
#include "sage3/sage3.h"
#include "sage3/sage3_host.hpp"

namespace ww::sage3 {
namespace {

// An emulated device that adds up the instructions of launches with the attention kernel's block.
class Counting final : public device::Device {
  public:
    uint64_t instructions = 0;

    device::Info info() const override { return real_->info(); }
    Result<device::Address> allocate(uint64_t bytes, MemoryLabel label) override {
        return real_->allocate(bytes, std::move(label));
    }
    Status release(device::Address address) override { return real_->release(address); }
    Status copy_in(device::Address to, std::span<const std::byte> from) override { return real_->copy_in(to, from); }
    Status copy_out(std::span<std::byte> to, device::Address from) override { return real_->copy_out(to, from); }
    Status fill(device::Address to, uint8_t value, uint64_t bytes, bool initialise) override {
        return real_->fill(to, value, bytes, initialise);
    }
    Result<device::ModuleId> load(const device::Image& image) override { return real_->load(image); }
    Status unload(device::ModuleId module) override { return real_->unload(module); }
    Result<std::vector<std::string>> kernels(device::ModuleId module) override { return real_->kernels(module); }
    Result<device::KernelId> kernel(device::ModuleId module, const std::string& name) override {
        return real_->kernel(module, name);
    }
    Result<std::vector<device::Param>> params(device::KernelId kernel) override { return real_->params(kernel); }
    Status check(device::KernelId kernel, const device::Launch& launch) override { return real_->check(kernel, launch); }
    Result<device::LaunchReport> launch(device::KernelId kernel, const device::Launch& launch) override {
        auto report = real_->launch(kernel, launch);
        if (report && launch.block.x == 384) instructions += report->lane_instructions;
        return report;
    }
    Result<device::TensorMap> encode_tensor_map(const device::TensorMapTiled& tiled) override {
        return real_->encode_tensor_map(tiled);
    }
    void trace_writes(bool on) override { real_->trace_writes(on); }
    std::optional<device::WriteRecord> last_write(device::Address address) const override {
        return real_->last_write(address);
    }

  private:
    std::unique_ptr<device::Device> real_ = device::open_emulated({.target = "sm_120a", .threads = 1});
};

// Lane instructions of attention with 256 queries, 2048 keys and 64 channels.
uint64_t instructions(sage3_causal causal, uint32_t flags, int64_t left, int64_t right) {
    constexpr int64_t kQueries = 256, kKeys = 2048, kDim = 64;
    Counting counted;
    device::ScopedMemory memory(counted);
    const std::vector<std::byte> zeros(kKeys * kDim * 2);
    const auto tensor = [&](int64_t rows) {
        const device::Address at = *memory.allocate("x", zeros.size());
        EXPECT_TRUE(counted.copy_in(at, zeros));
        return sage3_tensor{reinterpret_cast<void*>(at), rows * kDim, rows * kDim, kDim};
    };
    sage3_problem p{};
    p.struct_bytes = sizeof p;
    p.batches = p.heads = p.kv_heads = 1, p.queries = kQueries, p.keys = kKeys, p.head_dim = kDim, p.scale = 0.1f;
    p.causal = causal, p.flags = flags, p.window_left = left, p.window_right = right;
    p.q = tensor(kQueries), p.k = tensor(kKeys), p.v = tensor(kKeys), p.o = tensor(kQueries);
    const std::unique_ptr<::sage3, void (*)(::sage3*)> handle(wrap(counted, {}), &sage3_close);
    uint64_t bytes = 0;
    EXPECT_EQ(sage3_workspace_bytes(handle.get(), &p, &bytes), SAGE3_OK) << sage3_message();
    const device::Address workspace = *memory.allocate("workspace", bytes);
    EXPECT_EQ(sage3_attention(handle.get(), &p, reinterpret_cast<void*>(workspace), bytes, nullptr), SAGE3_OK)
        << sage3_message();
    return counted.instructions;
}

// 16 tiles of keys a tile of queries when nothing is hidden.
TEST(Sage3Window, skips_tiles_that_no_query_sees) {
    const uint64_t full = instructions(SAGE3_FULL, 0, 0, 0);
    const uint64_t window = instructions(SAGE3_FULL, SAGE3_WINDOW, 128, 0);  // 2 of 16 tiles, with masks
    EXPECT_LT(window * 4, full);
    const uint64_t top_left = instructions(SAGE3_TOP_LEFT, 0, 0, 0);  // 1 and 2 of 16
    EXPECT_LT(top_left * 5, full);
    const uint64_t nothing = instructions(SAGE3_FULL, SAGE3_WINDOW, -1, -1);
    EXPECT_EQ(nothing, full);
}

}  // namespace
}  // namespace ww::sage3

// SPDX-License-Identifier: Apache-2.0
// What an emulated device does for a CUDA runtime beyond Device.
#include <gtest/gtest.h>

#include <cstring>

#include "device/emulated.hpp"

namespace ww::device {
namespace {

constexpr const char* kPtx = R"(
.version 9.0
.target sm_90a
.address_size 64
.visible .global .u32 counter = 5;
.visible .const .u32 table[2] = {7, 8};
.visible .entry add(.param .u64 data)
.reqntid 32, 1, 1
{
    .reg .u64 d;
    .reg .u32 x, y;
    ld.param.u64 d, [data];
    ld.global.u32 x, [d];
    ld.const.u32 y, [table+4];
    add.u32 x, x, y;
    ld.global.u32 y, [counter];
    add.u32 x, x, y;
    st.global.u32 [d], x;
    ret;
}
.visible .entry peek(.param .u64 data)
{
    .reg .u64 d;
    .reg .u32 x;
    .shared .align 4 .u32 nobody[4];
    ld.param.u64 d, [data];
    ld.shared.u32 x, [nobody+8];
    st.global.u32 [d], x;
    ret;
}
)";

class Services : public testing::Test {
  protected:
    void SetUp() override {
        emulated = open_emulated_with_services({});
        auto loaded = emulated.device->load({.name = "test.ptx", .bytes = kPtx});
        ASSERT_TRUE(loaded) << format(loaded.error());
        module = *loaded;
    }
    Result<LaunchReport> run(const char* name, Address data) {
        auto kernel = emulated.device->kernel(module, name);
        EXPECT_TRUE(kernel);
        return emulated.device->launch(*kernel, {.block = {32, 1, 1}, .arguments = {Argument::of(data)}});
    }
    uint32_t word(Address at) {
        uint32_t value = 0;
        EXPECT_TRUE(emulated.device->copy_out({reinterpret_cast<std::byte*>(&value), sizeof value}, at));
        return value;
    }
    Emulated emulated;
    ModuleId module = 0;
};

TEST_F(Services, VariablesAreReadAndWritten) {
    EmulatedServices& services = *emulated.services;
    const auto counter = services.variable(module, "counter"), table = services.variable(module, "table");
    ASSERT_TRUE(counter && table);
    EXPECT_EQ(word(counter->address), 5u);
    EXPECT_EQ(table->address, 0u);
    EXPECT_EQ(table->bytes, 8u);
    const uint32_t given = 30;
    ASSERT_TRUE(services.copy_to_variable(module, "table", 4, std::as_bytes(std::span(&given, 1))));
    const auto data = emulated.device->allocate(4);
    ASSERT_TRUE(emulated.device->fill(*data, 0, 4));
    ASSERT_TRUE(run("add", *data));
    EXPECT_EQ(word(*data), 35u);
    uint32_t back = 0;
    ASSERT_TRUE(services.copy_from_variable(std::as_writable_bytes(std::span(&back, 1)), module, "table", 4));
    EXPECT_EQ(back, 30u);
    EXPECT_FALSE(services.copy_to_variable(module, "table", 8, std::as_bytes(std::span(&given, 1))));
    EXPECT_FALSE(services.variable(module, "nothing"));
}

TEST_F(Services, HostAndKernelsShareAPointer) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer has its shadow where the emulator's addresses are";
#endif
    const auto address = emulated.services->allocate_shared_with_host(10000);
    ASSERT_TRUE(address) << format(address.error());
    auto* host = reinterpret_cast<uint32_t*>(*address);
    EXPECT_EQ(host[2499], 0u);
    host[0] = 100;
    ASSERT_TRUE(run("add", *address));
    EXPECT_EQ(host[0], 113u);
    EXPECT_EQ(word(*address), 113u);
    EXPECT_TRUE(emulated.device->release(*address));
    EXPECT_FALSE(run("add", *address));
}

TEST_F(Services, CopiesKeepWhatIsUninitialised) {
    const auto from = emulated.device->allocate(8), to = emulated.device->allocate(8);
    ASSERT_TRUE(emulated.device->fill(*from, 1, 4));
    ASSERT_TRUE(emulated.services->copy(*to, *from, 8));
    EXPECT_TRUE(run("add", *to));
    EXPECT_FALSE(run("add", *to + 4));
    EXPECT_FALSE(emulated.services->copy(*to, *from, 9));
}

TEST_F(Services, UnwrittenSharedMemoryIsAFaultOrNaN) {
    const auto data = emulated.device->allocate(4);
    EXPECT_FALSE(run("peek", *data));
    emulated.services->permit_garbage_in_shared(true);
    ASSERT_TRUE(run("peek", *data));
    EXPECT_EQ(word(*data), 0xffffffffu);
}

TEST_F(Services, NeedsOfAKernel) {
    const auto add = emulated.services->needs(*emulated.device->kernel(module, "add"));
    const auto peek = emulated.services->needs(*emulated.device->kernel(module, "peek"));
    ASSERT_TRUE(add && peek);
    EXPECT_EQ(add->max_threads, 32u);
    EXPECT_EQ(add->static_shared_bytes, 0u);
    EXPECT_EQ(peek->max_threads, 1024u);
    EXPECT_EQ(peek->static_shared_bytes, 16u);
}

}  // namespace
}  // namespace ww::device

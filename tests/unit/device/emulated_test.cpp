// SPDX-License-Identifier: Apache-2.0
// The emulated device beside its launches: memory, modules, and who wrote what.
#include <gtest/gtest.h>

#include "device/device.hpp"

namespace ww::device {
namespace {

constexpr const char* kPtx =
    ".version 9.0 .target sm_90a .address_size 64 .file 1 \"k.cu\"\n"
    ".func f() { ret; }\n"
    ".global .u64 pointer = f;\n"
    ".visible .entry k(.param .u64 out) { .reg .b64 d; .reg .b32 r; .reg .pred p;\n"
    "ld.param.u64 d, [out]; mov.u32 r, %tid.x; setp.eq.u32 p, r, 3;\n"
    ".loc 1 7 3\n"
    "@p st.global.u32 [d], r; ret; }\n"
    ".visible .entry read(.param .u64 out) { .reg .b64 d, e;\n"
    "ld.param.u64 d, [out]; ld.global.u64 e, [pointer]; st.global.u64 [d], e; ret; }\n"
    ".visible .entry call_it(.param .u64 target) { .reg .b64 d;\n"
    "P: .callprototype _ (); ld.param.u64 d, [target]; call d, P; ret; }\n";

struct Fixture : testing::Test {
    std::unique_ptr<Device> device = open_emulated({.threads = 2});
    ModuleId load() {
        const Result<ModuleId> module = device->load({Image::Kind::ptx, "k.ptx", kPtx});
        EXPECT_TRUE(module) << format(module.error());
        return *module;
    }
    Result<LaunchReport> launch(ModuleId module, const char* kernel, uint64_t argument) {
        const Result<KernelId> id = device->kernel(module, kernel);
        if (!id) return id.failure();
        return device->launch(*id, {.block = {32, 1, 1}, .arguments = {Argument::of(argument)}});
    }
};
using EmulatedDevice = Fixture;

TEST_F(EmulatedDevice, LastWriteOutlivesTheModule) {
    const ModuleId module = load();
    const Address out = *device->allocate(8);
    device->trace_writes(true);
    ASSERT_TRUE(launch(module, "k", out));
    ASSERT_TRUE(device->unload(module));
    const std::optional<WriteRecord> record = device->last_write(out + 2);
    ASSERT_TRUE(record);
    EXPECT_EQ(record->kernel, "k");
    EXPECT_EQ(record->thread.x, 3u);
    EXPECT_EQ(record->ptx_line, 7);
    EXPECT_EQ(record->source_file, "k.cu");
    EXPECT_EQ(record->source_line, 7);
    EXPECT_FALSE(device->last_write(out + 4));
}

TEST_F(EmulatedDevice, FunctionAddressesBelongToOneModule) {
    const ModuleId first = load(), second = load();
    const Address cell = *device->allocate(8);
    ASSERT_TRUE(launch(first, "read", cell));
    uint64_t target = 0;
    ASSERT_TRUE(device->copy_out(std::as_writable_bytes(std::span(&target, 1)), cell));
    EXPECT_TRUE(launch(first, "call_it", target));
    const Result<LaunchReport> other = launch(second, "call_it", target);
    ASSERT_FALSE(other);
    EXPECT_NE(format(other.error()).find("is not a function of this module"), std::string::npos);
}

TEST_F(EmulatedDevice, BadMemoryCalls) {
    const Address at = *device->allocate(16);
    std::vector<std::byte> bytes(17);
    EXPECT_FALSE(device->allocate(0));
    EXPECT_FALSE(device->allocate(uint64_t{1} << 50));
    EXPECT_FALSE(device->copy_in(at, bytes));
    EXPECT_FALSE(device->copy_out(bytes, at));
    EXPECT_FALSE(device->copy_out(std::span(bytes).first(1), at - 1));
    EXPECT_FALSE(device->fill(at + 15, 0, 2));
    EXPECT_TRUE(device->fill(at + 16, 0, 0));
    EXPECT_FALSE(device->release(at + 1));
    EXPECT_TRUE(device->release(at));
    EXPECT_FALSE(device->release(at));
    EXPECT_FALSE(device->copy_out(std::span(bytes).first(1), at));
}

TEST_F(EmulatedDevice, UnloadedModulesAreGone) {
    const ModuleId module = load();
    const KernelId kernel = *device->kernel(module, "k");
    ASSERT_TRUE(device->unload(module));
    EXPECT_FALSE(device->unload(module));
    EXPECT_FALSE(device->kernel(module, "k"));
    EXPECT_FALSE(device->params(kernel));
    EXPECT_FALSE(device->launch(kernel, {}));
    EXPECT_FALSE(device->load({Image::Kind::cubin, "k.cubin", "\x7f" "ELF"}));
}

TEST_F(EmulatedDevice, SharedMemoryIsLimitedByTheTarget) {
    const std::string ptx = ".version 9.0 .target sm_80 .address_size 64\n"
                            ".visible .entry s() { .shared .b8 room[1024]; .reg .b64 d;"
                            " mov.u64 d, room; ret; }";
    for (const auto& [target, kib] : {std::pair("sm_75", 64u), {"sm_80", 163u}, {"sm_89", 99u},
                                      {"sm_90a", 227u}, {"sm_100a", 227u}, {"sm_120a", 99u}}) {
        const auto each = open_emulated({.target = target});
        EXPECT_EQ(each->info().max_shared_bytes, kib * 1024) << target;
        const auto module = each->load({Image::Kind::ptx, "s.ptx", ptx});
        ASSERT_TRUE(module) << format(module.error());
        EXPECT_EQ(*each->kernels(*module), std::vector<std::string>{"s"});
        const KernelId kernel = *each->kernel(*module, "s");
        EXPECT_TRUE(each->check(kernel, {.dynamic_shared_bytes = (kib - 1) * 1024}));
        EXPECT_FALSE(each->check(kernel, {.dynamic_shared_bytes = (kib - 1) * 1024 + 16}));
        EXPECT_FALSE(each->launch(kernel, {.dynamic_shared_bytes = (kib - 1) * 1024 + 16}));
    }
}

TEST_F(EmulatedDevice, FaultsNameTheTensor) {
    const ModuleId module = *device->load({Image::Kind::ptx, "r.ptx",
        ".version 9.0 .target sm_90a .address_size 64\n.visible .entry r(.param .u64 p) { .reg .b64 d; .reg .b32 x;"
        " ld.param.u64 d, [p]; ld.global.u32 x, [d]; ret; }"});
    const Address base = *device->allocate(
        8192, {.name = "tensor 'o'", .offset = 4096, .bytes = 64,
               .place = [](uint64_t byte) { return "element [" + std::to_string(byte / 4) + "]"; }});
    ASSERT_TRUE(device->fill(base, 0x55, 8192, false));
    const auto message = [&](Address at) { return format(launch(module, "r", at).error()); };
    EXPECT_NE(message(base + 4096 + 12).find("tensor 'o', byte 12 of 64 (element [3]) was never written"),
              std::string::npos) << message(base + 4096 + 12);
    EXPECT_NE(message(base + 4096 + 68).find("4 bytes past the end of tensor 'o' of 64 bytes"),
              std::string::npos) << message(base + 4096 + 68);
    EXPECT_NE(message(base + 4092).find("out-of-bounds global read"), std::string::npos);
    EXPECT_NE(message(base + 4092).find("4 bytes before tensor 'o' of 64 bytes"), std::string::npos);
}

TEST_F(EmulatedDevice, PoisonedMemoryIsUninitialised) {
    const ModuleId module = *device->load({Image::Kind::ptx, "r.ptx",
        ".version 9.0 .target sm_90a .address_size 64\n.visible .entry r(.param .u64 p) { .reg .b64 d; .reg .b32 x;"
        " ld.param.u64 d, [p]; ld.global.u32 x, [d]; ret; }"});
    const Address at = *device->allocate(4);
    ASSERT_TRUE(device->fill(at, 0xff, 4));
    EXPECT_TRUE(launch(module, "r", at));
    ASSERT_TRUE(device->fill(at, 0xff, 4, false));
    EXPECT_FALSE(launch(module, "r", at));
}

}  // namespace
}  // namespace ww::device

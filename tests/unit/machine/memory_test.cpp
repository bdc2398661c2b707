// SPDX-License-Identifier: Apache-2.0
// Device memory: places, bounds, and what a message says of an address.
#include "machine/memory.hpp"

#include <gtest/gtest.h>

namespace ww::machine {
namespace {

TEST(GlobalMemory, AddressesAreAlignedDisjointAndNotReused) {
    GlobalMemory memory;
    const uint64_t a = *memory.allocate(1), b = *memory.allocate(5000);
    EXPECT_EQ(a % GlobalMemory::kAlign, 0u);
    EXPECT_EQ(b % GlobalMemory::kAlign, 0u);
    EXPECT_GT(b, a + 4096);
    ASSERT_TRUE(memory.release(b));
    EXPECT_GT(*memory.allocate(5000), b + 5000);
}

TEST(GlobalMemory, TheNextDeviceStartsAnew) {
    uint64_t first = 0;
    {
        GlobalMemory memory;
        first = *memory.allocate(5000, {}, true);
        memory.find(first, 5000)->data[4999] = 7;
    }
    GlobalMemory memory, beside;
    EXPECT_EQ(*memory.allocate(5000), first);
    EXPECT_EQ(*beside.allocate(5000), first);
    for (const GlobalMemory* each : {&memory, &beside}) {
        EXPECT_EQ(each->find(first, 5000)->data[4999], 0);
        EXPECT_EQ(each->find(first, 5000)->valid[0], 0);
    }
    EXPECT_NE(memory.find(first, 1)->data, beside.find(first, 1)->data);
}

TEST(GlobalMemory, FindKeepsTheBounds) {
    GlobalMemory memory;
    const uint64_t at = *memory.allocate(100);
    EXPECT_TRUE(memory.find(at, 100));
    EXPECT_TRUE(memory.find(at + 99, 1));
    EXPECT_TRUE(memory.find(at + 100, 0));
    EXPECT_FALSE(memory.find(at + 100, 1));
    EXPECT_FALSE(memory.find(at + 50, 51));
    EXPECT_FALSE(memory.find(at - 1, 2));
    EXPECT_FALSE(memory.find(at, UINT64_MAX));
    EXPECT_FALSE(memory.find(UINT64_MAX, 2));
    EXPECT_FALSE(memory.find(0, 1));
}

TEST(GlobalMemory, DescribesTheNearestAllocation) {
    GlobalMemory memory;
    const uint64_t a = *memory.allocate(100, {"first"}), b = *memory.allocate(100, {"second"});
    const auto has = [&](uint64_t address, const std::string& text) {
        const std::string said = memory.describe(address);
        EXPECT_NE(said.find(text), std::string::npos) << said;
    };
    has(a + 7, "first, byte 7 of 100");
    has(a - 1, "1 bytes before first of 100 bytes");
    has(a + 100, "0 bytes past the end of first of 100 bytes");
    has(b - 1, "1 bytes before second");
    has(b + 103, "3 bytes past the end of second");
    has(0, "is in no allocation");
    ASSERT_TRUE(memory.release(b));
    has(b + 3, "the released second, byte 3 of 100");
}

TEST(GlobalMemory, ALabelNamesThePartBetweenGuardZones) {
    GlobalMemory memory;
    const auto place = [](uint64_t byte) { return "element " + std::to_string(byte / 4); };
    const uint64_t at = *memory.allocate(
        300, {.name = "tensor 'o'", .offset = 100, .bytes = 100, .place = place});
    EXPECT_EQ(memory.describe(at + 112), "tensor 'o', byte 12 of 100 (element 3)");
    EXPECT_EQ(memory.describe(at + 99), "1 bytes before tensor 'o' of 100 bytes");
    EXPECT_EQ(memory.describe(at), "100 bytes before tensor 'o' of 100 bytes");
    EXPECT_EQ(memory.describe(at + 204), "4 bytes past the end of tensor 'o' of 100 bytes");
    EXPECT_TRUE(memory.in_guard(at + 99));
    EXPECT_FALSE(memory.in_guard(at + 100));
    EXPECT_FALSE(memory.in_guard(at + 199));
    EXPECT_TRUE(memory.in_guard(at + 299));
    EXPECT_FALSE(memory.in_guard(at + 300));
    ASSERT_TRUE(memory.release(at));
    EXPECT_EQ(memory.describe(at + 112), "the released tensor 'o', byte 12 of 100 (element 3)");
}

TEST(GlobalMemory, RefusesWhatDoesNotFit) {
    GlobalMemory memory;
    EXPECT_FALSE(memory.allocate(0));
    EXPECT_FALSE(memory.allocate(GlobalMemory::kReserve));
    EXPECT_FALSE(memory.allocate(UINT64_MAX));
    EXPECT_FALSE(memory.release(GlobalMemory::kBase));
}

TEST(Region, WrapsFailClosed) {
    const Region region{.base = 16, .size = 16};
    EXPECT_FALSE(region.contains(0, 1));
    EXPECT_FALSE(region.contains(15, 2));
    EXPECT_TRUE(region.contains(16, 16));
    EXPECT_FALSE(region.contains(16, 17));
    EXPECT_FALSE(region.contains(31, UINT64_MAX));
}

}  // namespace
}  // namespace ww::machine

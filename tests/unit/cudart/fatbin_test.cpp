// SPDX-License-Identifier: Apache-2.0
#include "cudart/fatbin.hpp"

#include <gtest/gtest.h>

#include "samples.hpp"

namespace ww::cudart {
namespace {

using test::add_entry, test::Bytes, test::sample, test::whole;

std::string why(const std::vector<std::byte>& bytes) {
    const auto read = read_fat_binary(std::span(bytes));
    return read ? "" : format(read.error());
}

TEST(FatBinary, GivesThePtxAndPassesOverCubins) {
    const auto images = read_fat_binary(std::span<const std::byte>(sample()));
    ASSERT_TRUE(images) << format(images.error());
    ASSERT_EQ(images->size(), 2u);
    EXPECT_EQ((*images)[0].target.text(), "sm_90a");
    EXPECT_EQ((*images)[0].text, "\n.version 9.0\n.target sm_90a\n");
    EXPECT_EQ((*images)[1].target.text(), "sm_80");
}

TEST(FatBinary, ChoosesTheNewestThatTheDeviceHas) {
    const auto images = read_fat_binary(std::span<const std::byte>(sample()));
    ASSERT_TRUE(images);
    EXPECT_EQ(choose(*images, 90), &(*images)[0]);
    EXPECT_EQ(choose(*images, 86), &(*images)[1]);
    EXPECT_EQ(choose(*images, 120), &(*images)[1]);  // sm_90a is for 9.x alone
    EXPECT_EQ(choose(*images, 75), nullptr);
}

TEST(FatBinary, EveryCutIsADiagnostic) {
    const std::vector<std::byte> bytes = sample();
    for (size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(read_fat_binary(std::span(bytes.data(), size))) << size;
}

TEST(FatBinary, SaysWhatIsWrong) {
    EXPECT_NE(why({}).find("cut off"), std::string::npos);
    std::vector<std::byte> other = sample();
    other[0] = std::byte{0};
    EXPECT_NE(why(other).find("does not begin with its mark"), std::string::npos);
    Bytes lz4, plain, broken;
    add_entry(lz4, 1, ".target sm_90a", 0x2000);
    EXPECT_NE(why(whole(lz4)).find("nvcc --no-compress"), std::string::npos);
    add_entry(plain, 1, "no directive");
    EXPECT_NE(why(whole(plain)).find("without a .target"), std::string::npos);
    add_entry(broken, 1, "not zstd at all", 0x8000, 12);
    EXPECT_NE(why(whole(broken)).find("nvcc --no-compress"), std::string::npos);
}

}  // namespace
}  // namespace ww::cudart

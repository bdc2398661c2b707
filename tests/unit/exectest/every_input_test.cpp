// SPDX-License-Identifier: Apache-2.0
// The comparison over ranges of operands, with the emulator on both sides.
#include "exectest/every_input.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace ww::exectest {
namespace {

EveryInput compared(const std::string& right, const std::string& ours, uint32_t first, uint32_t blocks) {
    const auto device = device::open_emulated();
    auto found = compare_operands({*device, right}, {*device, ours}, first, blocks);
    EXPECT_TRUE(found) << found.error().front().message;
    return found ? *found : EveryInput{};
}

TEST(EveryInput, OneInstructionAgreesWithItself) {
    const EveryInput found = compared("lg2.approx.f32", "lg2.approx.f32", 0x3f7f8000, 4);
    EXPECT_EQ(found.results, 4 * kOperandsOfBlock);
    EXPECT_TRUE(found.good());
}

TEST(EveryInput, EachDifferingResultIsCounted) {
    // Around the least normal operand: below it .ftz flushes, and 1 / x is infinite all the same from
    // 2^-128 down.
    const EveryInput found = compared("rcp.approx.f32", "rcp.approx.ftz.f32", 0x007f0000, 2);
    EXPECT_EQ(found.mismatches, 0x10000u);
    EXPECT_EQ(found.first.substr(0, 16), "operand 007f0000");
    EXPECT_EQ(found.uncounted, 0u);
    EXPECT_FALSE(found.good());
}

TEST(EveryInput, WhatIsNotCountedIsSaid) {
    const EveryInput found = compared("neg.f32", "abs.f32", 0x3f800000, 66);
    EXPECT_EQ(found.mismatches, 64 * kOperandsOfBlock);
    EXPECT_EQ(found.uncounted, 2 * kOperandsOfBlock);
    EXPECT_NE(to_markdown({found}).find("131072 not counted"), std::string::npos);
}

TEST(EveryInput, AnInstructionThatDoesNotExistFails) {
    const auto device = device::open_emulated();
    EXPECT_FALSE(compare_operands({*device, "ex3.approx.f32"}, {*device, "ex2.approx.f32"}, 0, 1));
}

}  // namespace
}  // namespace ww::exectest

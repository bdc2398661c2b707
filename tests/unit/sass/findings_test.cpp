// SPDX-License-Identifier: Apache-2.0
// Every finding once where it is due, and beside it the nearest case where it is not.
#include "sass/findings.hpp"

#include <gtest/gtest.h>

#include "code.hpp"

namespace ww::sass {
namespace {

using test::read_code;

std::vector<NarrowAccess> narrow(std::string_view code) {
    const Listing read = read_code(code);
    return narrow_accesses(read.functions[0], graph_of(read.functions[0]));
}

TEST(narrow, two_neighbours_could_be_one) {
    const auto found = narrow("LDG.E R4, desc[UR6][R2.64]\nLDG.E R5, desc[UR6][R2.64+0x4]\nEXIT");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].of, Class::global);
    EXPECT_EQ(found[0].access, Access::load);
    EXPECT_EQ(found[0].bits, 32);
    EXPECT_EQ(found[0].wide_bits, 64);
    EXPECT_EQ(found[0].instead, 1);
    EXPECT_EQ(found[0].instructions, (std::vector<int>{0, 1}));
}

TEST(narrow, in_any_order_and_up_to_128_bits) {
    const auto found = narrow(
        "STS.64 [R4+0x18], R0\nSTS.64 [R4+0x8], R0\nSTS.64 [R4], R0\nSTS.64 [R4+0x10], R0\n"
        "STS.64 [R4+0x20], R0");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].wide_bits, 128);
    EXPECT_EQ(found[0].instead, 2);
    EXPECT_EQ(found[0].instructions, (std::vector<int>{2, 1, 3, 0}));  // 0x20 stays alone
}

TEST(narrow, only_aligned_neighbours) {
    EXPECT_TRUE(narrow("LDS R0, [R4+0x4]\nLDS R1, [R4+0x8]").empty());
    EXPECT_TRUE(narrow("LDS R0, [R4]\nLDS R1, [R4+0x8]").empty());
    EXPECT_TRUE(narrow("LDS R0, [R4]\nLDS R1, [R4]").empty());
    // 4, 8, 12, 16: the two in the middle.
    const auto found =
        narrow("LDS R0, [R4+0x4]\nLDS R1, [R4+0x8]\nLDS R2, [R4+0xc]\nLDS R3, [R4+0x10]");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].instructions, (std::vector<int>{1, 2}));
    EXPECT_EQ(found[0].wide_bits, 64);
    EXPECT_EQ(narrow("LDS R0, [R4+-0x8]\nLDS R1, [R4+-0x4]").size(), 1u);
}

TEST(narrow, near_misses) {
    const std::string_view codes[] = {
        // Another opcode, guard, base, or memory.
        "LDG.E R4, desc[UR6][R2.64]\nLDG.E.CONSTANT R5, desc[UR6][R2.64+0x4]",
        "@P0 LDG.E R4, desc[UR6][R2.64]\n@!P0 LDG.E R5, desc[UR6][R2.64+0x4]",
        "LDG.E R4, desc[UR6][R2.64]\nLDG.E R5, desc[UR6][R8.64+0x4]",
        "LDG.E R4, desc[UR6][R2.64]\nLDG.E R5, desc[UR8][R2.64+0x4]",
        "LDG.E R4, desc[UR6][R2.64]\nSTG.E desc[UR6][R2.64+0x4], R4",
        "LDS R4, [R2]\nLDL R5, [R2+0x4]",
        // Already as wide as can be.
        "LDG.E.128 R4, desc[UR6][R2.64]\nLDG.E.128 R8, desc[UR6][R2.64+0x10]",
        // The base changes in between: itself, its upper half, by a wide result, the guard.
        "LDS R4, [R2]\nIADD3 R2, R2, 0x4, RZ\nLDS R5, [R2+0x4]",
        "LDG.E R4, desc[UR6][R2.64]\nIADD3 R3, R3, 0x4, RZ\nLDG.E R5, desc[UR6][R2.64+0x4]",
        "LDS R4, [R2]\nLDS.128 R0, [R9]\nLDS R5, [R2+0x4]",
        "LDS R2, [R2]\nLDS R5, [R2+0x4]",
        "LDG.E R4, desc[UR6][R2.64]\nULDC.64 UR6, c[0x0][0x208]\nLDG.E R5, desc[UR6][R2.64+0x4]",
        "@P0 LDS R4, [R2]\nISETP.NE.AND P0, PT, R9, RZ, PT\n@P0 LDS R5, [R2+0x4]",
        "@P2 LDS R4, [R2]\nR2P PR, R9, 0x4\n@P2 LDS R5, [R2+0x4]",
        "LDS R8, [R3]\nF2F.F64.F32 R2, R9\nLDS R9, [R3+0x4]",
        // A barrier or another block in between.
        "STS [R2], R4\nBAR.SYNC.DEFER_BLOCKING 0x0\nSTS [R2+0x4], R5",
        "LDS R4, [R2]\nSYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R9+URZ], R3\nLDS R5, [R2+0x4]",
        "LDS R4, [R2]\n@P0 BRA `(t)\nLDS R5, [R2+0x4]\nt:\nEXIT",
        // No address, or no load.
        "LDC R4, c[0x0][0x210]\nLDC R5, c[0x0][0x214]",
        "LDGSTS.E [R3], desc[UR4][R4.64]\nLDGSTS.E [R3+0x4], desc[UR4][R4.64]",
    };
    for (const std::string_view code : codes) EXPECT_TRUE(narrow(code).empty()) << code;
}

TEST(narrow, what_changes_something_else_is_no_obstacle) {
    EXPECT_EQ(narrow("LDS R4, [R2]\nIADD3 R5, R5, 0x4, RZ\nLDS R6, [R2+0x4]").size(), 1u);
    EXPECT_EQ(
        narrow("@P0 LDS R4, [R2]\nISETP.NE.AND P1, PT, R9, RZ, PT\n@P0 LDS R5, [R2+0x4]").size(),
        1u);
    EXPECT_EQ(narrow("@P0 LDS R4, [R2]\nR2P PR, R9, 0x2\n@P0 LDS R5, [R2+0x4]").size(), 1u);
    EXPECT_EQ(narrow("LDS R4, [R2]\nLDS R0, [R9]\nLDS R5, [R2+0x4]").size(), 1u);
    // The register behind a 32-bit address is no part of it.
    EXPECT_EQ(narrow("LDS R4, [R3]\nLDS R5, [R3+0x4]").size(), 1u);
    EXPECT_EQ(narrow("LDS R4, [RZ]\nMOV R0, 0x1\nLDS R5, [RZ+0x4]").size(), 1u);
}

TEST(narrow, groups_come_by_their_first_instruction) {
    const auto found = narrow(
        "LDS R0, [R8]\nLDS R1, [R7]\nLDS R2, [R7+0x4]\nLDS R3, [R8+0x4]\nMOV R8, R9\n"
        "LDS R0, [R8]\nLDS R3, [R8+0x4]");
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].instructions, (std::vector<int>{0, 3}));
    EXPECT_EQ(found[1].instructions, (std::vector<int>{1, 2}));
    EXPECT_EQ(found[2].instructions, (std::vector<int>{5, 6}));
}

TensorOrder order(std::string_view code) {
    const Listing read = read_code(code);
    return tensor_order(read.functions[0], graph_of(read.functions[0]));
}

TEST(tensor_order, one_warpgroup_instruction_between_waits) {
    constexpr std::string_view kGmma = "HGMMA.64x64x16.F32 R24, gdesc[UR4], R24, gsb0\n";
    constexpr std::string_view kWait = "WARPGROUP.DEPBAR.LE gsb0, 0x0\n";
    const auto code = [](std::initializer_list<std::string_view> parts) {
        std::string out;
        for (const std::string_view part : parts) out += part;
        return out;
    };
    EXPECT_EQ(order(code({kGmma, kWait, kGmma, kWait})).waited_alone, (std::vector<int>{0, 2}));
    EXPECT_EQ(order(code({kGmma, kGmma, kWait, kGmma, kWait})).waited_alone, (std::vector<int>{3}));
    // It may leave one in flight; or nobody waits; or in another block.
    EXPECT_TRUE(order(code({kGmma, "WARPGROUP.DEPBAR.LE gsb0, 0x1\n"})).waited_alone.empty());
    EXPECT_TRUE(order(kGmma).waited_alone.empty());
    EXPECT_TRUE(order(code({kGmma, "t:\n", kWait})).waited_alone.empty());
    EXPECT_TRUE(order(code({kWait, kWait})).waited_alone.empty());
}

TEST(tensor_order, chained_by_the_accumulator) {
    EXPECT_EQ(
        order("HMMA.16816.F32 R4, R8, R12, R4\nFADD R0, R0, R1\nHMMA.16816.F32 R4, R10, R14, R4\n"
              "HMMA.16816.F32 R16, R10, R14, R4")
            .chained,
        (std::vector<int>{2, 3}));
    EXPECT_EQ(order("QMMA.SF.16832.F32.E4M3.E4M3.E8 R4, R8, R12, R4.reuse, R20, R21\n"
                    "QMMA.SF.16832.F32.E4M3.E4M3.E8 R4, R8, R12, R4.reuse, R20, R21")
                  .chained,
              (std::vector<int>{1}));
    const std::string_view misses[] = {
        "HMMA.16816.F32 R4, R8, R12, R4\nHMMA.16816.F32 R16, R8, R12, R16",  // two accumulators
        "HMMA.16816.F32 RZ, R8, R12, RZ\nHMMA.16816.F32 R4, R8, R12, RZ",    // zero is no result
        "HMMA.16816.F32 R4, R8, R12, R4\nt:\nHMMA.16816.F32 R4, R8, R12, R4",
        "HMMA.16816.F32 R4, R8, R12, RZ\nHMMA.16816.F32 R16, R4, R12, RZ",  // a result as A
        "HMMA.16816.F32 R4, R8, R12, R4\nHMMA.16816.F32 R16, R8, R12, R20\nHMMA.16816.F32 R4, R8, "
        "R12, R4",
    };
    for (const std::string_view code : misses) EXPECT_TRUE(order(code).chained.empty()) << code;
}

}  // namespace
}  // namespace ww::sass

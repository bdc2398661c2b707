// SPDX-License-Identifier: Apache-2.0
// Control codes: fields put into words and read back, and words of ptxas whose fields show in the
// listing's text (.reuse) or in who must wait for whom.
#include "sass/control.hpp"

#include <gtest/gtest.h>

#include "code.hpp"

namespace ww::sass {
namespace {

// The inverse of control_of, by the documented places in the 128 bits.
std::array<uint64_t, 2> encode(const Control& c) {
    const auto barrier = [](int value) { return static_cast<uint64_t>(value < 0 ? 7 : value); };
    return {0, static_cast<uint64_t>(c.stall) << (105 - 64) | uint64_t{!c.yield} << (109 - 64) |
                   barrier(c.write_barrier) << (110 - 64) | barrier(c.read_barrier) << (113 - 64) |
                   uint64_t{c.wait} << (116 - 64) | uint64_t{c.reuse} << (122 - 64)};
}

bool same(const Control& a, const Control& b) {
    return a.stall == b.stall && a.yield == b.yield && a.write_barrier == b.write_barrier &&
           a.read_barrier == b.read_barrier && a.wait == b.wait && a.reuse == b.reuse;
}

// Bits that belong to no field: the instruction's own, and the two above reuse.
constexpr uint64_t kOthers = ((uint64_t{1} << (105 - 64)) - 1) | uint64_t{3} << 62;

TEST(control, every_value_of_every_field_comes_back) {
    for (const uint64_t others : {uint64_t{0}, kOthers}) {
        const auto check = [&](const Control& made) {
            auto words = encode(made);
            words[0] = ~others;
            words[1] |= others;
            EXPECT_TRUE(same(control_of(words), made))
                << text(made) << " " << text(control_of(words));
        };
        for (int i = 0; i < 16; ++i) check({.stall = i}), check({.reuse = static_cast<uint8_t>(i)});
        for (int i = -1; i < 6; ++i) check({.write_barrier = i}), check({.read_barrier = i});
        for (int i = 0; i < 64; ++i) check({.wait = static_cast<uint8_t>(i)});
        check({.yield = true});
        check({9, true, 5, 2, 0x2a, 0x5});
        check({15, true, 0, 0, 0x3f, 0xf});
    }
}

TEST(control, text) {
    EXPECT_EQ(text({.stall = 4}), "B------:R-:W-:-:S04");
    EXPECT_EQ(
        text({.stall = 15, .yield = true, .write_barrier = 5, .read_barrier = 0, .wait = 0x21}),
        "B0----5:R0:W5:Y:S15");
    EXPECT_EQ(text({.wait = 0x04, .reuse = 0xf}), "B--2---:R-:W-:-:S00");
}

TEST(control, at_least_one_cycle_an_instruction) {
    EXPECT_EQ(scheduled_cycles({.stall = 0}), 1);
    EXPECT_EQ(scheduled_cycles({.stall = 1}), 1);
    EXPECT_EQ(scheduled_cycles({.stall = 15}), 15);
}

// Made by ptxas: the text says .reuse for each source that the register cache keeps.
TEST(control, reuse_is_what_the_text_says) {
    const struct {
        std::string_view text;
        uint64_t high;
        int reuse;
    } rows[] = {
        {"FFMA.RZ R27, R29.reuse, R30.reuse, R26.reuse", 0x1c0fe2000000c01a, 7},
        {"FFMA.RZ R51, R57, R55.reuse, R56.reuse", 0x180fe2000000c038, 6},
        {"IMAD R10, R9, R6, R3.reuse", 0x100fe200078e0203, 4},
        {"FMUL R9, R9, R6.reuse", 0x080fe20000400000, 2},
        {"IMAD.SHL.U32 R3, R0.reuse, 0x8, RZ", 0x040fe200078e00ff, 1},
        {"FADD R4, R23, R26", 0x000fe20000000000, 0},
    };
    for (const auto& row : rows) {
        const Control found = control_of({0, row.high});
        EXPECT_EQ(found.reuse, row.reuse) << row.text;
        Instruction instruction;
        instruction.operands = row.text.substr(row.text.find(' ') + 1);
        int shown = 0;
        const auto operands = operands_of(instruction);
        for (size_t i = 1; i < operands.size(); ++i)
            shown |= (operands[i].ends_with(".reuse") ? 1 : 0) << (i - 1);
        EXPECT_EQ(found.reuse, shown) << row.text;
    }
}

// Made by ptxas for sm_90: the loads set barriers 2 and 3, the first users wait for them.
TEST(control, who_waits_for_whom) {
    const Listing read = test::read_code(
        "@!P0 LDC.64 R24, c[0x0][0x210] | 8400ff188b82 e220000000a00\n"
        "@!P0 LDG.E.128 R8, desc[UR12][R18.64] | c12088981 ea6000c1e1d00\n"
        "@!P0 LEA R24, P1, R4, R24, 0x1 | 1804188211 1fc800078208ff\n"
        "CS2R R4, SRZ | 47805 fcc000001ff00\n"
        "@!P0 LDG.E.128 R4, desc[UR12][R24.64] | c18048981 ee2000c1e1d00\n"
        "HADD2.F32 R26, -RZ, R8.reuse.H0_H0 | 20000008ff1a7230 104fe40000004100\n"
        "HADD2.F32 R23, -RZ, R4.reuse.H0_H0 | 20000004ff177230 108fe40000004100");
    std::vector<std::string> found;
    int cycles = 0;
    for (const Instruction& each : read.functions[0].instructions) {
        found.push_back(text(control_of(each.words)));
        cycles += scheduled_cycles(control_of(each.words));
    }
    EXPECT_EQ(found, (std::vector<std::string>{"B------:R-:W0:-:S01", "B------:R-:W2:-:S03",
                                               "B0-----:R-:W-:Y:S04", "B------:R-:W-:Y:S06",
                                               "B------:R-:W3:-:S01", "B--2---:R-:W-:-:S02",
                                               "B---3--:R-:W-:-:S02"}));
    EXPECT_EQ(cycles, 19);
}

}  // namespace
}  // namespace ww::sass

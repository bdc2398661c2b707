// SPDX-License-Identifier: Apache-2.0
// Counts, rates, estimates and the analysis that puts them together, on loops counted by hand.
#include "sass/estimate.hpp"

#include <gtest/gtest.h>

#include "code.hpp"
#include "sass/analysis.hpp"

namespace ww::sass {
namespace {

using test::read_code;

Rates rates(std::string_view target) {
    auto found = rates_of(target);
    EXPECT_TRUE(found) << target;
    return *found;
}

double cycles(const Estimate& estimate, Pipe pipe) {
    return estimate.pipe[static_cast<size_t>(pipe)];
}

Estimate estimate_of(std::string_view code, std::string_view target) {
    const Listing read = read_code(code, target);
    Estimator made(rates(target));
    for (const Instruction& each : read.functions[0].instructions) made.add(each);
    return made.result();
}

TEST(rates, by_target) {
    EXPECT_EQ(rates("sm_90a").sm, 90);
    EXPECT_EQ(rates("sm_121a").sm, 120);
    EXPECT_EQ(rates("sm_120f").sm, 120);
    const auto unknown = rates_of("sm_61");
    ASSERT_FALSE(unknown);
    EXPECT_NE(format(unknown.error()).find("sm_90"), std::string::npos);
    EXPECT_FALSE(rates_of("x86"));
    EXPECT_FALSE(rates_of(""));
}

// A warp is 32 lanes. A multiprocessor of sm_90 has, for each of its four schedulers, 32 FMA lanes,
// 16 for IMAD and the ALU and 4 for MUFU: 1, 2 and 8 cycles.
TEST(estimate, pipes_of_sm_90) {
    const Estimate found = estimate_of(
        "FFMA R0, R1, R2, R3\nFADD R0, R1, R2\nFMUL R0, R1, R2\n"
        "IMAD R4, R5, R6, R7\nIADD3 R4, R5, R6, R7\nLOP3.LUT R4, R5, R6, RZ, 0xc0, !PT\n"
        "MUFU.EX2 R8, R9\nDFMA R2, R4, R6, R8\nLDG.E R0, desc[UR4][R2.64]\nNOP",
        "sm_90");
    EXPECT_EQ(found.issue, 10);
    EXPECT_EQ(cycles(found, Pipe::fma), 3);
    EXPECT_EQ(cycles(found, Pipe::imad), 2);
    EXPECT_EQ(cycles(found, Pipe::alu), 4);
    EXPECT_EQ(cycles(found, Pipe::xu), 8);
    EXPECT_EQ(cycles(found, Pipe::fp64), 2);
    EXPECT_EQ(cycles(found, Pipe::none), 0);
    EXPECT_EQ(found.bound(), "issue");
    EXPECT_EQ(found.cycles(), 10);
    EXPECT_EQ(found.scheduled, -1);
}

// 128 bytes a clock for the four schedulers' warps: a 128-bit load of 512 bytes is 4 * 4 cycles.
TEST(estimate, shared_memory_is_the_multiprocessor_s) {
    const Estimate found =
        estimate_of("LDS.128 R0, [R4]\nSTS [R4], R0\nLDSM.16.M88.4 R8, [R5]", "sm_90");
    EXPECT_EQ(cycles(found, Pipe::shared), 16 + 4 + 16);
    EXPECT_EQ(found.bound(), "shared");
}

// sm_80: 1024 multiply-adds a clock, 256 a scheduler; m16n8k16 is 2048 of them: 8 cycles.
// sm_90: a warpgroup's m64n256k16 is 262144, at 2048 a clock of all four: 128 cycles.
TEST(estimate, tensor_cores) {
    EXPECT_EQ(cycles(estimate_of("HMMA.16816.F32 R0, R4, R8, R0", "sm_80"), Pipe::tensor), 8);
    const Estimate wide = estimate_of("HGMMA.64x256x16.F32 R24, gdesc[UR4], R24", "sm_90a");
    EXPECT_EQ(cycles(wide, Pipe::tensor), 128);
    EXPECT_EQ(wide.tensor_unknown, 0);
    EXPECT_EQ(wide.bound(), "tensor");
    const Estimate fp4 =
        estimate_of("OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X R0, R4, R8, R0, R12, R13", "sm_120a");
    EXPECT_EQ(cycles(fp4, Pipe::tensor), 16);
    // No rate, or no shape in the opcode: counted, and not guessed.
    const Estimate none = estimate_of(
        "UTCHMMA gdesc[UR4], gdesc[UR6], tmem[UR8], tmem[UR10], idesc[UR11], UP0\n"
        "HMMA.16816.F32 R0, R4, R8, R0",
        "sm_100a");
    EXPECT_EQ(none.tensor_unknown, 2);
    EXPECT_EQ(cycles(none, Pipe::tensor), 0);
}

TEST(estimate, scheduled_cycles_are_the_sum_of_stalls) {
    const Estimate found = estimate_of(
        "IMAD R10, R9, R6, R3 | 609 fca000f8e02ff\nFADD R4, R23, R26 | 609 fe20000000000", "sm_90");
    EXPECT_EQ(found.scheduled, 5 + 1);
}

constexpr std::string_view kLoop =
    "//## File \"k.cu\", line 1\n"
    "MOV R0, RZ\n"
    "//## File \"k.cu\", line 3\n"
    "outer:\nLDG.E.128 R4, desc[UR4][R2.64]\n"
    "//## File \"k.cu\", line 5\n"
    "inner:\n"
    "LDS.64 R8, [R1]\n"
    "FFMA R9, R8, R4, R9\n"
    "FFMA R9, R8, R5, R9\n"
    "//## File \"k.cu\", line 4\n"
    "IADD3 R0, R0, 0x1, RZ\n"
    "ISETP.NE.AND P0, PT, R0, 0x8, PT\n"
    "@P0 BRA `(inner)\n"
    "//## File \"k.cu\", line 3\n"
    "STG.E.U16 desc[UR4][R2.64], R9\n"
    "@P1 BRA `(outer)\n"
    "FROB R1\n"
    "STL [R1], R9\n"
    "EXIT";

TEST(analysis, counts_in_total_by_loop_and_by_line) {
    const Listing read = read_code(kLoop);
    const Analysis found = analyse(read.functions[0], rates("sm_90"));
    EXPECT_EQ(found.total.total, 13);
    EXPECT_EQ(found.total[Class::fp32], 2);
    EXPECT_EQ(found.total[Class::branch], 3);
    EXPECT_EQ(found.total.opcodes.at("FFMA"), 2);
    EXPECT_EQ(found.total.loads[static_cast<size_t>(Class::global)][width_index(128)], 1);
    EXPECT_EQ(found.total.loads[static_cast<size_t>(Class::shared)][width_index(64)], 1);
    EXPECT_EQ(found.total.stores[static_cast<size_t>(Class::global)][width_index(16)], 1);
    EXPECT_EQ(found.unknown, (std::vector<std::string_view>{"FROB"}));
    EXPECT_EQ(found.local, (std::vector<int>{11}));

    ASSERT_EQ(found.loops.size(), 2u);
    const LoopAnalysis &outer = found.loops[0], &inner = found.loops[1];
    EXPECT_EQ(outer.all.total, 9);
    EXPECT_EQ(outer.own.total, 3);
    EXPECT_EQ(outer.all[Class::fp32], 2);
    EXPECT_EQ(outer.own[Class::fp32], 0);
    EXPECT_EQ(outer.all.opcodes.at("BRA"), 2);
    EXPECT_EQ(outer.all.loads[static_cast<size_t>(Class::shared)][width_index(64)], 1);
    EXPECT_EQ(outer.lines, (std::vector<SourceLine>{{0, 3}, {0, 4}, {0, 5}}));
    EXPECT_EQ(inner.all.total, 6);
    EXPECT_EQ(inner.own.total, 6);
    EXPECT_EQ(inner.lines, (std::vector<SourceLine>{{0, 4}, {0, 5}}));
    ASSERT_TRUE(inner.estimate && outer.estimate);
    EXPECT_EQ(inner.estimate->issue, 6);
    EXPECT_EQ(cycles(*inner.estimate, Pipe::fma), 2);
    EXPECT_EQ(cycles(*inner.estimate, Pipe::alu), 4);
    EXPECT_EQ(cycles(*inner.estimate, Pipe::shared), 8);
    EXPECT_EQ(inner.estimate->bound(), "shared");
    EXPECT_EQ(outer.estimate->issue, 3);
    EXPECT_EQ(inner.trip.step, 1);

    EXPECT_EQ(found.by_line.at({0, 3}).total, 6);
    EXPECT_EQ(found.by_line.at({0, 4}).total, 3);
    EXPECT_EQ(found.by_line.at({0, 5}).total, 3);
    EXPECT_EQ(found.by_line.at({0, 1}).total, 1);
    EXPECT_EQ(found.without_line.total, 0);
}

TEST(analysis, without_rates_nothing_is_estimated) {
    const Listing read = read_code("a:\nNOP\n@P0 BRA `(a)\nEXIT");
    const Analysis found = analyse(read.functions[0], std::nullopt);
    ASSERT_EQ(found.loops.size(), 1u);
    EXPECT_FALSE(found.loops[0].estimate);
    EXPECT_EQ(found.without_line.total, 3);
    EXPECT_TRUE(found.by_line.empty());
}

TEST(analysis, no_instructions) {
    const Analysis found = analyse(read_code("").functions[0], std::nullopt);
    EXPECT_EQ(found.total.total, 0);
    EXPECT_TRUE(found.graph.blocks.empty() && found.loops.empty());
}

TEST(MainLoop, IsTheShortestOfThoseWithMostTensorInstructionsElseTheLongest) {
    const auto of = [](std::string_view code) {
        const Listing read = read_code(code, "sm_90a");
        const Analysis analysis = analyse(read.functions[0], std::nullopt);
        return analysis.main_loop ? analysis.loops[*analysis.main_loop].own.total : 0;
    };
    const std::string masked = "a:\nHMMA.16816.F32 R0, R4, R8, R0\nFSEL R1, R2, R3, P0\nFSEL R1, R2, R3, P0\n@P0 BRA `(a)\n";
    const std::string plain = "b:\nHMMA.16816.F32 R0, R4, R8, R0\n@P0 BRA `(b)\n";
    const std::string copies = "c:\nLDG.E R1, [R2.64]\nSTS [R3], R1\nIADD3 R2, R2, 4, RZ\nIADD3 R3, R3, 4, RZ\n@P0 BRA `(c)\n";
    EXPECT_EQ(of(copies + masked + plain + "EXIT\n"), 2);
    EXPECT_EQ(of(plain + "d:\nIADD3 R2, R2, 4, RZ\n@P0 BRA `(d)\n" + copies + "EXIT\n"), 2);
    EXPECT_EQ(of("d:\nIADD3 R2, R2, 4, RZ\n@P0 BRA `(d)\n" + copies + "EXIT\n"), 5);
    EXPECT_EQ(of("IADD3 R2, R2, 4, RZ\nEXIT\n"), 0);
}

TEST(MainLoop, ItsFigureIsForSixtyFourTensorInstructions) {
    const auto of = [](std::string_view code) { return main_loop_of(analyse(read_code(code, "sm_90a").functions[0], std::nullopt)); };
    const auto figure = of("a:\nHMMA.16816.F32 R0, R4, R8, R0\nHMMA.16816.F32 R0, R4, R8, R0\nMUFU.EX2 R1, R2\nFADD R1, R1, R2\n@P0 BRA `(a)\nEXIT\n");
    ASSERT_TRUE(figure);
    EXPECT_EQ(figure->instructions, 160);
    EXPECT_EQ(figure->mufu, 32);
    EXPECT_FALSE(of("a:\nFADD R1, R1, R2\n@P0 BRA `(a)\nEXIT\n"));
    EXPECT_FALSE(of("EXIT\n"));
}

}  // namespace
}  // namespace ww::sass

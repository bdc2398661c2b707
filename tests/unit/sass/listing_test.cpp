// SPDX-License-Identifier: Apache-2.0
// The reader of listings: what it takes from a text, and what it refuses with which line.
#include "sass/listing.hpp"

#include <gtest/gtest.h>

#include "code.hpp"
#include "sass/graph.hpp"

namespace ww::sass {
namespace {

using test::listing_text;
using test::read_code;

// As nvdisasm prints sm_80: .sectioninfo follows .section.
constexpr std::string_view kLoop =
    "\t.target\tsm_80\n"
    "\t.section\t.text.k,\"ax\",@progbits\n"
    "\t.sectioninfo\t@\"SHI_REGISTERS=8\"\n"
    "        .type           k,@function\n"
    "k:\n.text.k:\n"
    "        /*0000*/                   MOV R0, RZ ;\n"
    ".L_x_0:\n"
    "        /*0010*/                   IADD3 R0, R0, 0x1, RZ ;\n"
    "        /*0020*/               @P0 BRA `(.L_x_0) ;\n"
    "        /*0030*/                   EXIT ;\n";

TEST(listing, sectioninfo_does_not_end_the_section) {
    const auto read = read_listing(std::string(kLoop), "k.sass");
    ASSERT_TRUE(read) << format(read.error());
    EXPECT_EQ(read->target, "sm_80");
    ASSERT_EQ(read->functions.size(), 1u);
    EXPECT_EQ(read->functions[0].instructions.size(), 4u);
    const Graph graph = graph_of(read->functions[0]);
    ASSERT_EQ(graph.loops.size(), 1u);
    EXPECT_EQ(graph.ranges(graph.loops[0]), (std::vector<std::pair<int, int>>{{1, 3}}));
}

TEST(listing, parts_of_an_instruction) {
    const Listing read = read_code(
        "@!UP1 LDG.E.128 R16, desc[UR6][R2.64+0x10] | c040610021470 fc80000000800\n"
        "EXIT | 794d 3800000000000");
    const Function& function = read.functions.at(0);
    EXPECT_TRUE(function.has_encoding);
    const Instruction& first = function.instructions.at(0);
    EXPECT_EQ(first.guard, "@!UP1");
    EXPECT_EQ(first.opcode, "LDG.E.128");
    EXPECT_EQ(first.operands, "R16, desc[UR6][R2.64+0x10]");
    EXPECT_EQ(operands_of(first), (std::vector<std::string_view>{"R16", "desc[UR6][R2.64+0x10]"}));
    EXPECT_EQ(first.words, (std::array<uint64_t, 2>{0xc040610021470, 0xfc80000000800}));
    const Instruction& last = function.instructions.at(1);
    EXPECT_EQ(last.offset, 16u);
    EXPECT_EQ(last.line, 8);
    EXPECT_TRUE(last.guard.empty() && last.operands.empty());
    EXPECT_TRUE(operands_of(last).empty());
}

TEST(listing, commas_inside_brackets_are_no_separators) {
    const Listing read = read_code("DEPBAR.LE SB0, 0x0, {2}\nFOO c[0x0][R1, R2], (a, b), R3");
    EXPECT_EQ(operands_of(read.functions[0].instructions[1]),
              (std::vector<std::string_view>{"c[0x0][R1, R2]", "(a, b)", "R3"}));
}

TEST(listing, lines_of_the_source) {
    const Listing read = read_code(
        "//## File \"a.cuh\", line 7 inlined at \"k.cu\", line 20\n"
        "//## File \"k.cu\", line 20\n"
        "//## File \".nv_debug_ptx_txt\", line 31\n"
        "MOV R0, RZ\nMOV R1, RZ\n"
        "//## File \"k.cu\", line 21\n"
        "EXIT\n"
        "//## File \"a.cuh\", line 7 inlined at \"k.cu\", line 20\n"
        "//## File \"k.cu\", line 20\n"
        "NOP");
    const Function& function = read.functions[0];
    ASSERT_EQ(read.files, (std::vector<std::string>{"a.cuh", "k.cu"}));
    ASSERT_EQ(function.chains.size(), 2u);  // the same chain is kept once
    EXPECT_EQ(function.chains[0], (SourceChain{{0, 7}, {1, 20}}));
    EXPECT_EQ(function.chains[1], (SourceChain{{1, 21}}));
    std::vector<int> chains, ptx;
    for (const Instruction& each : function.instructions) {
        chains.push_back(each.chain);
        ptx.push_back(each.ptx_line);
    }
    EXPECT_EQ(chains, (std::vector<int>{0, 0, 1, 0}));
    EXPECT_EQ(ptx, (std::vector<int>{31, 31, 31, 31}));
}

TEST(listing, labels_branches_and_functions) {
    const Listing read = read_code(
        "CALL.REL.NOINC `($sub)\nBRX R2 -0x10 (*\"BRANCH_TARGETS .L_x_1,.L_x_2\"*)\n"
        ".L_x_1:\nEXIT\n.type\t$sub,@function\n$sub:\n.L_x_2:\nRET.REL.NODEC R20 `(k)");
    const Function& function = read.functions[0];
    EXPECT_EQ(function.instructions[0].target, 3);
    EXPECT_EQ(function.instructions[1].jumps, ".L_x_1,.L_x_2");
    EXPECT_EQ(function.instructions[1].operands, "R2 -0x10");
    EXPECT_EQ(function.instructions[3].target, 0);
    ASSERT_EQ(function.labels.size(), 4u);
    std::vector<std::pair<std::string_view, bool>> labels;
    for (const Label& each : function.labels) labels.emplace_back(each.name, each.is_function);
    EXPECT_EQ(labels, (std::vector<std::pair<std::string_view, bool>>{
                          {"k", true}, {".L_x_1", false}, {"$sub", true}, {".L_x_2", false}}));
    EXPECT_EQ(read.find("k"), &function);
    EXPECT_EQ(read.find("kk"), nullptr);
}

TEST(listing, labels_and_lines_are_each_section_s_own) {
    const std::string one = listing_text("//## File \"k.cu\", line 3\n.L_x_0:\nBRA `(.L_x_0)\n");
    const auto read = read_listing(one + listing_text(".L_x_0:\nBRA `(.L_x_0)\n"), "k.sass");
    ASSERT_TRUE(read) << format(read.error());
    ASSERT_EQ(read->functions.size(), 2u);
    EXPECT_EQ(read->functions[0].instructions[0].chain, 0);
    EXPECT_EQ(read->functions[1].instructions[0].chain, -1);
    EXPECT_EQ(read->functions[1].instructions[0].target, 0);
}

TEST(listing, data_sections_are_passed_over) {
    const auto read = read_listing(
        "\t.section\t.nv.info,\"\",@SHT_CUDA_INFO\n\t.byte 1, 2\nanything at all\n" +
            listing_text("EXIT") + "\t.section\t.nv.constant0.k,\"a\",@progbits\n 1 2 3\n",
        "k.sass");
    ASSERT_TRUE(read) << format(read.error());
    EXPECT_EQ(read->functions.size(), 1u);
}

void expect_failure(const std::string& text, int line, std::string_view part) {
    const auto read = read_listing(text, "k.sass");
    ASSERT_FALSE(read) << text;
    ASSERT_EQ(read.error().size(), 1u);
    EXPECT_EQ(read.error()[0].file, "k.sass");
    EXPECT_EQ(read.error()[0].line, line) << format(read.error());
    EXPECT_NE(read.error()[0].message.find(part), std::string::npos) << format(read.error());
}

TEST(listing, what_is_no_listing_is_refused_with_its_line) {
    expect_failure("", 0, "no code in it");
    expect_failure("hello\nworld\n", 0, "no code in it");
    // The code's first line is the listing's sixth.
    expect_failure(listing_text("/*0000*/ EXIT"), 6, "no ';'");
    expect_failure(listing_text("/*0000*/ EXIT ; what"), 6, "no encoding");
    expect_failure(listing_text("/*0000*/ EXIT ; /* 0xzz */"), 6, "no encoding");
    expect_failure(listing_text("/*0008*/ EXIT ;"), 6, "offset 0x8 where 0x0 is due");
    expect_failure(listing_text("/*zz*/ EXIT ;"), 6, "starts with its offset");
    expect_failure(listing_text("/*0000 EXIT ;"), 6, "starts with its offset");
    expect_failure(listing_text("/*0000*/ @P0 ;"), 6, "guard");
    expect_failure(listing_text("/*0000*/ ;"), 6, "no opcode");
    expect_failure(listing_text("/*0000*/ 123 ;"), 6, "no opcode");
    expect_failure(listing_text("EXIT") + "hello\n", 7, "neither an instruction");
    expect_failure(listing_text("/* 0x12 */"), 6, "belongs to no instruction");
    expect_failure(listing_text("EXIT | 1 2\n/* 0x12 */"), 8, "belongs to no instruction");
    expect_failure(listing_text("EXIT | 1 0\n/* 0x12 */"), 8, "belongs to no instruction");
    expect_failure(listing_text("EXIT\n/* 0x12 */"), 7, "belongs to no instruction");
    expect_failure(listing_text("/*0000*/ NOP ; /* 0x1 */\n/*0010*/ EXIT ;"), 7, "other half");
    expect_failure(listing_text("/*0000*/ NOP ; /* 0x1 */"), 6, "other half");
    expect_failure(listing_text("NOP | 1 2\nEXIT"), 8, "some instructions only");
    expect_failure(listing_text("NOP\nEXIT | 1 2"), 7, "some instructions only");
    expect_failure(listing_text("//## File k.cu, line 1"), 6, "names no file and line");
    expect_failure(listing_text("//## File \"k.cu\", line x"), 6, "names no file and line");
    expect_failure(listing_text("//## File \"k.cu\", line -1"), 6, "names no file and line");
    expect_failure(listing_text("a:\nEXIT\na:"), 8, "twice");
    expect_failure(listing_text(":"), 6, "without a name");
    expect_failure(listing_text("BRA `(.L_x_9)\nEXIT"), 6, "no label .L_x_9");
    expect_failure(listing_text("BRA `(.L_x_9\nEXIT"), 6, "does not end");
    expect_failure(listing_text("BRA `(.L_x_9)\n.L_x_9:"), 6, "behind the last instruction");
}

}  // namespace
}  // namespace ww::sass

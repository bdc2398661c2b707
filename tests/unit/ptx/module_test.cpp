// SPDX-License-Identifier: Apache-2.0
// What parse() leaves in the module, beyond what its printed form shows; coverage().
#include <gtest/gtest.h>

#include <bit>

#include "isa/row.hpp"
#include "ptx/coverage.hpp"
#include "ptx/module.hpp"

namespace ww::ptx {
namespace {

constexpr std::string_view kHead = ".version 9.0\n.target sm_90a\n.address_size 64\n";

Module parsed(std::string_view text) {
    auto module = parse(std::string(kHead) + std::string(text), "test.ptx");
    EXPECT_TRUE(module) << format(module.error());
    return module ? std::move(*module) : Module{};
}

Instruction instruction(std::string_view text) {
    Module module = parsed(".entry k { " + std::string(text) + " }");
    if (module.functions.empty() || module.functions[0].instructions.empty()) return {};
    return module.functions[0].instructions[0];
}

TEST(Module, LiteralsHaveTheirBits) {
    EXPECT_EQ(instruction("mov.b64 %rd1, -1;").operands[1].value, ~uint64_t{0});
    const Operand single = instruction("mov.f32 %f1, 0f7FC00001;").operands[1];
    EXPECT_EQ(single.kind, Operand::Kind::real);
    EXPECT_EQ(single.value32, 0x7FC00001u);  // the payload of a NaN survives
    const Operand tenth = instruction("mov.f64 %fd1, 0.1;").operands[1];
    EXPECT_EQ(std::bit_cast<double>(tenth.value), 0.1);
    EXPECT_EQ(std::bit_cast<float>(tenth.value32), 0.1f);
    EXPECT_EQ(instruction("mov.b32 %r1, 1<<4|3;").operands[1].value, 19u);
}

TEST(Module, Operands) {
    const Instruction load = instruction("@!%p1 ld.global.v2.u32 {%r1, _}, [%rd1+-8];");
    EXPECT_EQ(load.guard, "%p1");
    EXPECT_TRUE(load.guard_negated);
    ASSERT_EQ(load.operands.size(), 2u);
    EXPECT_EQ(load.operands[0].items[1].kind, Operand::Kind::sink);
    EXPECT_EQ(load.operands[1].displacement, -8);
    EXPECT_EQ(load.operands[1].items[0].text, "%rd1");
    ASSERT_NE(load.row, nullptr);

    EXPECT_EQ(instruction("mov.u32 %r1, %tid.x;").operands[1].text, "%tid.x");
    const Operand element = instruction("mov.f32 %f1, %v.y;").operands[1];
    EXPECT_EQ(element.text, "%v");
    EXPECT_EQ(element.component, ".y");
    EXPECT_EQ(instruction("setp.eq.u32 %p1|_, %r1, 1;").operands[0].items.size(), 2u);
    EXPECT_TRUE(instruction("selp.b32 %r1, 1, 2, !%p1;").operands[3].negated);
    EXPECT_TRUE(instruction("vmad.s32.s32.s32 %r1, -%r2, %r3, %r4;").operands[1].minus);
    EXPECT_EQ(instruction("add .s32 %r1, %r2, 3;").opcode, "add.s32");
}

TEST(Module, CachedMatchesEqualFreshOnes) {
    const Module module = parsed(
        ".entry k { add.s32 %r1, %r2, 3; add.s32 %r4, %r5, 6; mov.b32 %r1, %r2; mov.b32 %r1, {%h1, "
        "%h2};"
        " add.s32 %r1, %r2; add.s32 %r1, %r2; }");
    for (const Instruction& found : module.functions[0].instructions) {
        Instruction fresh = found;
        isa::match(fresh);
        EXPECT_EQ(found.row, fresh.row);
        EXPECT_EQ(found.choices, fresh.choices);
        EXPECT_EQ(found.positions, fresh.positions);
        EXPECT_EQ(found.why, fresh.why);
    }
}

TEST(Module, Variables) {
    const Module module = parsed(
        ".global .s32 rows[][2] = { {1}, {2, -3} };\n.extern .shared .align 32 .b8 dynamic[];\n"
        ".global .f32 f = 1.5;\n.global .v4 .f32 v;\n.global .u8 m = 0xff00(0x1234);\n");
    const Variable& rows = module.variables[0];
    EXPECT_EQ(rows.dims, (std::vector<uint64_t>{2, 2}));
    EXPECT_EQ(rows.bytes(), 16u);
    ASSERT_EQ(rows.initial.size(), 4u);
    EXPECT_EQ(rows.initial[1].bits, 0u);
    EXPECT_EQ(rows.initial[2].bits, 2u);
    EXPECT_EQ(rows.initial[3].bits, 0xFFFFFFFDu);  // in the variable's type
    EXPECT_EQ(module.variables[1].bytes(), 0u);
    EXPECT_EQ(module.variables[1].alignment(), 32u);
    EXPECT_EQ(module.variables[2].initial[0].bits, 0x3FC00000u);
    EXPECT_EQ(module.variables[3].alignment(), 16u);
    EXPECT_EQ(module.variables[4].initial[0].bits, 0x12u);
}

TEST(Module, LinesOfInstructions) {
    const Module module = parsed(
        ".file 3 \"a.cu\"\n.entry k {\nexit;\n.loc 3 7 1\n  exit;\nexit; }\n.entry l { exit; }");
    const auto& instructions = module.functions[0].instructions;
    EXPECT_EQ(instructions[0].loc, -1);
    EXPECT_EQ(instructions[1].place.line, 8);
    EXPECT_EQ(instructions[1].place.col, 3);
    EXPECT_EQ(module.locs[static_cast<size_t>(instructions[2].loc)].line, 7);
    EXPECT_EQ(module.functions[1].instructions[0].loc, -1);  // a function starts without a line
    EXPECT_EQ(module.file(3)->path, "a.cu");
}

TEST(Module, FunctionPrefersTheBody) {
    const Module module = parsed(".func f;\n.func f { ret; }\n.func f;\n");
    ASSERT_NE(module.function("f"), nullptr);
    EXPECT_TRUE(module.function("f")->has_body);
    EXPECT_EQ(module.function("g"), nullptr);
}

TEST(Module, ManyErrorsStop) {
    std::string text = ".entry k {\n";
    for (int i = 0; i < 500; ++i) text += "mov.u32 %r1, ;\n";
    const auto module = parse(std::string(kHead) + text + "}", "test.ptx");
    ASSERT_FALSE(module);
    EXPECT_EQ(module.error().size(), 100u);
    EXPECT_NE(module.error().back().message.find("too many errors"), std::string::npos);
}

TEST(Coverage, CountsAndNamesWhatIsUnsupported) {
    const Module module = parsed(
        ".entry k {\nadd.s32 %r1, %r2, 3;\nfrob.u32 %r1;\nfrob.u32 %r2;\nadd.s32 %r1, %r2, 4;\n}");
    const Coverage found = coverage(module);
    EXPECT_EQ(found.instructions, 4u);
    EXPECT_EQ(found.distinct, 2u);
    ASSERT_EQ(found.unsupported.size(), 1u);
    EXPECT_EQ(found.unsupported[0].text, "frob.u32");
    EXPECT_EQ(found.unsupported[0].line, 6);
    EXPECT_EQ(found.unsupported[0].count, 2u);
    EXPECT_NE(found.unsupported[0].why.find("unknown instruction"), std::string::npos);
}

}  // namespace
}  // namespace ww::ptx

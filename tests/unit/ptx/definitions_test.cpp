// SPDX-License-Identifier: Apache-2.0
// Source lines through inlined calls, and the definitions of what an instruction reads.
#include "ptx/definitions.hpp"

#include <gtest/gtest.h>

namespace ww::ptx {
namespace {

constexpr const char* kText = R"(.version 8.0
.target sm_90a
.address_size 64
.file 1 "k.cu"
.file 2 "a.cuh"
.visible .entry k(.param .u64 out) {
    .reg .b64 %rd<4>;
    .reg .b32 %r<6>;
    .reg .pred %p<2>;
    .loc 1 7 5
    ld.param.u64 %rd1, [out];
    .loc 1 9 3
    .loc 2 20 5, function_name $L__info_string0, inlined_at 1 9 3
    .loc 2 4 1, function_name $L__info_string1, inlined_at 2 20 5
    mov.u32 %r1, 5;
    .loc 2 5 1, function_name $L__info_string1, inlined_at 1 30 2
    add.s32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 6;
    @%p1 mov.u32 %r1, 7;
    @%p1 st.global.u32 [%rd1+4], %r1;
    ret;
}
)";

std::vector<std::string> texts(const std::vector<const Instruction*>& list) {
    std::vector<std::string> out;
    for (const Instruction* each : list) out.push_back(print(*each));
    return out;
}

TEST(Definitions, SourceLinesGoOutwards) {
    const auto module = parse(kText, "k.ptx");
    ASSERT_TRUE(module) << format(module.error());
    const Function& function = module->functions.front();
    const auto lines = source_lines(*module, function.instructions[1].loc);
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[0].file, "a.cuh");
    EXPECT_EQ(lines[0].line, 4);
    EXPECT_EQ(lines[1].line, 20);
    EXPECT_EQ(lines[2].file, "k.cu");
    EXPECT_EQ(lines[2].line, 9);
    // A call site without a .loc of its own is still named.
    const auto alone = source_lines(*module, function.instructions[2].loc);
    ASSERT_EQ(alone.size(), 2u);
    EXPECT_EQ(alone[1].line, 30);
    EXPECT_TRUE(source_lines(*module, -1).empty());
}

TEST(Definitions, OfAStoreAreAddressValueAndGuard) {
    const auto module = parse(kText, "k.ptx");
    ASSERT_TRUE(module) << format(module.error());
    const Function& function = module->functions.front();
    const auto found = operand_definitions(function, function.instructions[5]);
    EXPECT_EQ(texts(found),
              (std::vector<std::string>{"ld.param.u64 %rd1, [out];", "mov.u32 %r1, 5;",
                                        "setp.eq.u32 %p1, %r2, 6;", "@%p1 mov.u32 %r1, 7;"}));
    EXPECT_TRUE(defined_registers(function.instructions[5]).empty());
    EXPECT_EQ(defined_registers(function.instructions[3]), std::vector<std::string>{"%p1"});
}

TEST(Definitions, OnlyTheLastOnEachPath) {
    const auto module = parse(R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out) {
    .reg .b64 %rd<2>;
    .reg .b32 %r<3>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 1;
    mov.u32 %r2, 0;
loop:
    add.s32 %r1, %r1, 2;
    add.s32 %r2, %r2, 3;
    setp.lt.u32 %p1, %r2, 9;
    @%p1 bra loop;
    mov.u32 %r1, 4;
    @%p1 bra done;
    mov.u32 %r1, 5;
done:
    st.global.u32 [%rd1], %r1;
    ret;
}
)",
                              "k.ptx");
    ASSERT_TRUE(module) << format(module.error());
    const Function& function = module->functions.front();
    EXPECT_EQ(texts(operand_definitions(function, function.instructions[10])),
              (std::vector<std::string>{"ld.param.u64 %rd1, [out];", "mov.u32 %r1, 4;",
                                        "mov.u32 %r1, 5;"}));
    EXPECT_EQ(texts(operand_definitions(function, function.instructions[4])),
              (std::vector<std::string>{"mov.u32 %r2, 0;", "add.s32 %r2, %r2, 3;"}));
}

}  // namespace
}  // namespace ww::ptx

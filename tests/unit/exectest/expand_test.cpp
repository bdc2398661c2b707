// SPDX-License-Identifier: Apache-2.0
// The kernel around a body: layout of memory, and places of lines.
#include <gtest/gtest.h>

#include "exectest/expand.hpp"

namespace ww::exectest {
namespace {

const char* const kText =
    "// Two of everything.\n// threads 32\n// trials 2\n// in a s32, p pred\n// inout v f16x2[2]\n"
    "// out d b128\n// shared m b32[8]\n// global g u8[16]\n// module\n"
    ".func (.reg .u32 r) f(.reg .u32 x)\n{\n    add.u32 r, x, 1;\n    ret;\n}\n// body\n"
    "    // a comment; with a semicolon\n    again: { @!p add.s32 a, a, 1; }\n"
    "    .reg .u64 q;\n    mov.u64 q, g;  /* st.global.u32\n    [q], a; */ mov.b128 d,\n      {q, q};\n";

TestFile test() { return *parse_test("chapter/name", kText, "name.ptx"); }

TEST(Expand, LaysSlotsOutOnTheirOwnLines) {
    Layout layout = make_layout(test());
    ASSERT_EQ(layout.in.size(), 4u);  // a, p, v and the first content of m
    EXPECT_EQ(layout.in[0].bytes, 256u);
    EXPECT_EQ(layout.in[1].offset, 256u);
    EXPECT_EQ(layout.in[1].bytes, 64u);
    EXPECT_EQ(layout.in[2].offset, 512u);
    EXPECT_EQ(layout.in[2].bytes, 512u);
    EXPECT_EQ(layout.in[3].bytes, 64u);
    ASSERT_EQ(layout.out.size(), 3u);
    EXPECT_EQ(layout.out[1].bytes, 1024u);
    ASSERT_EQ(layout.scratch.size(), 1u);
    EXPECT_EQ(layout.scratch_bytes, 256u);
}

TEST(Expand, KnowsItsLines) {
    TestFile file = test();
    Expanded expanded = expand(file);
    EXPECT_EQ(expanded.kernel, "chapter__name");
    std::vector<std::string> lines = {""};
    for (char c : expanded.ptx) {
        if (c == '\n') lines.emplace_back();
        else lines.back() += c;
    }
    EXPECT_EQ(lines.at(expanded.module_line - 1), ".func (.reg .u32 r) f(.reg .u32 x)");
    EXPECT_EQ(lines.at(expanded.body_line - 1), "    // a comment; with a semicolon");
    Diagnostic at;
    at.file = "expanded";
    at.line = expanded.body_line + 1;
    Diagnostic moved = relocate(at, file, expanded);
    EXPECT_EQ(moved.file, "name.ptx");
    EXPECT_EQ(moved.line, 17);
    at.line = expanded.module_line + 2;
    EXPECT_EQ(relocate(at, file, expanded).line, 12);
    at.line = 1;
    EXPECT_EQ(relocate(at, file, expanded).file, "expanded");
}

}  // namespace
}  // namespace ww::exectest

// SPDX-License-Identifier: Apache-2.0
// The header of an instruction test: what is read, and the place of every mistake.
#include <gtest/gtest.h>

#include <algorithm>

#include "exectest/test_file.hpp"

namespace ww::exectest {
namespace {

TestFile read(const std::string& text) {
    auto test = parse_test("chapter/name", text, "name.ptx");
    EXPECT_TRUE(test) << format(test.error());
    return test ? *test : TestFile{};
}

std::string first_line(const Result<TestFile>& test) {
    if (test) return "";
    const Diagnostic& d = test.error().at(0);
    return std::to_string(d.line) + ": " + d.message;
}

std::string error_of(const std::string& text) {
    return first_line(parse_test("chapter/name", text, "name.ptx"));
}

TEST(TestFile, ReadsTheHeader) {
    TestFile test = read(
        "// in two lines:\n// Adds, and more.\n// target sm_90a\n// threads 4x2\n// trials 3\n"
        "// in a s32, b s32 near a\n// out d s32\n// shared m b32[64] bits\n// nan any\n"
        "    add.s32 d, a, b;\n");
    EXPECT_EQ(test.description, "in two lines: Adds, and more.");
    EXPECT_EQ(test.target, "sm_90a");
    EXPECT_EQ(test.lanes(), 24u);
    ASSERT_EQ(test.fields.size(), 4u);
    EXPECT_EQ(test.fields[1].generator.name, "near");
    EXPECT_EQ(test.fields[1].generator.other, "a");
    EXPECT_EQ(test.fields[3].bytes(), 256u);
    EXPECT_TRUE(test.any_nan);
    EXPECT_EQ(test.body, "    add.s32 d, a, b;\n");
    EXPECT_EQ(test.body_line, 10);
    EXPECT_FALSE(test.has_expect());
}

TEST(TestFile, ReadsModuleTextAndLists) {
    TestFile test = read(
        "// d\n// threads 2\n// trials 1\n// in a b32\n// out d b32\n// values a 1 0xff\n"
        "// expect d 2\n// expect d 3\n// module\n.global .u32 g;\n// body\n    mov.b32 d, a;\n");
    EXPECT_EQ(test.module_text, ".global .u32 g;\n");
    EXPECT_EQ(test.module_line, 10);
    EXPECT_EQ(test.body_line, 12);
    EXPECT_EQ(test.fields[0].generator.listed, (std::vector<uint64_t>{1, 255}));
    EXPECT_EQ(test.fields[1].expect, (std::vector<uint64_t>{2, 3}));
    EXPECT_TRUE(test.has_expect());
}

TEST(TestFile, TellsWhereAMistakeIs) {
    const std::string tail = "// out d s32\n    mov.s32 d, 1;\n";
    EXPECT_EQ(error_of("// x\n// in a q32\n" + tail).substr(0, 14), "2: no type 'q3");
    EXPECT_EQ(error_of("// x\n// in a\n" + tail),
              "2: an operand is written 'name type' or 'name type generator'");
    EXPECT_EQ(error_of("// x\n// in a s32 nearly\n" + tail).substr(0, 24), "2: no generator 'nearly'");
    EXPECT_EQ(error_of("// x\n// in a s32 near b\n" + tail),
              "2: 'near' takes the name of an earlier input of the same type");
    EXPECT_EQ(error_of("// x\n// in a s32, a s32\n" + tail), "2: 'a' is declared twice");
    EXPECT_EQ(error_of("// x\n// trials 0\n" + tail).substr(0, 10), "2: 'trials");
    EXPECT_EQ(error_of("// x\n// target 90\n" + tail), "2: '90' is no compile target: write it as sm_90, sm_90a or sm_120a");
    EXPECT_EQ(error_of("// x\n// nan some\n" + tail), "2: 'nan' takes the value any");
    EXPECT_EQ(error_of("// x\n" + tail.substr(0, 13) + "// speed 3\n    mov.s32 d, 1;\n").substr(0, 24),
              "3: unknown key 'speed'; ");
    EXPECT_EQ(error_of("// x\n// shared m b32[3]\n" + tail),
              "2: a scratch array is a multiple of 16 bytes, at most 1 MiB");
    EXPECT_EQ(error_of("// x\n// in a s32 9..2\n" + tail), "2: '9..2': a range is written first..last");
    EXPECT_EQ(error_of("// x\n// in a s32\n// values a 1 2 3\n" + tail),
              "2: 'a': 3 values do not divide the 512 of all threads");
    EXPECT_EQ(error_of("// x\n// in a s32 listed\n" + tail), "2: 'a' needs a line 'values a HEX ...'");
    EXPECT_EQ(error_of("// x\n// in a s32\n// values a zz\n" + tail),
              "3: 'zz' is no hexadecimal number of 64 bits");
    EXPECT_EQ(error_of("// x\n// out d s32\n"), "1: the test has no instructions");
    EXPECT_EQ(error_of("// x\n// in a s32\n    mov.s32 a, 1;\n"), "2: the test has no output");
    EXPECT_EQ(error_of(""), "1: the test has no instructions");
}

TEST(TestFile, TheRepositorysTestsCanBeRead) {
    auto tests = load_tests(std::string(WW_SOURCE_DIR) + "/tests/ptx/exec", "");
    ASSERT_TRUE(tests) << format(tests.error());
    EXPECT_GT(tests->size(), 250u);
    EXPECT_TRUE(std::is_sorted(tests->begin(), tests->end(), [](const auto& a, const auto& b) {
        return a.path < b.path;
    }));
    auto some = load_tests(std::string(WW_SOURCE_DIR) + "/tests/ptx/exec", "float_arith/fma_r?_f64");
    ASSERT_TRUE(some);
    EXPECT_EQ(some->size(), 4u);
    EXPECT_FALSE(load_tests("/nowhere", ""));
}

}  // namespace
}  // namespace ww::exectest

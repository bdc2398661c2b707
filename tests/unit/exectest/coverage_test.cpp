// SPDX-License-Identifier: Apache-2.0
// Which rows a test executes, and that the list of untested rows cannot be wrong unnoticed.
#include "exectest/coverage.hpp"

#include <gtest/gtest.h>

namespace ww::exectest {
namespace {

TestFile test(const std::string& text) { return *parse_test("chapter/name", text, "name.ptx"); }

std::vector<std::string> covered(const std::string& text) {
    std::vector<std::string> found;
    const auto coverage = row_coverage({test(text)});
    for (const RowCoverage& entry : *coverage)
        if (!entry.tests.empty()) found.emplace_back(entry.row->mnemonic());
    return found;
}

TEST(Coverage, CountsTheTestsOwnTextOnly) {
    // The harness loads and stores around it.
    EXPECT_EQ(covered("// One.\n// in a u32\n// out d u32\n    not.b32 d, a;\n"), (std::vector<std::string>{"not"}));
    EXPECT_EQ(covered("// Function.\n// in a u32\n// out d u32\n// module\n"
                      ".func (.reg .u32 r) f(.reg .u32 x)\n{\n    popc.b32 r, x;\n    ret;\n}\n// body\n"
                      "    call (d), f, (a);  // not.b32 d, a;\n"),
              (std::vector<std::string>{"popc", "call", "ret"}));
}

TEST(Coverage, NamesThePlaceOfWhatIsNoPtx) {
    const auto coverage = row_coverage({test("// Bad.\n// out d u32\n    mov.u32 d, (;\n")});
    ASSERT_FALSE(coverage);
    EXPECT_EQ(coverage.error().front().file, "name.ptx");
    EXPECT_EQ(coverage.error().front().line, 3);
}

void bind_nothing(const isa::Match&, isa::Binding&) {}

isa::Row row(std::string_view syntax, std::string_view sets, isa::Bind bind) {
    isa::Row made;
    made.syntax = syntax;
    made.sets = sets;
    made.bind = bind;
    return made;
}

TEST(Coverage, ListAndTestsMustAgree) {
    const isa::Row tested = row("a d", "", bind_nothing), bare = row("b d", ".type = .u32", bind_nothing),
                   parsed = row("c d", "", nullptr);
    const std::vector<RowCoverage> coverage = {{&tested, {"x/a"}}, {&bare, {}}, {&parsed, {}}};
    const auto check = [&](std::vector<isa::UntestedRow> list) { return check_untested(coverage, list); };
    EXPECT_TRUE(check({{"b d", ".type = .u32"}}).empty());
    ASSERT_EQ(check({}).size(), 1u);
    EXPECT_NE(check({})[0].find("no test executes 'b d'"), std::string::npos);
    // The same syntax with other sets is another row.
    EXPECT_EQ(check({{"b d", ""}}).size(), 2u);
    const isa::UntestedRow good = {"b d", ".type = .u32"};
    for (const auto& [stale, why] : std::vector<std::pair<isa::UntestedRow, std::string>>{
             {{"a d", ""}, "x/a executes it"}, {{"c d", ""}, "without semantics"}, {{"e d", ""}, "no row"}}) {
        const auto wrong = check({good, stale});
        ASSERT_EQ(wrong.size(), 1u) << why;
        EXPECT_NE(wrong[0].find(why), std::string::npos) << wrong[0];
    }
}

TEST(Coverage, OnlyARowWithoutSemanticsIsParsed) {
    for (const isa::Row& entry : isa::rows())
        EXPECT_EQ(isa::state(entry) == isa::State::parsed, entry.bind == nullptr) << entry.syntax;
}

}  // namespace
}  // namespace ww::exectest

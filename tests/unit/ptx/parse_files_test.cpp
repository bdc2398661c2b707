// SPDX-License-Identifier: Apache-2.0
// Runs tests/ptx/parse/*.ptx. A file holds PTX text and, in "//= " lines at its end, what print()
// makes of it, or for bad_*.ptx the diagnostics. WW_REWRITE=1 in the environment rewrites them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/files.hpp"
#include "base/text.hpp"
#include "ptx/module.hpp"

namespace ww::ptx {
namespace {

const std::filesystem::path kFolder = WW_SOURCE_DIR "/tests/ptx/parse";

std::vector<std::string> names() {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(kFolder))
        if (entry.path().extension() == ".ptx") found.push_back(entry.path().stem().string());
    std::sort(found.begin(), found.end());
    return found;
}

struct Case {
    std::string source, expected;
};

Case split_case(const std::string& text) {
    Case result;
    const size_t marks = text.find("\n//= ");
    result.source = text.substr(0, marks == std::string::npos ? text.size() : marks + 1);
    if (marks == std::string::npos) return result;
    for (std::string_view line : split(std::string_view(text).substr(marks + 1), '\n'))
        if (line.starts_with("//= ")) result.expected += std::string(line.substr(4)) + "\n";
    return result;
}

std::string marked(const std::string& text) {
    std::string out;
    std::string_view rest = text;
    if (rest.ends_with('\n')) rest.remove_suffix(1);
    for (std::string_view line : split(rest, '\n')) out += "//= " + std::string(line) + "\n";
    return out;
}

class ParseFile : public testing::TestWithParam<std::string> {};

TEST_P(ParseFile, PrintsOrFailsAsExpected) {
    const std::filesystem::path path = kFolder / (GetParam() + ".ptx");
    const auto text = read_file(path);
    ASSERT_TRUE(text) << format(text.error());
    const Case example = split_case(*text);
    const auto module = parse(example.source, GetParam() + ".ptx");
    EXPECT_EQ(module.has_value(), !GetParam().starts_with("bad_")) << format(module.error());
    const std::string got = module ? print(*module) : format(module.error());
    if (std::getenv("WW_REWRITE")) {
        const std::string end_of_source =
            example.source.ends_with('\n') || example.source.empty() ? "" : "\n";
        ASSERT_TRUE(write_file(path, example.source + end_of_source + marked(got)));
        return;
    }
    EXPECT_EQ(marked(got), marked(example.expected));
    if (!module) return;
    const auto again = parse(got, "printed");
    ASSERT_TRUE(again) << format(again.error());
    EXPECT_EQ(print(*again), got);
}

INSTANTIATE_TEST_SUITE_P(Files, ParseFile, testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace ww::ptx

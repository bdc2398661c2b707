// SPDX-License-Identifier: Apache-2.0
// Every tests/port/bad/*.toml is refused with exactly the messages that its last lines
// "# expect: line:col: message" give. With WW_RECORD=1 those lines are written anew.
#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "base/text.hpp"
#include "port/reader.hpp"
#include "port_text.hpp"

namespace ww::port {
namespace {

constexpr std::string_view kExpect = "# expect: ";

struct BadPort {
    std::string text;  // without the expectations
    std::vector<std::string> expected;
};

BadPort split_expectations(const std::string& file) {
    BadPort out;
    for (const std::string_view line : split(file, '\n')) {
        if (line.starts_with(kExpect))
            out.expected.emplace_back(line.substr(kExpect.size()));
        else
            out.text += std::string(line) + "\n";
    }
    while (out.text.ends_with("\n\n")) out.text.pop_back();
    return out;
}

TEST(bad_port, messages) {
    size_t files = 0;
    const bool record = std::getenv("WW_RECORD") != nullptr;
    for (const auto& entry : std::filesystem::directory_iterator(tests_folder() / "bad")) {
        SCOPED_TRACE(entry.path().filename().string());
        ++files;
        const BadPort bad = split_expectations(must(read_file(entry.path())));
        const auto result = parse_port(bad.text, entry.path().filename());
        EXPECT_FALSE(result.has_value());
        std::vector<std::string> found;
        for (const Diagnostic& each : result.error()) {
            EXPECT_EQ(each.file, entry.path().filename().string());
            found.push_back(fmt::format("{}:{}: {}", each.line, each.col, each.message));
        }
        if (record) {
            std::string text = bad.text;
            for (const std::string& each : found) text += std::string(kExpect) + each + "\n";
            must(write_file(entry.path(), text));
        } else {
            EXPECT_EQ(found, bad.expected);
        }
    }
    EXPECT_GT(files, 50u);
}

}  // namespace
}  // namespace ww::port

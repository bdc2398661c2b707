// SPDX-License-Identifier: Apache-2.0
// Large and deep inputs end soon, with a message. (Small ones of every kind: tests/fuzz.)
#include <fmt/format.h>

#include "port/reader.hpp"
#include "port_text.hpp"

namespace ww::port {
namespace {

std::string repeat(std::string_view piece, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += piece;
    return out;
}

std::string refusal(const std::string& text) { return error_of(parse_port(text, "hostile.toml")); }

TEST(hostile_port, deep) {
    EXPECT_EQ(refusal(repeat("a.", 100000) + "b = 1"), "a key of more than 16 parts");
    EXPECT_EQ(refusal(fmt::format("[{}b]", repeat("a.", 100000))), "a key of more than 16 parts");
    for (const char* piece : {"[", "{a=", "[[", "{"})
        EXPECT_NE(refusal(fmt::format("a = {}", repeat(piece, 60000))), "no error") << piece;
    // Dots inside strings and comments are no keys.
    EXPECT_EQ(refusal(fmt::format("# {0}\n[port]\nname = '{0}'\n", repeat(".", 100))),
              "a port.toml has no 'case'");
}

// toml++ 3.3 runs into undefined behaviour on these.
TEST(hostile_port, characters_outside_ascii) {
    constexpr const char* kOutside = "a character outside ASCII, outside of strings and comments";
    constexpr const char* kEscaped = "a character outside ASCII right behind a '\\'";
    for (const char* text : {"\xc3\xa9", "a = \xc3\xa9", "a\xe1\x9a\x81 = 1", "a = 1 \xe2\x81\xa1",
                             "[\xff]", "a = [1,\xf0\x9f\x98\x80]"})
        EXPECT_EQ(refusal(text), kOutside) << text;
    EXPECT_EQ(refusal("a = \"\"\"\\\n  \xc3\xa9\"\"\""), kEscaped);
    EXPECT_EQ(refusal("a = \"\"\"\\\xc3\xa9\"\"\""), kEscaped);
    EXPECT_EQ(refusal("[# = 1"),
              "Error while parsing key: expected bare key starting "
              "character or string delimiter, saw '#'");
    EXPECT_NE(refusal("a = \"\\\xc3\xa9\""), "no error");
    EXPECT_EQ(refusal("\xef\xbb\xbf# \xc3\xa9\n[port]\nname = '\xc3\xa9'\n"),
              "a port.toml has no 'case'");
}

TEST(hostile_port, long_words) {
    const std::string word(100000, 'x');
    const auto named = parse_port(fmt::format("[tensors.{}]\n", word), "hostile.toml");
    ASSERT_FALSE(named.has_value());
    EXPECT_EQ(named.error().back().message,
              fmt::format("'{}...' cannot name a tensor: at most 64 letters, digits and _, the "
                          "first no digit",
                          std::string(64, 'x')));
    EXPECT_NE(refusal(fmt::format("[tensors]\n{} = 1\n{} = 1\n", word, std::string(100000, 'y'))),
              "no error");
    EXPECT_EQ(refusal(std::string(1 << 19, '\n')), "more than 256 KiB of TOML");
}

TEST(hostile_port, many_parts) {
    std::string text = "[port]\nname = \"p\"\n[axes]\nL = 4\n";
    std::string inputs;
    for (int i = 0; i < 250; ++i) {
        text +=
            fmt::format("[tensors.t{}]\ndtype = \"f32\"\nshape = [\"L\"]\nrole = \"input\"\n", i);
        inputs += fmt::format("\"t{}\",", i);
    }
    text += fmt::format(
        "[tensors.y]\ndtype = \"f32\"\nshape = [\"L\"]\nrole = \"output\"\n"
        "[[stage]]\nname = \"s\"\noutputs = [\"y\"]\ninputs = [{}]\n"
        "[implementations.reference.s]\nkind = \"library\"\nsymbol = \"f\"\n",
        inputs);
    for (int i = 0; i < 4000; ++i) text += fmt::format("[[case]]\nid = \"{}\"\n", i);
    const auto port = parse_port(text, "hostile.toml");
    ASSERT_TRUE(port.has_value()) << format(port.error());
    EXPECT_EQ(port->cases.size(), 4000u);
    for (int i = 4000; i < 4100; ++i) text += fmt::format("[[case]]\nid = \"{}\"\n", i);
    EXPECT_EQ(refusal(text), "4100 cases; at most 4096 are supported");
}

}  // namespace
}  // namespace ww::port

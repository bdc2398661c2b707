// SPDX-License-Identifier: Apache-2.0
#include "bench/protocol.hpp"

#include <gtest/gtest.h>

namespace ww::bench {
namespace {

TEST(Protocol, RequestsAreOneLineEach) {
    EXPECT_EQ(hello_line(), R"({"do":"hello","protocol":1})");
    EXPECT_EQ(time_line(9, 3), R"({"do":"time","launches":9,"untimed":3})");
    EXPECT_EQ(output_line("/a \"b\"\n"), R"({"do":"output","file":"/a \"b\"\n"})");
    EXPECT_EQ(close_line(), R"({"do":"close"})");
    port::Scope scope;
    scope.integers["B"] = 2;
    scope.reals["scale"] = 0.5;
    EXPECT_EQ(open_line({.case_id = "c", .inputs = "/f", .scope = &scope, .output = "o", .sets = 3}),
              R"({"case":"c","do":"open","inputs":"/f","output":"o","sets":3,"values":{"B":2,"scale":0.5}})");
}

TEST(Protocol, AnswersAreReadOrRefused) {
    const auto good = read_answer(R"({"ok": true, "about": "x 1", "seconds": [1e-3, 2]})");
    ASSERT_TRUE(good);
    EXPECT_EQ(good->text, "x 1");
    EXPECT_EQ(good->seconds, (std::vector<double>{1e-3, 2}));
    EXPECT_EQ(read_answer(R"({"unavailable": "no"})")->kind, Answer::Kind::unavailable);
    EXPECT_EQ(read_answer(R"({"error": "bad", "ok": true})")->kind, Answer::Kind::error);
    for (const char* bad : {"", "hello", "[]", "{}", "null", R"({"ok": false})", R"({"ok": 1})", R"({"ok": true, "seconds": 3})",
                            R"({"ok": true, "seconds": ["a"]})", R"({"unavailable": 3})", "{\"ok\": true", "\xff\xfe"}) {
        const auto answer = read_answer(bad);
        ASSERT_FALSE(answer) << bad;
        EXPECT_NE(answer.error().front().message.find("no answer of the protocol"), std::string::npos) << bad;
    }
    const auto deep = read_answer(std::string(100'000, '['));
    EXPECT_FALSE(deep);
}

}  // namespace
}  // namespace ww::bench

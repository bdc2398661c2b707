// SPDX-License-Identifier: Apache-2.0
#include "bench/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace ww::bench {
namespace {

Report example() {
    Report out{.port = "a <port> & \"more\"", .date = "2026-11-30T00:00:00Z", .rounds = 6};
    out.device.name = "GPU";
    const auto subject = [](const char* name, Subject::Kind kind, double seconds) {
        return Subject{.kind = kind, .name = name, .launches = 3, .seconds = std::vector<double>(6, seconds)};
    };
    Case c{.id = "one", .sizes = "N=1", .flops = 1e12};
    c.subjects = {subject("mine, kernel", Subject::Kind::kernel, 1e-3), subject("peer", Subject::Kind::peer, 2e-3),
                  subject("wrong", Subject::Kind::peer, 1e-9)};
    c.subjects[0].bound = 5e-4;
    c.subjects[0].accuracy = Accuracy{.rows = 4, .relative_l1 = 0.0123};
    c.subjects[2].state = Subject::State::incorrect;
    c.subjects[2].why = "its output is not finite";
    c.ratios = {{"mine, kernel", "peer", {2, 1.9, 2.1, true}, {Verdict::faster, ""}}};
    c.conditions = {{.sm_mhz = 300}, {.sm_mhz = 1900, .watts = 600}, {.sm_mhz = 1500, .watts = 650}};
    out.cases = {c};
    out.peers = {{"peer", "about it", ""}, {"none", "", "not installed"}};
    return out;
}

TEST(BenchReport, TablesHaveSpeedBoundErrorAndRatio) {
    const std::string text = to_markdown(example());
    for (const char* line : {"a <port> & \"more\" on GPU, 2026-11-30T00:00:00Z; 6 rounds, SM clock 1500 to 1900 MHz, up to 650 W\n",
                             "| case | mine, kernel        | peer | wrong                |\n", "| one  | 1000, 50 % (0.0123) | 500  | 1000000000 incorrect |\n",
                             "2.00 [1.90, 2.10] faster", "- none: unavailable: not installed\n",
                             "- one: wrong: incorrect: its output is not finite\n"})
        EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

TEST(BenchReport, JsonHasEveryRound) {
    const std::string text = to_json(example());
    for (const char* part : {"\"verb\": \"bench\"", "\"median\": 0.001", "\"verdict\": \"faster\"", "\"sm_mhz\": 1500", "\"bound\": null"})
        EXPECT_NE(text.find(part), std::string::npos) << part;
}

// Well formed, nothing of the text unescaped, and a bar for what is good only, as high as it is fast.
TEST(BenchReport, ThePlotIsSoundSvg) {
    const std::string text = to_svg(example());
    EXPECT_EQ(text.rfind("<svg ", 0), 0U);
    EXPECT_NE(text.find("a &lt;port&gt; &amp; &quot;more&quot;"), std::string::npos);
    EXPECT_EQ(std::count(text.begin(), text.end(), '<'), std::count(text.begin(), text.end(), '>'));
    EXPECT_NE(text.find("<title>one: mine, kernel: 1000</title>"), std::string::npos);
    EXPECT_EQ(text.find("wrong"), std::string::npos);
    // The axis ends at 1000: the whole height, and half of it.
    EXPECT_NE(text.find("height=\"240.0\" fill=\"#d55e00\""), std::string::npos) << text;
    EXPECT_NE(text.find("height=\"120.0\" fill=\"#e69f00\""), std::string::npos) << text;
    Report many = example();
    many.cases.resize(9, many.cases[0]);
    const std::string rows = to_svg(many);  // the second row's axis ends one row lower
    EXPECT_NE(rows.find("y1=\"280.0\""), std::string::npos);
    EXPECT_NE(rows.find("y1=\"640.0\""), std::string::npos);
    EXPECT_EQ(to_svg(Report{}).find("nan"), std::string::npos);
}

}  // namespace
}  // namespace ww::bench

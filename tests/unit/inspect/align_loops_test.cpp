// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "inspect/diff.hpp"

namespace ww::inspect {
namespace {

LoopFacts loop(int id, int parent, std::map<std::string, int64_t> classes, std::vector<std::string> lines = {}) {
    LoopFacts out{.id = id, .parent = parent};
    for (const auto& [name, count] : classes) out.all.total += count;
    out.all.classes = std::move(classes);
    out.own = out.all;
    out.lines = std::move(lines);
    return out;
}

using Pairs = std::vector<std::pair<int, int>>;

TEST(AlignLoops, EqualTreesPairEachLoopWithItself) {
    const std::vector<LoopFacts> tree{loop(0, -1, {{"fp32", 20}}), loop(1, 0, {{"fp32", 8}}), loop(2, 0, {{"mufu", 4}}),
                                      loop(3, -1, {{"fp32", 20}})};
    EXPECT_EQ(align_loops(tree, tree), (Pairs{{0, 0}, {1, 1}, {2, 2}, {3, 3}}));
}

TEST(AlignLoops, AnInsertedLoopMovesTheOthersOn) {
    const std::vector<LoopFacts> before{loop(0, -1, {{"fp32", 20}}), loop(1, -1, {{"shared", 9}})};
    const std::vector<LoopFacts> after{loop(0, -1, {{"global", 7}}), loop(1, -1, {{"fp32", 22}}),
                                       loop(2, -1, {{"shared", 9}})};
    EXPECT_EQ(align_loops(before, after), (Pairs{{-1, 0}, {0, 1}, {1, 2}}));
    EXPECT_EQ(align_loops(after, before), (Pairs{{0, -1}, {1, 0}, {2, 1}}));
}

TEST(AlignLoops, ALoopOfAnotherDepthIsAnotherLoop) {
    const std::vector<LoopFacts> before{loop(0, -1, {{"fp32", 20}}), loop(1, 0, {{"mufu", 8}})};
    const std::vector<LoopFacts> after{loop(0, -1, {{"fp32", 20}}), loop(1, -1, {{"mufu", 8}})};
    EXPECT_EQ(align_loops(before, after), (Pairs{{0, 0}, {1, -1}, {-1, 1}}));
}

TEST(AlignLoops, WhatIsWithinALoopThatWentIsGoneToo) {
    const std::vector<LoopFacts> before{loop(0, -1, {{"fp32", 20}}), loop(1, 0, {{"mufu", 8}})};
    EXPECT_EQ(align_loops(before, {}), (Pairs{{0, -1}, {1, -1}}));
}

TEST(AlignLoops, LinesDecideBetweenEquals) {
    const std::vector<LoopFacts> before{loop(0, -1, {{"fp32", 20}}, {"a.cu:4"})};
    const std::vector<LoopFacts> after{loop(0, -1, {{"fp32", 20}}, {"a.cu:9"}), loop(1, -1, {{"fp32", 20}}, {"a.cu:4"})};
    EXPECT_EQ(align_loops(before, after), (Pairs{{-1, 0}, {0, 1}}));
}

TEST(AlignLoops, UnlikeLoopsAreNoPair) {
    const std::vector<LoopFacts> before{loop(0, -1, {{"fp32", 7}, {"mufu", 3}})};
    EXPECT_EQ(align_loops(before, {loop(0, -1, {{"global", 7}, {"mufu", 3}})}), (Pairs{{0, 0}}));  // 0.3 alike
    EXPECT_EQ(align_loops(before, {loop(0, -1, {{"global", 8}, {"mufu", 2}})}), (Pairs{{0, -1}, {-1, 0}}));
}

}  // namespace
}  // namespace ww::inspect

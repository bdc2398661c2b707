// SPDX-License-Identifier: Apache-2.0
// Blocks, edges, dominators and loops of small pieces of code, written out by hand.
#include "sass/graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "code.hpp"

namespace ww::sass {
namespace {

using test::read_code;
using Edges = std::vector<std::vector<int>>;

Graph graph(std::string_view code) { return graph_of(read_code(code).functions.at(0)); }

Edges edges(const Graph& graph) {
    Edges out;
    for (const Block& block : graph.blocks) out.push_back(block.successors);
    return out;
}

TEST(graph, straight_code_is_one_block) {
    const Graph g = graph("MOV R0, RZ\nNOP\nEXIT");
    ASSERT_EQ(g.blocks.size(), 1u);
    EXPECT_EQ(g.blocks[0].end, 3);
    EXPECT_TRUE(g.blocks[0].successors.empty() && g.loops.empty());
    EXPECT_EQ(g.block_of, (std::vector<int>{0, 0, 0}));
}

TEST(graph, if_else) {
    const Graph g = graph("@P0 BRA `(b)\nNOP\nBRA `(c)\nb:\nNOP\nc:\nEXIT");
    EXPECT_EQ(edges(g), (Edges{{1, 2}, {3}, {3}, {}}));
    EXPECT_EQ(g.dominator, (std::vector<int>{-1, 0, 0, 0}));
    EXPECT_TRUE(g.dominates(0, 3) && g.dominates(3, 3) && !g.dominates(1, 3));
    EXPECT_TRUE(g.loops.empty());
}

// What falls through: everything but an unguarded branch, EXIT or RET.
TEST(graph, what_ends_the_flow) {
    const struct {
        std::string_view code;
        std::vector<int> next;
    } rows[] = {
        {"BRA `(t)", {2}},
        {"@PT BRA `(t)", {2}},
        {"@P3 BRA `(t)", {1, 2}},
        {"@!PT BRA `(t)", {1, 2}},
        {"@UP0 BRA `(t)", {1, 2}},
        {"BRA P1, `(t)", {1, 2}},
        {"BRA !P1, `(t)", {1, 2}},
        {"BRA.U UP0, `(t)", {1, 2}},
        {"BRA.U !UP0, `(t)", {1, 2}},
        {"BRA.DIV UR4, `(t)", {1, 2}},
        {"BRA.CONV UR4, `(t)", {1, 2}},
        {"JMP `(t)", {2}},
        {"EXIT", {}},
        {"@P0 EXIT", {1}},
        {"EXIT P0", {1}},
        {"RET.REL.NODEC R20 `(k)", {}},
        {"@P0 RET.REL.NODEC R20 `(k)", {1}},
        {"KILL", {}},
        {"BRX R2 -0x10 (*\"BRANCH_TARGETS t\"*)", {2}},
        {"@P0 BRX R2 -0x10 (*\"BRANCH_TARGETS t\"*)", {1, 2}},
        {"BSYNC B0", {1}},
        {"CALL.REL.NOINC `($f)", {1}},
    };
    for (const auto& row : rows) {
        const Listing read = read_code(std::string(row.code) + "\nm:\nEXIT\nt:\nEXIT\n$f:\nEXIT");
        const Graph g = graph_of(read.functions[0]);
        EXPECT_EQ(g.blocks.at(0).end, 1) << row.code;
        EXPECT_EQ(g.blocks.at(0).successors, row.next) << row.code;
        const bool goes_on = std::count(row.next.begin(), row.next.end(), 1) > 0;
        EXPECT_EQ(ends_flow(read.functions[0].instructions[0]), !goes_on) << row.code;
    }
}

TEST(graph, jump_written_as_a_call_is_a_branch) {
    const Graph g = graph("CALL.REL.NOINC `(.L_x_1)\nNOP\n.L_x_1:\nEXIT");
    EXPECT_EQ(edges(g), (Edges{{2}, {2}, {}}));
    EXPECT_FALSE(g.blocks[1].reachable);
}

TEST(graph, targets_that_the_listing_does_not_name) {
    EXPECT_EQ(graph("BRX R2 -0x10\nEXIT").unknown_jumps, 1);
    EXPECT_EQ(graph("BRA R2\nEXIT").unknown_jumps, 1);
    EXPECT_EQ(graph("BRX R2 (*\"BRANCH_TARGETS t\"*)\nt:\nEXIT").unknown_jumps, 0);
}

TEST(graph, subroutines_are_roots) {
    const Graph g = graph(
        "CALL.REL.NOINC `($f)\nEXIT\nNOP\nBRA `(d)\n.type\t$f,@function\n$f:\nNOP\n"
        "d:\n@P0 BRA `(d)\nRET.REL.NODEC R20 `(k)");
    // k, EXIT, dead code, $f, d, RET
    EXPECT_EQ(edges(g), (Edges{{1}, {}, {4}, {4}, {4, 5}, {}}));
    std::vector<bool> reachable;
    for (const Block& block : g.blocks) reachable.push_back(block.reachable);
    EXPECT_EQ(reachable, (std::vector<bool>{true, true, false, true, true, true}));
    ASSERT_EQ(g.loops.size(), 1u);
    EXPECT_EQ(g.dominator[3], -1);
    EXPECT_EQ(g.dominator[4], 3);  // dead code dominates nothing
}

TEST(graph, nested_loops) {
    const Graph g =
        graph("NOP\na:\nNOP\nb:\nNOP\n@P0 BRA `(b)\n@P1 BRA `(a)\nc:\nNOP\n@P2 BRA `(c)\nEXIT");
    ASSERT_EQ(g.loops.size(), 3u);
    EXPECT_EQ(g.ranges(g.loops[0]), (std::vector<std::pair<int, int>>{{1, 5}}));
    EXPECT_EQ(g.ranges(g.loops[1]), (std::vector<std::pair<int, int>>{{2, 4}}));
    EXPECT_EQ(g.ranges(g.loops[2]), (std::vector<std::pair<int, int>>{{5, 7}}));
    EXPECT_EQ(g.loops[0].parent, -1);
    EXPECT_EQ(g.loops[1].parent, 0);
    EXPECT_EQ(g.loops[2].parent, -1);
    EXPECT_EQ(g.loops[1].depth, 2);
    EXPECT_EQ(g.blocks[g.block_of[2]].loop, 1);
    EXPECT_EQ(g.blocks[g.block_of[4]].loop, 0);
    EXPECT_EQ(g.blocks[g.block_of[7]].loop, -1);
}

TEST(graph, back_edges_to_one_header_are_one_loop) {
    const Graph g = graph("a:\n@P0 BRA `(a)\nNOP\n@P1 BRA `(a)\nEXIT");
    ASSERT_EQ(g.loops.size(), 1u);
    EXPECT_EQ(g.loops[0].latches, (std::vector<int>{0, 1}));
    EXPECT_EQ(g.ranges(g.loops[0]), (std::vector<std::pair<int, int>>{{0, 3}}));
}

TEST(graph, a_loop_with_a_piece_behind_other_code) {
    const Graph g = graph("a:\n@P0 BRA `(far)\nNOP\n@P1 BRA `(a)\nEXIT\nfar:\nBRA `(a)");
    ASSERT_EQ(g.loops.size(), 1u);
    EXPECT_EQ(g.ranges(g.loops[0]), (std::vector<std::pair<int, int>>{{0, 3}, {4, 5}}));
}

TEST(graph, two_entries_are_no_natural_loop) {
    const Graph g = graph("@P0 BRA `(b)\na:\nNOP\nb:\nNOP\n@P1 BRA `(a)\nEXIT");
    EXPECT_TRUE(g.loops.empty());
    EXPECT_EQ(g.irreducible, 1);
}

// Labels 0, 1, ... depth - 1 in a row, then branches back to them from the last to the first.
TEST(graph, what_is_nested_too_deep_is_counted_and_not_listed) {
    std::string code;
    const int depth = kDeepestLoop + 5;
    for (int i = 0; i < depth; ++i) code += fmt::format("l{}:\nNOP\n", i);
    for (int i = depth; i-- > 0;) code += fmt::format("@P0 BRA `(l{})\n", i);
    const Graph g = graph(code + "EXIT");
    EXPECT_EQ(g.too_deep, 5);
    ASSERT_EQ(g.loops.size(), static_cast<size_t>(kDeepestLoop));
    for (int i = 0; i < kDeepestLoop; ++i) {
        EXPECT_EQ(g.loops[i].depth, i + 1);
        EXPECT_EQ(g.loops[i].parent, i - 1);
        EXPECT_EQ(g.ranges(g.loops[i]), (std::vector<std::pair<int, int>>{{i, 2 * depth - i}}));
    }
    EXPECT_EQ(g.blocks[g.block_of[depth - 1]].loop, kDeepestLoop - 1);
}

TEST(graph, one_instruction_may_be_a_loop) {
    const Graph g = graph("EXIT\na:\nBRA `(a)");  // ptxas ends every function so
    EXPECT_TRUE(g.loops.empty());                 // never reached
    EXPECT_EQ(graph("a:\nBRA `(a)").loops.size(), 1u);
}

}  // namespace
}  // namespace ww::sass

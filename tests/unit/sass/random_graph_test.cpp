// SPDX-License-Identifier: Apache-2.0
// Dominators and natural loops of thousands of random graphs, against the definitions themselves:
// a dominates b if b cannot be reached without a. Instruction by instruction, without blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/policy.hpp"
#include "code.hpp"
#include "sass/graph.hpp"

namespace ww::sass {
namespace {

// Random code and, besides, its edges, known from making it.
struct Code {
    std::string text;
    std::vector<std::set<int>> next;
    std::set<int> roots{0};
    int count() const { return static_cast<int>(next.size()); }
};

Code random_code(Random& random, int most) {
    Code out;
    const int count = 2 + static_cast<int>(random.below(most - 1));
    const uint64_t straight = random.below(8);  // how seldom branches are
    // Half of the graphs have short branches only: more loops, fewer tangles.
    const bool local = random.below(2) == 0;
    out.next.resize(count);
    const auto target = [&](int from) {
        const int any = static_cast<int>(random.below(count));
        return local ? std::clamp(from - 4 + any % 8, 0, count - 1) : any;
    };
    for (int i = 0; i < count; ++i) {
        if (i > 0 && random.below(24) == 0) {
            out.text += fmt::format(".type f{0},@function\nf{0}:\n", i);
            out.roots.insert(i);
        }
        out.text += fmt::format("l{}:\n", i);
        const auto falls = [&] {
            if (i + 1 < count) out.next[i].insert(i + 1);
        };
        const uint64_t kind = random.below(6 + straight * 3);
        const int to = target(i), other = target(i);
        if (kind == 0) {
            out.text += fmt::format("BRA `(l{})\n", to);
            out.next[i] = {to};
        } else if (kind <= 3) {
            out.text += fmt::format("@P0 BRA `(l{})\n", to);
            falls();
            out.next[i].insert(to);
        } else if (kind == 4) {
            out.text += random.below(2) != 0 ? "EXIT\n" : "RET.REL.NODEC R20 `(k)\n";
        } else if (kind == 5) {
            out.text += fmt::format("BRX R2 (*\"BRANCH_TARGETS l{},l{}\"*)\n", to, other);
            out.next[i] = {to, other};
        } else {
            out.text += "NOP\n";
            falls();
        }
    }
    return out;
}

// What is reached from the roots without passing `without` (-1: everything).
std::vector<char> reached(const Code& code, int without) {
    std::vector<char> seen(code.next.size(), 0);
    std::vector<int> work(code.roots.begin(), code.roots.end());
    while (!work.empty()) {
        const int at = work.back();
        work.pop_back();
        if (at == without || seen[at]) continue;
        seen[at] = 1;
        work.insert(work.end(), code.next[at].begin(), code.next[at].end());
    }
    return seen;
}

struct Naive {
    std::vector<std::vector<char>> dominates;  // [a][b]
    std::map<int, std::set<int>> loops;        // by header, the instructions
    std::map<int, std::set<int>> latches;
    bool reducible = true;
};

std::set<int> body(const Code& code, int header, const std::set<int>& latches) {
    std::set<int> inside{header};
    inside.insert(latches.begin(), latches.end());
    for (bool grown = true; grown;) {
        grown = false;
        for (int i = 0; i < code.count(); ++i)
            for (const int to : code.next[i])
                if (to != header && inside.count(to) != 0 && inside.insert(i).second) grown = true;
    }
    return inside;
}

// Without its back edges a reducible graph has no cycle: leaves can be taken away until none is
// left.
bool is_acyclic(std::vector<std::set<int>> next, const std::vector<char>& reachable) {
    std::set<int> left;
    for (size_t i = 0; i < next.size(); ++i)
        if (reachable[i]) left.insert(static_cast<int>(i));
    for (bool taken = true; taken;) {
        taken = false;
        for (auto each = left.begin(); each != left.end();) {
            const auto& to = next[*each];
            const bool leaf =
                std::none_of(to.begin(), to.end(), [&](int t) { return left.count(t) != 0; });
            each = leaf ? (taken = true, left.erase(each)) : std::next(each);
        }
    }
    return left.empty();
}

Naive naive(const Code& code) {
    Naive out;
    const std::vector<char> all = reached(code, -1);
    for (int a = 0; a < code.count(); ++a) {
        const std::vector<char> without = reached(code, a);
        out.dominates.emplace_back();
        for (int b = 0; b < code.count(); ++b)
            out.dominates[a].push_back(all[a] && all[b] && !without[b]);
    }
    std::vector<std::set<int>> forward = code.next;
    for (int from = 0; from < code.count(); ++from)
        for (const int to : code.next[from])
            if (out.dominates[to][from]) {
                out.latches[to].insert(from);
                forward[from].erase(to);
            }
    for (const auto& [header, latches] : out.latches) {
        out.loops[header] = body(code, header, latches);
        std::erase_if(out.loops[header], [&](int i) { return !all[i]; });
    }
    out.reducible = is_acyclic(forward, all);
    return out;
}

std::set<int> instructions(const Graph& graph, const Loop& loop) {
    std::set<int> out;
    for (const auto& [first, end] : graph.ranges(loop))
        for (int i = first; i < end; ++i) out.insert(i);
    return out;
}

void compare_dominators(const Code& code, const Graph& graph, const Naive& expected) {
    for (int a = 0; a < code.count(); ++a)
        for (int b = 0; b < code.count(); ++b) {
            const int block_a = graph.block_of[a], block_b = graph.block_of[b];
            const bool found = block_a == block_b ? graph.blocks[block_a].reachable && a <= b
                                                  : graph.dominates(block_a, block_b);
            ASSERT_EQ(found, expected.dominates[a][b] != 0) << a << " dominates " << b;
        }
    for (size_t block = 0; block < graph.blocks.size(); ++block) {
        // The immediate one: dominates, and is dominated by every other one that does.
        const int found = graph.dominator[block];
        for (size_t a = 0; a < graph.blocks.size(); ++a) {
            const bool strict =
                a != block && graph.dominates(static_cast<int>(a), static_cast<int>(block));
            ASSERT_TRUE(!strict || (found >= 0 && graph.dominates(static_cast<int>(a), found)));
        }
        ASSERT_TRUE(found < 0 || graph.dominates(found, static_cast<int>(block)));
    }
}

void compare_loops(const Graph& graph, const Naive& expected) {
    ASSERT_EQ(graph.loops.size(), expected.loops.size());
    for (const Loop& loop : graph.loops) {
        const int header = graph.blocks[loop.header].first;
        ASSERT_TRUE(expected.loops.count(header)) << "header " << header;
        const std::set<int>& inside = expected.loops.at(header);
        ASSERT_EQ(instructions(graph, loop), inside) << "header " << header;
        std::set<int> latches;
        for (const int latch : loop.latches) latches.insert(graph.blocks[latch].end - 1);
        ASSERT_EQ(latches, expected.latches.at(header)) << "header " << header;
        // The loop around it is the smallest other one that has its header.
        int parent = -1, depth = 1;
        for (const auto& [other, body] : expected.loops)
            if (other != header && body.count(header) != 0) {
                ++depth;
                if (parent < 0 || body.size() < expected.loops.at(parent).size()) parent = other;
            }
        ASSERT_EQ(loop.depth, depth) << "header " << header;
        const int found =
            loop.parent < 0 ? -1 : graph.blocks[graph.loops[loop.parent].header].first;
        ASSERT_EQ(found, parent) << "header " << header;
    }
    // A block's loop is the smallest one that has it.
    for (const Block& block : graph.blocks) {
        size_t smallest = 0;
        for (const auto& [header, body] : expected.loops)
            if (body.count(block.first) != 0 && (smallest == 0 || body.size() < smallest))
                smallest = body.size();
        const size_t found =
            block.loop < 0 ? 0 : instructions(graph, graph.loops[block.loop]).size();
        ASSERT_EQ(found, smallest) << "instruction " << block.first;
    }
    ASSERT_EQ(graph.irreducible == 0, expected.reducible);
    for (size_t i = 1; i < graph.loops.size(); ++i) {
        const auto first = [&](size_t loop) {
            return graph.ranges(graph.loops[loop]).front().first;
        };
        ASSERT_LE(first(i - 1), first(i)) << "loops are in the order of their first instructions";
    }
}

void compare(uint64_t seed, int graphs, int most) {
    Random random(seed);
    int loops = 0, nested = 0, irreducible = 0, subroutines = 0, unreachable = 0;
    for (int i = 0; i < graphs; ++i) {
        const Code code = random_code(random, most);
        SCOPED_TRACE(fmt::format("graph {}:\n{}", i, code.text));
        const Listing read = test::read_code(code.text);
        const Graph graph = graph_of(read.functions.at(0));
        const Naive expected = naive(code);
        ASSERT_EQ(graph.block_of.size(), code.next.size());
        compare_dominators(code, graph, expected);
        compare_loops(graph, expected);
        if (testing::Test::HasFatalFailure()) return;
        loops += static_cast<int>(graph.loops.size());
        for (const Loop& loop : graph.loops) nested += loop.depth > 2;
        irreducible += graph.irreducible > 0;
        subroutines += code.roots.size() > 1;
        for (const Block& block : graph.blocks) unreachable += !block.reachable;
    }
    // The sample has of everything: a test over graphs without loops would show nothing.
    EXPECT_GT(loops, graphs);
    EXPECT_GT(nested, graphs / 25);
    EXPECT_GT(irreducible, graphs / 12);
    EXPECT_GT(subroutines, graphs / 4);
    EXPECT_GT(unreachable, graphs / 4);
}

TEST(random_graph, small_ones) { compare(20260101, 4000, 31); }
TEST(random_graph, large_ones) { compare(20260102, 60, 300); }

}  // namespace
}  // namespace ww::sass

// SPDX-License-Identifier: Apache-2.0
// The order in which diverged lanes run, and the sharing of register rows.
#include "emulator/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "emulator/registers.hpp"

namespace ww::emulator {
namespace {

// Block i is one instruction with these successors.
std::vector<uint32_t> positions(const std::vector<std::vector<uint32_t>>& successors) {
    std::vector<FlowBlock> blocks;
    for (uint32_t i = 0; i < successors.size(); ++i) blocks.push_back({i, i + 1, successors[i]});
    const std::vector<uint32_t> order = block_order(blocks);
    EXPECT_EQ(order.size(), successors.size());
    std::vector<uint32_t> position(successors.size(), UINT32_MAX);
    for (uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    EXPECT_EQ(std::count(position.begin(), position.end(), UINT32_MAX), 0);
    return position;
}

TEST(BlockOrder, JoinsComeAfterBothArms) {
    const std::vector<uint32_t> at = positions({{1, 2}, {3}, {3}, {}});
    EXPECT_LT(at[1], at[3]);
    EXPECT_LT(at[2], at[3]);
}

TEST(BlockOrder, ALoopIsContiguousAndItsExitsFollow) {
    // 0 -> 1 (head) -> 2 or 4 (exit); 2 -> 3 -> 1; 3 -> 4
    const std::vector<uint32_t> at = positions({{1}, {2, 4}, {3}, {1, 4}, {}});
    EXPECT_EQ(at[0], 0u);
    EXPECT_EQ(at[1], 1u);
    EXPECT_EQ(at[4], 4u);
}

TEST(BlockOrder, TheTextOrderDoesNotMatter) {
    // The exit stands in front of the loop in the text: 0 -> 2; 2 -> 3 or 1; 3 -> 2; 1 ends.
    const std::vector<uint32_t> at = positions({{2}, {}, {3, 1}, {2}});
    EXPECT_EQ(at[1], 3u);
}

TEST(BlockOrder, TwoEntriesOfALoop) {
    // 0 -> 1 or 2; 1 -> 2; 2 -> 1 or 3
    const std::vector<uint32_t> at = positions({{1, 2}, {2}, {1, 3}, {}});
    EXPECT_EQ(at[0], 0u);
    EXPECT_EQ(at[3], 3u);
}

TEST(BlockOrder, UnreachableBlocksHaveAPlaceToo) { positions({{2}, {2}, {}}); }

TEST(FlowBlocks, EndAtJumpsAndBeginAtTargets) {
    // 0: jump to 2 or on; 1; 2: target; 3: end
    std::vector<FlowInst> code(4);
    code[0].targets = {2};
    code[3].falls_through = false;
    const std::vector<FlowBlock> blocks = flow_blocks(code);
    ASSERT_EQ(blocks.size(), 3u);
    EXPECT_EQ(blocks[0].successors, (std::vector<uint32_t>{1, 2}));
    EXPECT_EQ(blocks[2].begin, 2u);
    EXPECT_TRUE(blocks[2].successors.empty());
}

TEST(Registers, ShareARowOnlyWhenNeverLiveTogether) {
    // a = ..; b = f(a); c = f(b); use c: a and c may share, neighbours may not.
    std::vector<RegisterUse> code{{{}, {0}}, {{0}, {1}}, {{1}, {2}}, {{2}, {}}};
    std::vector<FlowInst> flow(4);
    const std::vector<FlowBlock> blocks = flow_blocks(flow);
    const RegisterLayout layout = allocate_registers({128, 128, 128}, {false, false, false}, code, blocks, block_order(blocks));
    EXPECT_NE(layout.offset[0], layout.offset[1]);
    EXPECT_NE(layout.offset[1], layout.offset[2]);
    EXPECT_EQ(layout.offset[0], layout.offset[2]);
    const RegisterLayout pinned = allocate_registers({128, 128, 128}, {true, false, false}, code, blocks, block_order(blocks));
    EXPECT_NE(pinned.offset[0], pinned.offset[2]);
}

TEST(Registers, LiveAroundALoop) {
    // v0 is written before the loop and read at its head; v1 lives in the body only.
    std::vector<RegisterUse> code{{{}, {0}}, {{0}, {}}, {{}, {1}}, {{1}, {}}, {{}, {}}};
    std::vector<FlowInst> flow(5);
    flow[3].targets = {1};
    const std::vector<FlowBlock> blocks = flow_blocks(flow);
    const RegisterLayout layout = allocate_registers({128, 128}, {false, false}, code, blocks, block_order(blocks));
    EXPECT_NE(layout.offset[0], layout.offset[1]);
}

}  // namespace
}  // namespace ww::emulator

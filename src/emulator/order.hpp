// SPDX-License-Identifier: Apache-2.0
// Control-flow graph of a function and the order in which diverged lanes run: a split with a lower
// rank runs first, so that lanes meet again at the immediate post-dominator at the latest.
#pragma once
#include <cstdint>
#include <vector>

namespace ww::emulator {

struct FlowBlock {
    uint32_t begin = 0, end = 0;  // instructions [begin, end)
    std::vector<uint32_t> successors;
};

struct FlowInst {
    std::vector<uint32_t> targets;  // instructions it may jump to
    bool falls_through = true;
};

std::vector<FlowBlock> flow_blocks(const std::vector<FlowInst>& code);
// Blocks in topological order where each loop is contiguous and its exits come after it.
std::vector<uint32_t> block_order(const std::vector<FlowBlock>& blocks);

}  // namespace ww::emulator

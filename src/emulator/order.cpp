// SPDX-License-Identifier: Apache-2.0
#include "emulator/order.hpp"

#include <algorithm>
#include <set>

namespace ww::emulator {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Tarjan's strongly connected components of a part of the graph, without recursion. Components
// come out in reverse topological order. Edges into `cut` do not count.
class Components {
  public:
    Components(const std::vector<FlowBlock>& blocks, const std::vector<uint32_t>& part, uint32_t entry,
               std::vector<uint32_t>& part_of, uint32_t part_id)
        : blocks_(blocks), entry_(entry), part_of_(part_of), part_id_(part_id) {
        for (const uint32_t block : part) part_of_[block] = part_id;
        index_.assign(blocks.size(), kNone);
        low_.assign(blocks.size(), 0);
        on_stack_.assign(blocks.size(), false);
        visit(entry);
        for (const uint32_t block : part)
            if (index_[block] == kNone) visit(block);
    }
    std::vector<std::vector<uint32_t>> found;

  private:
    struct Step {
        uint32_t block;
        size_t next;
    };
    void push(uint32_t block, std::vector<Step>& steps) {
        index_[block] = low_[block] = counter_++;
        stack_.push_back(block);
        on_stack_[block] = true;
        steps.push_back({block, 0});
    }
    void visit(uint32_t start) {
        std::vector<Step> steps;
        push(start, steps);
        while (!steps.empty()) {
            Step& step = steps.back();
            const std::vector<uint32_t>& successors = blocks_[step.block].successors;
            if (step.next < successors.size()) {
                const uint32_t to = successors[step.next++];
                if (part_of_[to] != part_id_ || to == entry_) continue;
                if (index_[to] == kNone)
                    push(to, steps);
                else if (on_stack_[to])
                    low_[step.block] = std::min(low_[step.block], index_[to]);
                continue;
            }
            const uint32_t block = step.block;
            steps.pop_back();
            if (!steps.empty()) low_[steps.back().block] = std::min(low_[steps.back().block], low_[block]);
            if (low_[block] != index_[block]) continue;
            found.emplace_back();
            uint32_t member;
            do {
                member = stack_.back();
                stack_.pop_back();
                on_stack_[member] = false;
                found.back().push_back(member);
            } while (member != block);
        }
    }

    const std::vector<FlowBlock>& blocks_;
    uint32_t entry_;
    std::vector<uint32_t>& part_of_;
    uint32_t part_id_;
    uint32_t counter_ = 0;
    std::vector<uint32_t> index_, low_, stack_;
    std::vector<bool> on_stack_;
};

// The block of a loop through which control enters it: the first that has a predecessor outside.
uint32_t loop_header(const std::vector<FlowBlock>& blocks, const std::vector<uint32_t>& loop) {
    const std::set<uint32_t> inside(loop.begin(), loop.end());
    std::set<uint32_t> entered;
    for (uint32_t from = 0; from < blocks.size(); ++from)
        if (!inside.contains(from))
            for (const uint32_t to : blocks[from].successors)
                if (inside.contains(to)) entered.insert(to);
    return entered.empty() ? *inside.begin() : *entered.begin();
}

}  // namespace

std::vector<FlowBlock> flow_blocks(const std::vector<FlowInst>& code) {
    std::vector<bool> leader(code.size() + 1, false);
    if (!code.empty()) leader[0] = true;
    for (size_t i = 0; i < code.size(); ++i) {
        for (const uint32_t target : code[i].targets) leader[target] = true;
        if (!code[i].targets.empty() || !code[i].falls_through) leader[i + 1] = true;
    }
    std::vector<FlowBlock> blocks;
    std::vector<uint32_t> block_of(code.size() + 1, kNone);
    for (uint32_t i = 0; i < code.size(); ++i) {
        if (leader[i]) blocks.push_back({i, i, {}});
        block_of[i] = static_cast<uint32_t>(blocks.size()) - 1;
        blocks.back().end = i + 1;
    }
    for (FlowBlock& block : blocks) {
        const FlowInst& last = code[block.end - 1];
        std::set<uint32_t> to;
        for (const uint32_t target : last.targets)
            if (target < code.size()) to.insert(block_of[target]);
        if (last.falls_through && block.end < code.size()) to.insert(block_of[block.end]);
        block.successors.assign(to.begin(), to.end());
    }
    return blocks;
}

std::vector<uint32_t> block_order(const std::vector<FlowBlock>& blocks) {
    std::vector<uint32_t> order;
    if (blocks.empty()) return order;
    struct Task {
        std::vector<uint32_t> part;
        uint32_t entry;
    };
    std::vector<Task> tasks(1);
    for (uint32_t i = 0; i < blocks.size(); ++i) tasks[0].part.push_back(i);
    tasks[0].entry = 0;
    std::vector<uint32_t> part_of(blocks.size(), kNone);
    uint32_t part_id = 0;
    while (!tasks.empty()) {
        const Task task = std::move(tasks.back());
        tasks.pop_back();
        if (task.part.size() == 1) {
            order.push_back(task.part[0]);
            continue;
        }
        Components components(blocks, task.part, task.entry, part_of, part_id++);
        // found is in reverse topological order, and the task stack reverses once more.
        for (std::vector<uint32_t>& component : components.found) {
            const uint32_t entry = component.size() == 1 ? component[0] : loop_header(blocks, component);
            tasks.push_back({std::move(component), entry});
        }
    }
    return order;
}

}  // namespace ww::emulator

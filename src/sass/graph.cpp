// SPDX-License-Identifier: Apache-2.0
#include "sass/graph.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"
#include "sass/dominators.hpp"
#include "sass/opcode.hpp"

namespace ww::sass {
namespace {

bool is_branch(std::string_view base) { return base == "BRA" || base == "JMP" || base == "BRAU"; }
// sm_80: ptxas writes a jump to a label of the function as a call that nothing returns from.
bool is_jump_by_call(const Instruction& instruction) {
    return base_name(instruction.opcode) == "CALL" &&
           instruction.operands.find("`(.L_") != std::string_view::npos;
}
bool is_indirect(std::string_view base) {
    return base == "BRX" || base == "BRXU" || base == "JMX" || base == "JMXU";
}

// BRA takes conditions as operands, too (BRA.U UP0, BRA P1, BRA.DIV UR4); then it may fall through.
bool is_unconditional(const Instruction& instruction) {
    if (!instruction.guard.empty() && instruction.guard != "@PT" && instruction.guard != "@UPT")
        return false;
    if (has_modifier(instruction.opcode, "DIV") || has_modifier(instruction.opcode, "CONV"))
        return false;
    const auto operands = operands_of(instruction);
    return std::none_of(operands.begin(), operands.end(), [](std::string_view each) {
        if (each.starts_with('!')) each.remove_prefix(1);
        return each != "PT" && each != "UPT" && (each.starts_with("P") || each.starts_with("UP"));
    });
}

class Builder {
  public:
    Builder(const Function& function, Graph& graph) : f_(function), g_(graph) {}

    void run() {
        find_jumps();
        cut();
        connect();
        find_dominators();
        find_loops();
    }

  private:
    int count() const { return static_cast<int>(f_.instructions.size()); }

    // Where the names behind BRANCH_TARGETS stand.
    std::vector<int> named_targets(const Instruction& instruction) {
        if (labels_.empty())
            for (const Label& label : f_.labels) labels_.emplace(label.name, label.instruction);
        std::vector<int> out;
        for (const std::string_view name : split(instruction.jumps, ','))
            if (const auto found = labels_.find(trim(name)); found != labels_.end())
                if (found->second < count()) out.push_back(found->second);
        return out;
    }

    // Targets of each instruction that may go elsewhere.
    void find_jumps() {
        jumps_.resize(f_.instructions.size());
        for (int i = 0; i < count(); ++i) {
            const Instruction& each = f_.instructions[i];
            const std::string_view base = base_name(each.opcode);
            if (is_direct_branch(each)) {
                jumps_[i].push_back(each.target);
            } else if (is_indirect(base)) {
                jumps_[i] = named_targets(each);
                if (jumps_[i].empty()) ++g_.unknown_jumps;
            } else if (is_branch(base)) {
                ++g_.unknown_jumps;
            }
        }
    }

    void cut() {
        std::vector<char> leader(f_.instructions.size() + 1, 0);
        if (count() == 0) return;
        leader[0] = 1;
        for (const Label& label : f_.labels) leader[label.instruction] = 1;
        for (int i = 0; i < count(); ++i) {
            for (const int target : jumps_[i]) leader[target] = 1;
            const std::string_view base = base_name(f_.instructions[i].opcode);
            if (!jumps_[i].empty() || is_branch(base) || is_indirect(base) ||
                ends_flow(f_.instructions[i]) || base == "CALL" || base == "EXIT" || base == "RET")
                leader[i + 1] = 1;
        }
        g_.block_of.resize(f_.instructions.size());
        for (int i = 0; i < count(); ++i) {
            if (leader[i]) {
                Block block;
                block.first = i;
                g_.blocks.push_back(std::move(block));
            }
            g_.block_of[i] = static_cast<int>(g_.blocks.size()) - 1;
            g_.blocks.back().end = i + 1;
        }
    }

    void connect() {
        for (Block& block : g_.blocks) {
            const int last = block.end - 1;
            for (const int target : jumps_[last]) block.successors.push_back(g_.block_of[target]);
            if (!ends_flow(f_.instructions[last]) && block.end < count())
                block.successors.push_back(g_.block_of[block.end]);
            std::sort(block.successors.begin(), block.successors.end());
            block.successors.erase(
                std::unique(block.successors.begin(), block.successors.end()),
                block.successors.end());
        }
        // The root of all: the section's start and every subroutine in it.
        if (g_.blocks.empty()) return;
        root_.push_back(0);
        for (const Label& label : f_.labels)
            if (label.is_function && label.instruction < count())
                root_.push_back(g_.block_of[label.instruction]);
        std::sort(root_.begin(), root_.end());
        root_.erase(std::unique(root_.begin(), root_.end()), root_.end());
    }

    int top() const { return static_cast<int>(g_.blocks.size()); }

    void find_dominators() {
        std::vector<std::vector<int>> next;
        next.reserve(g_.blocks.size() + 1);
        for (const Block& block : g_.blocks) next.push_back(block.successors);
        next.push_back(root_);
        found_ = dominators_of(next, top());
        number_tree();
        g_.dominator.assign(g_.blocks.size(), -1);
        for (int block = 0; block < top(); ++block) {
            g_.blocks[block].reachable = found_.immediate[block] >= 0;
            if (found_.immediate[block] != top()) g_.dominator[block] = found_.immediate[block];
        }
    }

    void number_tree() {
        std::vector<std::vector<int>> children(g_.blocks.size() + 1);
        for (int block = 0; block < top(); ++block)
            if (found_.immediate[block] >= 0) children[found_.immediate[block]].push_back(block);
        g_.enter.assign(g_.blocks.size() + 1, -1);
        g_.leave.assign(g_.blocks.size() + 1, -1);
        int clock = 0;
        std::vector<std::pair<int, size_t>> stack{{top(), 0}};
        g_.enter[top()] = clock++;
        while (!stack.empty()) {
            auto& [block, next] = stack.back();
            if (next < children[block].size()) {
                const int child = children[block][next++];
                g_.enter[child] = clock++;
                stack.emplace_back(child, 0);
                continue;
            }
            g_.leave[block] = clock++;
            stack.pop_back();
        }
    }

    void find_loops() {
        for (const auto& [from, to] : found_.retreating)
            if (!g_.dominates(to, from)) ++g_.irreducible;
        loop_of_header_.assign(g_.blocks.size(), -1);
        for (int block = 0; block < top(); ++block) {
            if (!g_.blocks[block].reachable) continue;
            for (const int to : g_.blocks[block].successors) {
                if (!g_.dominates(to, block)) continue;
                if (loop_of_header_[to] < 0) {
                    loop_of_header_[to] = static_cast<int>(g_.loops.size());
                    Loop loop;
                    loop.header = to;
                    g_.loops.push_back(std::move(loop));
                }
                g_.loops[loop_of_header_[to]].latches.push_back(block);
            }
        }
        nest();
        sort_loops();
        list_blocks();
    }

    // Inner loops first: a header is walked to before those that it dominates. Each loop that is
    // done is one node, its header, so that no block is looked at twice.
    void nest() {
        std::vector<std::vector<int>> from(g_.blocks.size());
        for (int block = 0; block < top(); ++block)
            if (g_.blocks[block].reachable)
                for (const int to : g_.blocks[block].successors) from[to].push_back(block);
        around_.resize(g_.blocks.size());
        for (int block = 0; block < top(); ++block) around_[block] = block;
        std::vector<int> work;
        for (auto each = found_.order.rbegin(); each != found_.order.rend(); ++each) {
            if (*each == top() || loop_of_header_[*each] < 0) continue;
            const int header = *each, index = loop_of_header_[header];
            g_.blocks[header].loop = index;
            work = g_.loops[index].latches;
            while (!work.empty()) {
                const int node = node_of(work.back());
                work.pop_back();
                if (node == header) continue;
                around_[node] = header;
                if (const int inner = g_.blocks[node].loop; inner >= 0)
                    g_.loops[inner].parent = index;
                else
                    g_.blocks[node].loop = index;
                work.insert(work.end(), from[node].begin(), from[node].end());
            }
        }
    }

    // The outermost header so far that the block is in the loop of, with the way there shortened.
    int node_of(int block) {
        while (around_[block] != block) block = around_[block] = around_[around_[block]];
        return block;
    }

    // By their first blocks, the outer one first; those nested too deep go.
    void sort_loops() {
        const int count = static_cast<int>(g_.loops.size());
        // Around before inside: blocks were walked to in that order.
        for (const int header : found_.order) {
            if (header == top() || loop_of_header_[header] < 0) continue;
            Loop& loop = g_.loops[loop_of_header_[header]];
            loop.depth = loop.parent < 0 ? 1 : g_.loops[loop.parent].depth + 1;
        }
        std::vector<int> first(count, top()), kept, place(count, -1);
        for (int block = top() - 1; block >= 0; --block)
            if (g_.blocks[block].loop >= 0) first[g_.blocks[block].loop] = block;
        for (auto each = found_.order.rbegin(); each != found_.order.rend(); ++each) {
            if (*each == top() || loop_of_header_[*each] < 0) continue;
            const int index = loop_of_header_[*each], parent = g_.loops[index].parent;
            if (parent >= 0) first[parent] = std::min(first[parent], first[index]);
        }
        for (int i = 0; i < count; ++i) {
            if (g_.loops[i].depth <= kDeepestLoop)
                kept.push_back(i);
            else
                ++g_.too_deep;
        }
        std::sort(kept.begin(), kept.end(), [&](int a, int b) {
            return std::pair(first[a], g_.loops[a].depth) < std::pair(first[b], g_.loops[b].depth);
        });
        for (size_t i = 0; i < kept.size(); ++i) place[kept[i]] = static_cast<int>(i);
        // What is too deep is the business of the deepest loop around it that stays.
        for (const int header : found_.order) {
            if (header == top() || loop_of_header_[header] < 0) continue;
            const int index = loop_of_header_[header];
            if (place[index] < 0) place[index] = place[g_.loops[index].parent];
        }
        std::vector<Loop> sorted;
        for (const int i : kept) {
            if (g_.loops[i].parent >= 0) g_.loops[i].parent = place[g_.loops[i].parent];
            sorted.push_back(std::move(g_.loops[i]));
        }
        g_.loops = std::move(sorted);
        for (Block& block : g_.blocks)
            if (block.loop >= 0) block.loop = place[block.loop];
    }

    void list_blocks() {
        for (int block = 0; block < top(); ++block)
            for (int loop = g_.blocks[block].loop; loop >= 0; loop = g_.loops[loop].parent)
                g_.loops[loop].blocks.push_back(block);
    }

    const Function& f_;
    Graph& g_;
    std::unordered_map<std::string_view, int> labels_;
    std::vector<std::vector<int>> jumps_;
    std::vector<int> root_, loop_of_header_, around_;
    Dominators found_;
};

}  // namespace

bool is_direct_branch(const Instruction& instruction) {
    return instruction.target >= 0 &&
           (is_branch(base_name(instruction.opcode)) || is_jump_by_call(instruction));
}

bool ends_flow(const Instruction& instruction) {
    const std::string_view base = base_name(instruction.opcode);
    if (is_branch(base) || is_indirect(base) || is_jump_by_call(instruction))
        return is_unconditional(instruction);
    if (base != "EXIT" && base != "RET" && base != "KILL") return false;
    return is_unconditional(instruction);
}

bool Graph::dominates(int a, int b) const {
    return enter[a] >= 0 && enter[b] >= 0 && enter[a] <= enter[b] && leave[b] <= leave[a];
}

std::vector<std::pair<int, int>> Graph::ranges(const Loop& loop) const {
    std::vector<std::pair<int, int>> out;
    for (const int index : loop.blocks) {
        const Block& block = blocks[index];
        if (!out.empty() && out.back().second == block.first)
            out.back().second = block.end;
        else
            out.emplace_back(block.first, block.end);
    }
    return out;
}

Graph graph_of(const Function& function) {
    Graph graph;
    Builder(function, graph).run();
    return graph;
}

}  // namespace ww::sass

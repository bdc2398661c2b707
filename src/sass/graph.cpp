// SPDX-License-Identifier: Apache-2.0
#include "sass/graph.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"
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
        number();
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

    const std::vector<int>& successors(int block) const {
        return block == top() ? root_ : g_.blocks[block].successors;
    }
    int top() const { return static_cast<int>(g_.blocks.size()); }

    // Depth-first, without recursion: hostile graphs are deep.
    void number() {
        const size_t n = g_.blocks.size() + 1;
        order_.assign(n, -1);
        finished_.reserve(n);
        std::vector<char> state(n, 0);  // 1: on the stack, 2: done
        std::vector<std::pair<int, size_t>> stack{{top(), 0}};
        state[top()] = 1;
        while (!stack.empty()) {
            const int block = stack.back().first;
            const std::vector<int>& next = successors(block);
            if (stack.back().second < next.size()) {
                const int to = next[stack.back().second++];
                if (state[to] == 0) {
                    state[to] = 1;
                    stack.emplace_back(to, 0);
                } else if (state[to] == 1) {
                    retreating_.emplace_back(block, to);
                }
                continue;
            }
            state[block] = 2;
            finished_.push_back(block);
            stack.pop_back();
        }
        for (size_t i = 0; i < finished_.size(); ++i) order_[finished_[i]] = static_cast<int>(i);
        for (int block = 0; block < top(); ++block) g_.blocks[block].reachable = order_[block] >= 0;
    }

    int meet(int a, int b) const {
        while (a != b) {
            while (order_[a] < order_[b]) a = idom_[a];
            while (order_[b] < order_[a]) b = idom_[b];
        }
        return a;
    }

    // Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm".
    void find_dominators() {
        predecessors_.resize(g_.blocks.size() + 1);
        for (const int block : finished_)
            for (const int to : successors(block)) predecessors_[to].push_back(block);
        idom_.assign(g_.blocks.size() + 1, -1);
        idom_[top()] = top();
        for (bool changed = true; changed;) {
            changed = false;
            for (size_t i = finished_.size() - 1; i-- > 0;) {
                const int block = finished_[i];
                int found = -1;
                for (const int from : predecessors_[block])
                    if (idom_[from] >= 0) found = found < 0 ? from : meet(found, from);
                if (found != idom_[block]) idom_[block] = found, changed = true;
            }
        }
        number_tree();
        g_.dominator.assign(g_.blocks.size(), -1);
        for (int block = 0; block < top(); ++block)
            if (idom_[block] != top()) g_.dominator[block] = idom_[block];
    }

    void number_tree() {
        std::vector<std::vector<int>> children(g_.blocks.size() + 1);
        for (int block = 0; block < top(); ++block)
            if (idom_[block] >= 0) children[idom_[block]].push_back(block);
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
        std::vector<int> loop_of_header(g_.blocks.size(), -1);
        for (const auto& [from, to] : retreating_)
            if (!g_.dominates(to, from)) ++g_.irreducible;
        for (int block = 0; block < top(); ++block) {
            if (!g_.blocks[block].reachable) continue;
            for (const int to : g_.blocks[block].successors) {
                if (!g_.dominates(to, block)) continue;
                if (loop_of_header[to] < 0) {
                    loop_of_header[to] = static_cast<int>(g_.loops.size());
                    Loop loop;
                    loop.header = to;
                    g_.loops.push_back(std::move(loop));
                }
                g_.loops[loop_of_header[to]].latches.push_back(block);
            }
        }
        for (Loop& loop : g_.loops) fill(loop);
        nest();
    }

    void fill(Loop& loop) const {
        std::vector<char> inside(g_.blocks.size(), 0);
        inside[loop.header] = 1;
        std::vector<int> work;
        for (const int latch : loop.latches)
            if (!inside[latch]) inside[latch] = 1, work.push_back(latch);
        while (!work.empty()) {
            const int block = work.back();
            work.pop_back();
            for (const int from : predecessors_[block])
                if (!inside[from]) inside[from] = 1, work.push_back(from);
        }
        for (int block = 0; block < top(); ++block)
            if (inside[block]) loop.blocks.push_back(block);
    }

    // Loops of different headers lie apart or one in the other: the larger one is the outer one.
    void nest() {
        std::sort(g_.loops.begin(), g_.loops.end(), [](const Loop& a, const Loop& b) {
            return a.blocks.size() != b.blocks.size() ? a.blocks.size() > b.blocks.size()
                                                      : a.header < b.header;
        });
        std::stable_sort(g_.loops.begin(), g_.loops.end(), [](const Loop& a, const Loop& b) {
            return a.blocks.front() < b.blocks.front();
        });
        for (int i = 0; i < static_cast<int>(g_.loops.size()); ++i) {
            Loop& loop = g_.loops[i];
            loop.parent = g_.blocks[loop.header].loop;
            loop.depth = loop.parent < 0 ? 1 : g_.loops[loop.parent].depth + 1;
            for (const int block : loop.blocks) g_.blocks[block].loop = i;
        }
    }

    const Function& f_;
    Graph& g_;
    std::unordered_map<std::string_view, int> labels_;
    std::vector<std::vector<int>> jumps_, predecessors_;
    std::vector<int> root_, order_, finished_, idom_;
    std::vector<std::pair<int, int>> retreating_;
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

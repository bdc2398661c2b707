// SPDX-License-Identifier: Apache-2.0
// Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph" (1979), the simple
// version: O(edges * log(nodes)). Nothing recurses: hostile graphs are deep.
#include "sass/dominators.hpp"

#include <algorithm>

namespace ww::sass {
namespace {

// Nodes go by their number in the depth-first walk.
class Finder {
  public:
    Finder(const std::vector<std::vector<int>>& next, int root, Dominators& out)
        : next_(next), out_(out), number_(next.size(), -1) {
        walk(root);
    }

    void run() {
        const int count = static_cast<int>(out_.order.size());
        std::vector<std::vector<int>> from(count), bucket(count);
        for (int i = 0; i < count; ++i)
            for (const int to : next_[out_.order[i]]) from[number_[to]].push_back(i);
        semi_.resize(count);
        for (int i = 0; i < count; ++i) semi_[i] = i;
        label_ = semi_;
        ancestor_.assign(count, -1);
        std::vector<int> idom(count, 0);
        for (int i = count - 1; i > 0; --i) {
            for (const int each : from[i]) semi_[i] = std::min(semi_[i], semi_[least(each)]);
            bucket[semi_[i]].push_back(i);
            const int parent = ancestor_[i] = parent_[i];
            for (const int each : bucket[parent]) {
                const int low = least(each);
                idom[each] = semi_[low] < semi_[each] ? low : parent;
            }
            bucket[parent].clear();
        }
        for (int i = 1; i < count; ++i)
            if (idom[i] != semi_[i]) idom[i] = idom[idom[i]];
        out_.immediate.assign(next_.size(), -1);
        for (int i = 0; i < count; ++i) out_.immediate[out_.order[i]] = out_.order[idom[i]];
    }

  private:
    void walk(int root) {
        std::vector<char> below(next_.size(), 0);
        std::vector<std::pair<int, size_t>> stack;
        const auto enter = [&](int node, int parent) {
            number_[node] = static_cast<int>(out_.order.size());
            out_.order.push_back(node);
            parent_.push_back(parent);
            below[node] = 1;
            stack.emplace_back(node, 0);
        };
        enter(root, 0);
        while (!stack.empty()) {
            auto& [node, at] = stack.back();
            if (at == next_[node].size()) {
                below[node] = 0;
                stack.pop_back();
                continue;
            }
            const int to = next_[node][at++];
            if (number_[to] < 0)
                enter(to, number_[node]);
            else if (below[to] != 0)
                out_.retreating.emplace_back(node, to);
        }
    }

    // On the way from node up to where nothing is linked yet: the one of the least semidominator.
    int least(int node) {
        if (ancestor_[node] < 0) return node;
        path_.clear();
        for (int i = node; ancestor_[ancestor_[i]] >= 0; i = ancestor_[i]) path_.push_back(i);
        for (auto each = path_.rbegin(); each != path_.rend(); ++each) {
            const int above = ancestor_[*each];
            if (semi_[label_[above]] < semi_[label_[*each]]) label_[*each] = label_[above];
            ancestor_[*each] = ancestor_[above];
        }
        return label_[node];
    }

    const std::vector<std::vector<int>>& next_;
    Dominators& out_;
    std::vector<int> number_, parent_, semi_, label_, ancestor_, path_;
};

}  // namespace

Dominators dominators_of(const std::vector<std::vector<int>>& next, int root) {
    Dominators out;
    Finder(next, root, out).run();
    return out;
}

}  // namespace ww::sass

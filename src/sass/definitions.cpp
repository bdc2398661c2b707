// SPDX-License-Identifier: Apache-2.0
#include "sass/definitions.hpp"

#include <algorithm>
#include <unordered_set>

namespace ww::sass {
namespace {

constexpr size_t kIndices = 256;
// Blocks that a search looks at before it gives up: counters are set and tested near their loops,
// and code of many loops is not to be walked through for each.
constexpr size_t kMostBlocks = 500;

size_t slot(const Register& reg) {
    return static_cast<size_t>(reg.file) * kIndices + static_cast<size_t>(reg.index);
}

}  // namespace

Definitions::Definitions(const Function& function, const Graph& graph)
    : graph_(graph), of_(4 * kIndices), predecessors_(graph.blocks.size()) {
    for (int i = 0; i < static_cast<int>(function.instructions.size()); ++i)
        for (const Written& each : written_by(function.instructions[i]))
            for (int k = 0; each.first.index >= 0 && k < each.count; ++k) {
                const Register reg{each.first.file, each.first.index + k};
                if (reg.index >= static_cast<int>(kIndices)) break;
                if (auto& all = of_[slot(reg)]; all.empty() || all.back() != i) all.push_back(i);
            }
    for (int block = 0; block < static_cast<int>(graph.blocks.size()); ++block)
        if (graph.blocks[block].reachable)
            for (const int to : graph.blocks[block].successors) predecessors_[to].push_back(block);
}

std::span<const int> Definitions::of(const Register& reg) const {
    if (reg.index < 0) return {};
    return of_[slot(reg)];
}

int Definitions::only_one_in(const Loop& loop, const Register& reg) const {
    const auto all = of(reg);
    const int begin = graph_.blocks[loop.blocks.front()].first;
    const int end = graph_.blocks[loop.blocks.back()].end;
    int found = -1;
    for (auto each = std::lower_bound(all.begin(), all.end(), begin);
         each != all.end() && *each < end; ++each) {
        if (!std::binary_search(loop.blocks.begin(), loop.blocks.end(), graph_.block_of[*each]))
            continue;
        if (found >= 0) return -1;
        found = *each;
    }
    return found;
}

int Definitions::last_before(int end, int block, std::span<const int> all) const {
    const auto after = std::lower_bound(all.begin(), all.end(), end);
    if (after == all.begin() || *std::prev(after) < graph_.blocks[block].first) return -1;
    return *std::prev(after);
}

int Definitions::search(std::vector<int> work, const Register& reg, int stop) const {
    const auto all = of(reg);
    std::unordered_set<int> seen(work.begin(), work.end());
    int found = -1;
    while (!work.empty()) {
        const int block = work.back();
        work.pop_back();
        if (const int last = last_before(graph_.blocks[block].end, block, all); last >= 0) {
            if (found >= 0 && found != last) return -1;
            found = last;
            continue;
        }
        // What nothing dominates is entered from outside, with any value.
        if (block == stop || graph_.dominator[block] < 0) return -1;
        for (const int from : predecessors_[block])
            if (seen.insert(from).second) work.push_back(from);
        if (seen.size() > kMostBlocks) return -1;
    }
    return found;
}

int Definitions::reaching(int instruction, const Register& reg, const Loop& loop) const {
    const int block = graph_.block_of[instruction];
    if (const int last = last_before(instruction, block, of(reg)); last >= 0) return last;
    if (block == loop.header) return -1;
    return search(predecessors_[block], reg, loop.header);
}

int Definitions::reaching_entry(const Loop& loop, const Register& reg) const {
    if (graph_.dominator[loop.header] < 0) return -1;
    std::vector<int> entries;
    for (const int from : predecessors_[loop.header])
        if (!std::binary_search(loop.blocks.begin(), loop.blocks.end(), from))
            entries.push_back(from);
    return search(std::move(entries), reg, -1);
}

}  // namespace ww::sass

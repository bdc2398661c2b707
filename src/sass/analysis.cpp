// SPDX-License-Identifier: Apache-2.0
#include "sass/analysis.hpp"

#include <algorithm>
#include <set>

namespace ww::sass {
namespace {

LoopAnalysis analyse_loop(const Function& function, const Graph& graph, int index,
                          const std::optional<Rates>& rates) {
    LoopAnalysis out;
    const Loop& loop = graph.loops[index];
    std::optional<Estimator> estimator;
    if (rates) estimator.emplace(*rates);
    std::set<SourceLine> lines;
    for (const int number : loop.blocks) {
        const Block& block = graph.blocks[number];
        for (int i = block.first; i < block.end; ++i) {
            const Instruction& each = function.instructions[i];
            out.all.add(each);
            if (each.chain >= 0) lines.insert(function.chains[each.chain].front());
            if (block.loop != index) continue;
            out.own.add(each);
            if (estimator) estimator->add(each);
        }
    }
    if (estimator) out.estimate = estimator->result();
    out.trip = trip_hint(function, graph, loop);
    out.lines.assign(lines.begin(), lines.end());
    return out;
}

}  // namespace

Analysis analyse(const Function& function, const std::optional<Rates>& rates) {
    Analysis out;
    out.graph = graph_of(function);
    std::set<std::string_view> unknown;
    for (int i = 0; i < static_cast<int>(function.instructions.size()); ++i) {
        const Instruction& each = function.instructions[i];
        out.total.add(each);
        (each.chain >= 0 ? out.by_line[function.chains[each.chain].front()] : out.without_line)
            .add(each);
        const Opcode opcode = classify(each.opcode);
        if (opcode.of == Class::local) out.local.push_back(i);
        if (!opcode.known) unknown.insert(base_name(each.opcode));
    }
    for (int i = 0; i < static_cast<int>(out.graph.loops.size()); ++i)
        out.loops.push_back(analyse_loop(function, out.graph, i, rates));
    out.narrow = narrow_accesses(function, out.graph);
    out.tensor = tensor_order(function, out.graph);
    out.unknown.assign(unknown.begin(), unknown.end());
    return out;
}

}  // namespace ww::sass

// SPDX-License-Identifier: Apache-2.0
#include "sass/analysis.hpp"

#include <algorithm>
#include <set>

namespace ww::sass {
namespace {

// Each instruction is looked at once, in the innermost loop that it is in; what is known of a loop
// goes to the one around it.
std::vector<LoopAnalysis> analyse_loops(const Function& function, const Graph& graph,
                                        const std::optional<Rates>& rates) {
    const size_t count = graph.loops.size();
    std::vector<LoopAnalysis> out(count);
    std::vector<Estimator> estimators;
    if (rates) estimators.assign(count, Estimator(*rates));
    for (const Block& block : graph.blocks) {
        if (block.loop < 0) continue;
        for (int i = block.first; i < block.end; ++i) {
            const Instruction& each = function.instructions[i];
            out[block.loop].own.add(each);
            if (rates) estimators[block.loop].add(each);
            if (each.chain >= 0)
                out[block.loop].lines.push_back(function.chains[each.chain].front());
        }
    }
    const TripHints trips(function, graph);
    for (size_t i = count; i-- > 0;) {  // inner loops stand behind those around them
        LoopAnalysis& loop = out[i];
        std::sort(loop.lines.begin(), loop.lines.end());
        loop.lines.erase(std::unique(loop.lines.begin(), loop.lines.end()), loop.lines.end());
        loop.all.add(loop.own);
        if (rates) loop.estimate = estimators[i].result();
        loop.trip = trips.of(graph.loops[i]);
        if (graph.loops[i].parent < 0) continue;
        LoopAnalysis& around = out[graph.loops[i].parent];
        around.all.add(loop.all);
        around.lines.insert(around.lines.end(), loop.lines.begin(), loop.lines.end());
    }
    return out;
}

std::optional<size_t> main_of(const std::vector<LoopAnalysis>& loops) {
    if (loops.empty()) return std::nullopt;
    const auto better = [](const LoopAnalysis& a, const LoopAnalysis& b) {
        const int a_tensor = a.own[Class::tensor], b_tensor = b.own[Class::tensor];
        if (a_tensor != b_tensor) return a_tensor < b_tensor;
        return a_tensor > 0 ? a.own.total > b.own.total : a.own.total < b.own.total;
    };
    return static_cast<size_t>(std::max_element(loops.begin(), loops.end(), better) - loops.begin());
}

}  // namespace

std::optional<MainLoop> main_loop_of(const Analysis& analysis) {
    if (!analysis.main_loop) return std::nullopt;
    const Counts& own = analysis.loops[*analysis.main_loop].own;
    const int tensor = own[Class::tensor];
    if (tensor == 0) return std::nullopt;
    const auto mufu = own.opcodes.find("MUFU");
    return MainLoop{64.0 * own.total / tensor, mufu == own.opcodes.end() ? 0.0 : 64.0 * mufu->second / tensor};
}

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
    out.loops = analyse_loops(function, out.graph, rates);
    out.main_loop = main_of(out.loops);
    out.narrow = narrow_accesses(function, out.graph);
    out.tensor = tensor_order(function, out.graph);
    out.unknown.assign(unknown.begin(), unknown.end());
    return out;
}

}  // namespace ww::sass

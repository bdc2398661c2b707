// SPDX-License-Identifier: Apache-2.0
// All that a listing says of one kernel: counts in total, by loop and by source line, estimates,
// findings. What the cubin says (registers, memory) is src/cubin.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "sass/counts.hpp"
#include "sass/estimate.hpp"
#include "sass/findings.hpp"
#include "sass/graph.hpp"
#include "sass/trip.hpp"

namespace ww::sass {

struct LoopAnalysis {
    Counts all;               // every block of the loop once, inner loops too
    Counts own;               // without inner loops
    std::optional<Estimate> estimate;  // of own, an iteration and warp; nothing: no rates are known
    TripHint trip;
    std::vector<SourceLine> lines;     // innermost lines of its instructions, ascending
};

struct Analysis {
    Graph graph;
    Counts total;
    std::vector<LoopAnalysis> loops;       // as graph.loops
    // Index of the loop that does the work: of those with the most tensor instructions of their own the
    // shortest (longer forms are those for masked or last tiles); without any, the longest. Nothing: no loops.
    std::optional<size_t> main_loop;
    std::map<SourceLine, Counts> by_line;  // by the innermost line
    Counts without_line;
    std::vector<NarrowAccess> narrow;
    TensorOrder tensor;
    std::vector<int> local;             // instructions that read or write local memory
    std::vector<std::string_view> unknown;  // opcodes that the table does not know
};

// The main loop's own instructions for 64 tensor instructions; nothing where it has none of these.
struct MainLoop {
    double instructions = 0;
    double mufu = 0;  // of them
};
std::optional<MainLoop> main_loop_of(const Analysis& analysis);

// rates: of the listing's target, where they are known.
Analysis analyse(const Function& function, const std::optional<Rates>& rates);

}  // namespace ww::sass

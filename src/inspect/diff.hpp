// SPDX-License-Identifier: Apache-2.0
// `asm diff`: what changed between two builds, kernel by kernel and loop by loop.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "inspect/facts.hpp"

namespace ww::inspect {

// A number that differs; nothing: that side has none.
struct Change {
    std::string what;
    std::optional<double> before, after;
};

struct LoopDiff {
    std::optional<LoopFacts> before, after;  // nothing: the loop came or went
    std::vector<Change> classes;             // of its instructions without inner loops
    bool changed() const;                    // counts, bound or schedule
};

// Local loads or stores by one source line, where their number differs.
struct SpillDiff {
    std::string place;  // empty: no line known
    bool load = false;
    int64_t bits = 0;
    int before = 0, after = 0;
};

struct KernelDiff {
    KernelFacts before, after;
    std::vector<Change> resources;  // only what differs; "blocks" of a multiprocessor among them
    std::vector<Change> classes;    // "total" first
    std::vector<LoopDiff> loops;    // all of after's in order; those that went, where they were
    std::vector<SpillDiff> spills;
    bool changed() const;
};

struct AsmDiff {
    std::vector<KernelDiff> kernels;
    std::vector<std::string> gone, added;  // "softmax_plain for sm_90a"
    std::vector<std::string> notes;        // other compilers, a side without SASS
    bool changed() const;
};

// Kernels are paired by file stem, name and target; then by name; what is alone on each side makes
// a pair whatever its names are. Loops are aligned in order, by likeness of their instructions.
AsmDiff compare(const AsmFacts& before, const AsmFacts& after);

// Pairs (index into before or -1, index into after or -1) of the loops of two kernels, in order.
std::vector<std::pair<int, int>> align_loops(const std::vector<LoopFacts>& before,
                                             const std::vector<LoopFacts>& after);

std::string to_text(const AsmDiff& diff);
std::string to_json(const AsmDiff& diff);

}  // namespace ww::inspect

// SPDX-License-Identifier: Apache-2.0
// Whether a build uses more than resources.txt allows.
#include <fmt/format.h>

#include <algorithm>

#include "inspect/gate.hpp"

namespace ww::inspect {
namespace {

int64_t outermost(const std::vector<Allowance::Loop>& loops) {
    int64_t sum = 0;
    for (const Allowance::Loop& loop : loops)
        if (loop.depth == 1) sum += loop.instructions;
    return sum;
}

bool same_tree(const std::vector<Allowance::Loop>& a, const std::vector<Allowance::Loop>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Allowance::Loop& x, const Allowance::Loop& y) { return x.depth == y.depth; });
}

void judge_number(const std::string& what, int64_t recorded, int64_t now, GateReport::Kernel& out) {
    if (now > recorded)
        out.exceeded.push_back({what, recorded, now});
    else if (now < recorded)
        out.notes.push_back(fmt::format("{} {}, recorded are {}", what, now, recorded));
}

// The figure that a kernel on tensor cores lives by; one that has it must have it recorded.
void judge_main_loop(const Allowance& recorded, const Allowance& now, GateReport::Kernel& out) {
    if (!now.main_loop) {
        if (recorded.main_loop) out.notes.push_back("its main loop has no tensor instructions any more");
    } else if (!recorded.main_loop) {
        out.exceeded.push_back({"not recorded: main loop's instructions for 64 tensor instructions", 0, now.main_loop->instructions});
    } else {
        judge_number("main loop's instructions for 64 tensor instructions", recorded.main_loop->instructions,
                     now.main_loop->instructions, out);
        judge_number("MUFU among them", recorded.main_loop->mufu, now.main_loop->mufu, out);
    }
}

GateReport::Kernel judge_kernel(const std::string& name, const Allowance& recorded, const Allowance& now) {
    GateReport::Kernel out{.name = name};
    judge_number("registers", recorded.registers, now.registers, out);
    judge_number("spill_bytes", recorded.spill_bytes, now.spill_bytes, out);
    judge_main_loop(recorded, now, out);
    if (same_tree(recorded.loops, now.loops)) {
        for (size_t i = 0; i < now.loops.size(); ++i)
            judge_number(fmt::format("instructions of loop {} (depth {})", i, now.loops[i].depth),
                         recorded.loops[i].instructions, now.loops[i].instructions, out);
        return out;
    }
    // No loop of one is a loop of the other: only their sums can be told apart.
    out.notes.push_back(fmt::format("its loops are others: {} were recorded, now there are {}", recorded.loops.size(),
                                    now.loops.size()));
    judge_number("instructions of all loops", outermost(recorded.loops), outermost(now.loops), out);
    return out;
}

}  // namespace

bool GateReport::ok() const {
    return std::all_of(kernels.begin(), kernels.end(), [](const Kernel& kernel) { return kernel.exceeded.empty(); });
}

GateReport judge(const Allowances& recorded, const Allowances& now) {
    GateReport out;
    for (const auto& [name, used] : now.kernels) {
        const auto found = recorded.kernels.find(name);
        if (found != recorded.kernels.end())
            out.kernels.push_back(judge_kernel(name, found->second, used));
        else
            out.kernels.push_back({.name = name, .exceeded = {{"not recorded: registers", 0, used.registers}}, .notes = {}});
    }
    for (const auto& [name, allowance] : recorded.kernels)
        if (now.kernels.count(name) == 0)
            out.notes.push_back(fmt::format("line {}: the port has no kernel {} any more", allowance.line, name));
    if (recorded.made_with != now.made_with)
        out.notes.push_back(fmt::format("recorded with {}; this is {}", recorded.made_with, now.made_with));
    return out;
}

}  // namespace ww::inspect

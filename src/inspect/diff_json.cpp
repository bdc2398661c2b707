// SPDX-License-Identifier: Apache-2.0
// AsmDiff as JSON; docs/asm.md explains the fields.
#include <nlohmann/json.hpp>

#include "inspect/diff.hpp"

namespace ww::inspect {
namespace {

using nlohmann::json;

json number_json(const std::optional<double>& value) {
    if (!value) return nullptr;
    if (*value == static_cast<double>(static_cast<int64_t>(*value))) return static_cast<int64_t>(*value);
    return *value;
}

json changes_json(const std::vector<Change>& changes) {
    json out = json::object();
    for (const Change& each : changes)
        out[each.what] = {{"before", number_json(each.before)}, {"after", number_json(each.after)}};
    return out;
}

json loop_side_json(const std::optional<LoopFacts>& loop) {
    if (!loop) return nullptr;
    return {{"id", loop->id},
            {"depth", loop->depth},
            {"place", loop->place},
            {"instructions", loop->all.total},
            {"own", loop->own.total},
            {"bound", loop->bound.empty() ? json(nullptr) : json(loop->bound)},
            {"bound_cycles", loop->bound.empty() ? json(nullptr) : json(loop->bound_cycles)},
            {"scheduled_cycles", loop->scheduled_cycles ? json(*loop->scheduled_cycles) : json(nullptr)}};
}

json side_json(const KernelFacts& kernel) {
    return {{"name", kernel.name}, {"demangled", kernel.demangled}, {"target", kernel.target}};
}

json kernel_json(const KernelDiff& kernel) {
    json loops = json::array(), spills = json::array();
    for (const LoopDiff& loop : kernel.loops)
        loops.push_back({{"before", loop_side_json(loop.before)},
                         {"after", loop_side_json(loop.after)},
                         {"changed", loop.changed()},
                         {"classes", changes_json(loop.classes)}});
    for (const SpillDiff& spill : kernel.spills)
        spills.push_back({{"place", spill.place},
                          {"access", spill.load ? "load" : "store"},
                          {"bits", spill.bits},
                          {"before", spill.before},
                          {"after", spill.after}});
    return {{"before", side_json(kernel.before)},
            {"after", side_json(kernel.after)},
            {"changed", kernel.changed()},
            {"resources", changes_json(kernel.resources)},
            {"instructions", changes_json(kernel.classes)},
            {"loops", loops},
            {"spills", spills}};
}

}  // namespace

std::string to_json(const AsmDiff& diff) {
    json kernels = json::array();
    for (const KernelDiff& kernel : diff.kernels) kernels.push_back(kernel_json(kernel));
    return json{{"changed", diff.changed()},
                {"kernels", kernels},
                {"gone", diff.gone},
                {"added", diff.added},
                {"notes", diff.notes}}
        .dump(1);
}

}  // namespace ww::inspect

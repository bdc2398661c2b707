// SPDX-License-Identifier: Apache-2.0
// AsmDiff as the summary that a person reads: what did not change is left out.
#include <fmt/format.h>

#include "inspect/diff.hpp"

namespace ww::inspect {
namespace {

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:g}", *value) : "unknown"; }

std::string change_text(const Change& change) {
    std::string out = fmt::format("{} {} -> {}", change.what, number(change.before), number(change.after));
    if (change.before && change.after) out += fmt::format(" ({:+g})", *change.after - *change.before);
    return out;
}

std::string changes_text(const std::vector<Change>& changes) {
    std::string out;
    for (const Change& change : changes) out += fmt::format("{}{}", out.empty() ? "" : ", ", change_text(change));
    return out;
}

std::string loop_name(const LoopFacts& loop) {
    return fmt::format("loop {}{}", loop.id, loop.place.empty() ? std::string() : fmt::format(" ({})", loop.place));
}

std::string loop_text(const LoopDiff& loop) {
    const LoopFacts& any = loop.after ? *loop.after : *loop.before;
    const std::string indent(static_cast<size_t>(2 * any.depth), ' ');
    if (!loop.before || !loop.after)
        return fmt::format("{}{}: {}, {} instructions\n", indent, loop_name(any), loop.after ? "new" : "gone",
                           any.all.total);
    const LoopFacts &x = *loop.before, &y = *loop.after;
    std::string out = fmt::format("{}{}", indent, loop_name(x));
    if (loop_name(x) != loop_name(y)) out += fmt::format(" -> {}", loop_name(y));
    out += x.all.total == y.all.total ? fmt::format(": {} instructions\n", y.all.total)
                                      : fmt::format(": {} -> {} instructions ({:+})\n", x.all.total, y.all.total,
                                                    y.all.total - x.all.total);
    if (!loop.classes.empty()) out += fmt::format("{}  {}\n", indent, changes_text(loop.classes));
    if (x.bound != y.bound || x.bound_cycles != y.bound_cycles)
        out += fmt::format("{}  bound by {} ({:.0f} cycles) -> {} ({:.0f})\n", indent, x.bound.empty() ? "?" : x.bound,
                           x.bound_cycles, y.bound.empty() ? "?" : y.bound, y.bound_cycles);
    if (x.scheduled_cycles != y.scheduled_cycles && x.scheduled_cycles && y.scheduled_cycles)
        out += fmt::format("{}  scheduled cycles {} -> {}\n", indent, *x.scheduled_cycles, *y.scheduled_cycles);
    return out;
}

std::string kernel_text(const KernelDiff& kernel) {
    std::string out = title(kernel.before);
    if (title(kernel.after) != out) out += fmt::format(" -> {}", title(kernel.after));
    if (!kernel.changed()) return out + ": nothing changed\n";
    out += '\n';
    if (!kernel.resources.empty()) out += fmt::format("  {}\n", changes_text(kernel.resources));
    if (!kernel.classes.empty()) out += fmt::format("  instructions: {}\n", changes_text(kernel.classes));
    for (const LoopDiff& loop : kernel.loops)
        if (loop.changed()) out += loop_text(loop);
    for (const SpillDiff& spill : kernel.spills)
        out += fmt::format("  local {}s of {} bits{}: {} -> {}\n", spill.load ? "load" : "store", spill.bits,
                           spill.place.empty() ? std::string() : fmt::format(" at {}", spill.place), spill.before, spill.after);
    return out;
}

}  // namespace

std::string to_text(const AsmDiff& diff) {
    std::string out;
    for (const KernelDiff& kernel : diff.kernels) out += kernel_text(kernel);
    for (const std::string& kernel : diff.gone) out += fmt::format("{}: gone\n", kernel);
    for (const std::string& kernel : diff.added) out += fmt::format("{}: new\n", kernel);
    for (const std::string& note : diff.notes) out += fmt::format("note: {}\n", note);
    return out;
}

}  // namespace ww::inspect

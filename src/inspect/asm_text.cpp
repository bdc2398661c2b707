// SPDX-License-Identifier: Apache-2.0
// AsmInfo as the summary that a person reads.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "inspect/asm_info.hpp"

namespace ww::inspect {
namespace {

// The classes that there are, the most frequent first: "fp32 120, tensor 64".
std::string classes_text(const sass::Counts& counts) {
    std::vector<size_t> order;
    for (size_t i = 0; i < sass::kClasses; ++i)
        if (counts.of_class[i] > 0) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return counts.of_class[a] > counts.of_class[b]; });
    std::string out;
    for (const size_t i : order)
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", name(static_cast<sass::Class>(i)), counts.of_class[i]);
    return out;
}

std::string line_text(const KernelInfo& kernel, const sass::SourceLine& line) {
    return fmt::format("{}:{}", std::filesystem::path(kernel.listing->files[line.file]).filename().string(), line.line);
}

std::string estimate_text(const sass::Estimate& estimate) {
    std::string out = fmt::format("issue {:.0f}", estimate.issue);
    for (size_t i = 1; i < sass::kPipes; ++i)
        if (estimate.pipe[i] > 0)
            out += fmt::format(", {} {:.0f}", name(static_cast<sass::Pipe>(i)), estimate.pipe[i]);
    if (estimate.tensor_unknown > 0) out += fmt::format(", {} tensor instructions without a rate", estimate.tensor_unknown);
    if (estimate.scheduled >= 0) out += fmt::format("; scheduled {}", estimate.scheduled);
    return fmt::format("{} cycles: bound by {} ({:.0f})", out, estimate.bound(), estimate.cycles());
}

std::string occupancy_text(const KernelInfo& kernel) {
    if (!kernel.occupancy) return fmt::format("  occupancy: {}\n", kernel.occupancy_missing);
    const cubin::Occupancy& o = *kernel.occupancy;
    std::string limits;
    for (const cubin::Limiter each : o.limiters) limits += fmt::format("{}{}", limits.empty() ? "" : " and ", cubin::limiter_name(each));
    std::string out = fmt::format("  occupancy at {} threads a block ({}): {} blocks, {} of {} warps, limited by {}",
                                  kernel.threads, kernel.threads_from, o.blocks, o.warps, o.max_warps, limits);
    if (o.next_possible && o.registers_next > 0 && o.registers_next < kernel.resources.registers)
        out += fmt::format("; one block more needs {} registers or fewer", o.registers_next);
    out += '\n';
    return out;
}

std::string findings_text(const KernelInfo& kernel) {
    std::string out;
    const sass::Analysis& a = *kernel.analysis;
    for (const sass::NarrowAccess& each : a.narrow) {
        const int chain = kernel.function->instructions[each.instructions.front()].chain;
        out += fmt::format("  {} {} of {} bits lie side by side{}: {} of {} bits would do, if the base is aligned\n",
                           each.instructions.size(),
                           fmt::format("{} {}s", name(each.of), each.access == sass::Access::load ? "load" : "store"), each.bits,
                           chain < 0 ? std::string() : fmt::format(" ({})", line_text(kernel, kernel.function->chains[chain].front())),
                           each.instead, each.wide_bits);
    }
    if (!a.tensor.waited_alone.empty())
        out += fmt::format("  {} wgmma instructions are alone between two waits for all: nothing overlaps them\n",
                           a.tensor.waited_alone.size());
    if (!a.local.empty()) out += fmt::format("  {} instructions read or write local memory\n", a.local.size());
    if (a.graph.unknown_jumps > 0)
        out += fmt::format("  {} indirect branches have unknown targets: loops through them are not seen\n",
                           a.graph.unknown_jumps);
    if (kernel.ptxas)
        for (const std::string& warning : kernel.ptxas->warnings) out += fmt::format("  ptxas {}\n", warning);
    return out;
}

std::string kernel_text(const KernelInfo& kernel) {
    const cubin::Kernel& r = kernel.resources;
    std::string out = fmt::format("{} for {}\n", kernel.demangled, kernel.target);
    out += fmt::format("  {} registers, {} barriers, shared {} + {} bytes, stack {}, {} instructions\n", r.registers, r.barriers,
                       r.static_shared_bytes, kernel.image->shared_bytes,
                       r.stack_known ? fmt::format("{} bytes", r.stack_bytes) : std::string("unknown"), r.code_bytes / 16);
    if (kernel.ptxas)
        out += fmt::format("  spills: {} bytes of stores, {} of loads\n", kernel.ptxas->spill_store_bytes,
                           kernel.ptxas->spill_load_bytes);
    out += occupancy_text(kernel);
    if (!kernel.analysis) return out + fmt::format("  no SASS: {}\n", kernel.image->sass_missing);
    out += fmt::format("  {}\n", classes_text(kernel.analysis->total));
    for (size_t i = 0; i < kernel.analysis->loops.size(); ++i) out += loop_summary(kernel, static_cast<int>(i));
    return out + findings_text(kernel);
}

}  // namespace

std::string loop_summary(const KernelInfo& kernel, int index) {
    const sass::Loop& loop = kernel.analysis->graph.loops[static_cast<size_t>(index)];
    const sass::LoopAnalysis& each = kernel.analysis->loops[static_cast<size_t>(index)];
    const std::string indent(static_cast<size_t>(2 * loop.depth), ' ');
    const auto& function = *kernel.function;
    std::string out = fmt::format("{}loop {} at 0x{:04x}, {} instructions", indent, index,
                                  function.instructions[kernel.analysis->graph.blocks[loop.header].first].offset,
                                  each.all.total);
    if (each.own.total != each.all.total) out += fmt::format(" ({} without inner loops)", each.own.total);
    if (!each.lines.empty()) out += ", from " + line_text(kernel, each.lines.front());
    if (each.trip.count) out += fmt::format(", runs {} times", *each.trip.count);
    if (const auto main = sass::main_loop_of(*kernel.analysis); main && kernel.analysis->main_loop == static_cast<size_t>(index))
        out += fmt::format("; main loop: {:.1f} instructions for 64 tensor instructions, {:.1f} MUFU among them",
                           main->instructions, main->mufu);
    out += fmt::format("\n{}  {}\n", indent, classes_text(each.own));
    if (each.estimate) out += fmt::format("{}  {}\n", indent, estimate_text(*each.estimate));
    return out;
}

std::string to_text(const AsmInfo& info) {
    std::string out;
    for (const KernelInfo& kernel : info.kernels) {
        if (!out.empty()) out += '\n';
        out += kernel_text(kernel);
    }
    return out;
}

}  // namespace ww::inspect

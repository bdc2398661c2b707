// SPDX-License-Identifier: Apache-2.0
// AsmInfo as JSON; docs/asm.md explains the fields.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "inspect/asm_info.hpp"

namespace ww::inspect {
namespace {

using nlohmann::json;

std::string address(const sass::Function& function, int instruction) {
    const uint32_t end = static_cast<uint32_t>(function.instructions.size()) * 16;
    return fmt::format("0x{:04x}", instruction < static_cast<int>(function.instructions.size())
                                       ? function.instructions[instruction].offset
                                       : end);
}

json widths_json(const std::array<sass::Counts::Widths, sass::kClasses>& counts) {
    json out = json::object();
    for (size_t of = 0; of < sass::kClasses; ++of)
        for (size_t width = 0; width < sass::kWidths.size(); ++width)
            if (counts[of][width] > 0)
                out[std::string(name(static_cast<sass::Class>(of)))][std::to_string(sass::kWidths[width])] =
                    counts[of][width];
    return out;
}

json counts_json(const sass::Counts& counts) {
    json classes = json::object(), opcodes = json::object();
    for (size_t of = 0; of < sass::kClasses; ++of)
        if (counts.of_class[of] > 0)
            classes[std::string(name(static_cast<sass::Class>(of)))] = counts.of_class[of];
    for (const auto& [opcode, count] : counts.opcodes) opcodes[std::string(opcode)] = count;
    return {{"total", counts.total}, {"classes", classes}, {"opcodes", opcodes},
            {"loads", widths_json(counts.loads)}, {"stores", widths_json(counts.stores)}};
}

json line_json(const KernelInfo& kernel, const sass::SourceLine& line) {
    return {{"file", kernel.listing->files[line.file]}, {"line", line.line}};
}

// The lines of instructions, each once, in the order in which they come.
json places_json(const KernelInfo& kernel, const std::vector<int>& instructions) {
    json out = json::array();
    std::vector<int> seen;
    for (const int i : instructions) {
        const int chain = kernel.function->instructions[i].chain;
        if (chain < 0 || std::find(seen.begin(), seen.end(), chain) != seen.end()) continue;
        seen.push_back(chain);
        out.push_back(line_json(kernel, kernel.function->chains[chain].front()));
    }
    return out;
}

json estimate_json(const sass::Estimate& estimate) {
    json pipes = json::object();
    for (size_t i = 1; i < sass::kPipes; ++i)
        if (estimate.pipe[i] > 0) pipes[std::string(name(static_cast<sass::Pipe>(i)))] = estimate.pipe[i];
    return {{"issue_slots", estimate.issue}, {"cycles", pipes}, {"bound", estimate.bound()},
            {"bound_cycles", estimate.cycles()}, {"tensor_without_rate", estimate.tensor_unknown},
            {"scheduled_cycles", estimate.scheduled < 0 ? json(nullptr) : json(estimate.scheduled)}};
}

json trip_json(const sass::TripHint& hint) {
    if (hint.counter.empty()) return nullptr;
    return {{"counter", hint.counter}, {"step", hint.step ? json(*hint.step) : json(nullptr)},
            {"comparison", hint.comparison}, {"bound", hint.bound},
            {"count", hint.count ? json(*hint.count) : json(nullptr)}};
}

json loop_json(const KernelInfo& kernel, int index) {
    const sass::Graph& graph = kernel.analysis->graph;
    const sass::Loop& loop = graph.loops[index];
    const sass::LoopAnalysis& analysis = kernel.analysis->loops[index];
    const sass::Function& function = *kernel.function;
    json ranges = json::array(), latches = json::array(), lines = json::array();
    for (const auto& [first, end] : graph.ranges(loop))
        ranges.push_back({address(function, first), address(function, end)});
    for (const int latch : loop.latches)
        latches.push_back(address(function, graph.blocks[latch].end - 1));
    for (const sass::SourceLine& line : analysis.lines) lines.push_back(line_json(kernel, line));
    return {{"id", index}, {"parent", loop.parent < 0 ? json(nullptr) : json(loop.parent)},
            {"depth", loop.depth}, {"header", address(function, graph.blocks[loop.header].first)},
            {"latches", latches}, {"ranges", ranges}, {"lines", lines},
            {"instructions", counts_json(analysis.all)}, {"own", counts_json(analysis.own)},
            {"estimate", analysis.estimate ? estimate_json(*analysis.estimate) : json(nullptr)},
            {"trip", trip_json(analysis.trip)}};
}

json local_json(const KernelInfo& kernel) {
    json out = json::array();
    for (const int i : kernel.analysis->local) {
        const sass::Instruction& each = kernel.function->instructions[i];
        const int loop = kernel.analysis->graph.blocks[kernel.analysis->graph.block_of[i]].loop;
        const bool load = sass::classify(each.opcode).access == sass::Access::load;
        out.push_back({{"address", address(*kernel.function, i)}, {"access", load ? "load" : "store"},
                       {"bits", sass::access_bits(each.opcode)}, {"loop", loop < 0 ? json(nullptr) : json(loop)},
                       {"line", each.chain < 0 ? json(nullptr)
                                               : line_json(kernel, kernel.function->chains[each.chain].front())}});
    }
    return out;
}

json findings_json(const KernelInfo& kernel) {
    json narrow = json::array();
    for (const sass::NarrowAccess& each : kernel.analysis->narrow) {
        const int block = kernel.analysis->graph.block_of[each.instructions.front()];
        const int loop = kernel.analysis->graph.blocks[block].loop;
        narrow.push_back({{"memory", name(each.of)}, {"access", each.access == sass::Access::load ? "load" : "store"},
                          {"bits", each.bits}, {"could_be_bits", each.wide_bits},
                          {"instructions", each.instructions.size()}, {"instead", each.instead},
                          {"address", address(*kernel.function, each.instructions.front())},
                          {"loop", loop < 0 ? json(nullptr) : json(loop)},
                          {"lines", places_json(kernel, each.instructions)}});
    }
    return {{"narrow_accesses", narrow},
            {"wgmma_waited_alone", kernel.analysis->tensor.waited_alone.size()},
            {"wgmma_waited_alone_lines", places_json(kernel, kernel.analysis->tensor.waited_alone)},
            {"mma_chained", kernel.analysis->tensor.chained.size()},
            {"compiler_warnings", kernel.ptxas ? json(kernel.ptxas->warnings) : json::array()}};
}

json by_line_json(const KernelInfo& kernel) {
    json out = json::array();
    for (const auto& [line, counts] : kernel.analysis->by_line) {
        json entry = line_json(kernel, line);
        entry["instructions"] = counts_json(counts);
        out.push_back(std::move(entry));
    }
    return out;
}

json resources_json(const KernelInfo& kernel) {
    const cubin::Kernel& r = kernel.resources;
    json banks = json::object();
    for (const auto& [bank, bytes] : r.constant_bytes) banks[std::to_string(bank)] = bytes;
    return {{"registers", r.registers}, {"max_registers", r.max_registers}, {"barriers", r.barriers},
            {"static_shared_bytes", r.static_shared_bytes}, {"reserved_shared_bytes", r.reserved_shared_bytes},
            {"dynamic_shared_bytes", kernel.image->shared_bytes}, {"local_bytes", r.local_bytes},
            {"stack_bytes", r.stack_known ? json(r.stack_bytes) : json(nullptr)}, {"frame_bytes", r.frame_bytes},
            {"constant_bytes", banks}, {"parameter_bytes", r.parameter_bytes}, {"code_bytes", r.code_bytes},
            {"max_threads", r.max_threads > 0 ? json(r.max_threads) : json(nullptr)},
            {"cluster", r.cluster_size}, {"parameters", r.parameters.size()},
            {"spill_store_bytes", kernel.ptxas ? json(kernel.ptxas->spill_store_bytes) : json(nullptr)},
            {"spill_load_bytes", kernel.ptxas ? json(kernel.ptxas->spill_load_bytes) : json(nullptr)}};
}

json occupancy_json(const KernelInfo& kernel) {
    if (!kernel.occupancy) return {{"missing", kernel.occupancy_missing}};
    const cubin::Occupancy& o = *kernel.occupancy;
    json limiters = json::array();
    for (const cubin::Limiter each : o.limiters) limiters.push_back(cubin::limiter_name(each));
    const auto known = [](int64_t value) { return value < 0 ? json(nullptr) : json(value); };
    return {{"threads", kernel.threads}, {"threads_from", kernel.threads_from}, {"blocks", o.blocks},
            {"warps", o.warps}, {"max_warps", o.max_warps}, {"limiters", limiters},
            {"registers_kept", known(o.registers_kept)}, {"shared_kept", known(o.shared_kept)},
            {"next_possible", o.next_possible}, {"registers_next", known(o.registers_next)},
            {"shared_next", known(o.shared_next)}};
}

json kernel_json(const KernelInfo& kernel) {
    const Image& image = *kernel.image;
    json out{{"name", kernel.name}, {"demangled", kernel.demangled}, {"target", kernel.target},
             {"source", image.source}, {"files", image.stem + "." + image.target}, {"flags", image.flags},
             {"implementation", image.implementation}, {"stages", image.stages}, {"cases", image.cases},
             {"resources", resources_json(kernel)}, {"occupancy", occupancy_json(kernel)},
             {"rates", kernel.rates ? json(kernel.rates->source) : json(nullptr)}};
    if (!kernel.analysis) {
        out["sass_missing"] = image.sass_missing.empty() ? "the listing has no such function" : image.sass_missing;
        return out;
    }
    out["instructions"] = counts_json(kernel.analysis->total);
    out["loops"] = json::array();
    for (size_t i = 0; i < kernel.analysis->loops.size(); ++i)
        out["loops"].push_back(loop_json(kernel, static_cast<int>(i)));
    out["main_loop"] = kernel.analysis->main_loop ? json(*kernel.analysis->main_loop) : json(nullptr);
    out["irreducible_edges"] = kernel.analysis->graph.irreducible;
    out["loops_too_deep"] = kernel.analysis->graph.too_deep;
    out["unknown_jumps"] = kernel.analysis->graph.unknown_jumps;
    out["local_accesses"] = local_json(kernel);
    out["findings"] = findings_json(kernel);
    out["lines"] = by_line_json(kernel);
    out["unknown_opcodes"] = kernel.analysis->unknown;
    return out;
}

}  // namespace

std::string to_json(const AsmInfo& info) {
    const auto version = [](const std::string& text) { return text.empty() ? json(nullptr) : json(text); };
    json kernels = json::array();
    for (const KernelInfo& kernel : info.kernels) kernels.push_back(kernel_json(kernel));
    return json{{"schema", "warpwright.asm_info/1"},
                {"toolchain", {{"nvrtc", version(info.nvrtc_version)}, {"ptxas", version(info.ptxas_version)},
                               {"nvdisasm", version(info.nvdisasm_version)}}},
                {"kernels", kernels}}
        .dump(1, ' ', false, json::error_handler_t::replace);
}

}  // namespace ww::inspect

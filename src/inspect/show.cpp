// SPDX-License-Identifier: Apache-2.0
#include "inspect/show.hpp"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/files.hpp"
#include "base/text.hpp"

namespace ww::inspect {
namespace {

// Lines of the files that a listing names, each file read once.
class SourceFiles {
  public:
    std::string line(const std::string& file, int number) {
        auto found = files_.find(file);
        if (found == files_.end()) {
            const auto text = read_file(file);
            std::vector<std::string> lines;
            if (text)
                for (const std::string_view each : split(*text, '\n')) lines.emplace_back(each);
            found = files_.emplace(file, std::move(lines)).first;
        }
        return number >= 1 && number <= static_cast<int>(found->second.size())
                   ? std::string(trim(found->second[number - 1]))
                   : std::string();
    }

  private:
    std::map<std::string, std::vector<std::string>> files_;
};

std::string text_of(const sass::Instruction& each) {
    std::string out;
    if (!each.guard.empty()) out += std::string(each.guard) + ' ';
    out += each.opcode;
    if (!each.operands.empty()) out.append(" ").append(each.operands);
    return out;
}

// The instructions that are shown: all, or those of the loop's ranges.
Result<std::vector<int>> chosen(const KernelInfo& kernel, std::optional<int> loop) {
    const sass::Graph& graph = kernel.analysis->graph;
    const int loops = static_cast<int>(graph.loops.size());
    std::vector<std::pair<int, int>> ranges{{0, static_cast<int>(kernel.function->instructions.size())}};
    if (loop && (*loop < 0 || *loop >= loops))
        return fail(loops == 0 ? fmt::format("{} has no loop", kernel.name)
                               : fmt::format("{} has no loop {}: they are 0 to {}", kernel.name, *loop, loops - 1));
    if (loop) ranges = graph.ranges(graph.loops[*loop]);
    std::vector<int> out;
    for (const auto& [first, end] : ranges)
        for (int i = first; i < end; ++i) out.push_back(i);
    return out;
}

}  // namespace

Result<Shown> show(const KernelInfo& kernel, std::optional<int> loop) {
    if (!kernel.analysis)
        return fail(Diagnostic{.file = kernel.image->source, .message = fmt::format("no SASS: {}", kernel.image->sass_missing)});
    WW_TRY(instructions, chosen(kernel, loop));
    const sass::Graph& graph = kernel.analysis->graph;
    const sass::Function& function = *kernel.function;
    Shown out{.kernel = kernel.demangled, .target = kernel.target, .loop = loop};
    if (loop) out.summary = loop_summary(kernel, *loop);
    std::set<int> targets;
    for (const sass::Instruction& each : function.instructions) targets.insert(each.target);
    const std::vector<std::string_view> ptx = split(kernel.image->ptx, '\n');
    SourceFiles files;
    if (function.has_encoding) out.scheduled = 0;
    for (const int i : instructions) {
        const sass::Instruction& each = function.instructions[i];
        ShownInstruction shown{.address = each.offset, .text = text_of(each), .of = sass::classify(each.opcode).of};
        shown.loop = graph.blocks[graph.block_of[i]].loop;
        shown.target = targets.count(i) > 0;
        if (function.has_encoding) {
            shown.control = sass::control_of(each.words);
            out.scheduled += sass::scheduled_cycles(*shown.control);
        }
        if (each.ptx_line > 0 && each.ptx_line <= static_cast<int>(ptx.size())) {
            shown.ptx_line = each.ptx_line;
            shown.ptx = trim(ptx[each.ptx_line - 1]);
        }
        if (each.chain >= 0)
            for (const sass::SourceLine& line : function.chains[each.chain]) {
                const std::string& file = kernel.listing->files[line.file];
                shown.source.push_back({file, line.line, files.line(file, line.line)});
            }
        out.instructions.push_back(std::move(shown));
    }
    return out;
}

}  // namespace ww::inspect

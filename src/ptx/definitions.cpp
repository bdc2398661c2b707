// SPDX-License-Identifier: Apache-2.0
#include "ptx/definitions.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

#include "isa/row.hpp"

namespace ww::ptx {
namespace {

constexpr size_t kMaxInlining = 64;  // a .loc that names itself must not loop

// The call site in ", function_name label, inlined_at 2 64 9", or false.
bool inlined_at(const std::string& rest, Loc& site) {
    const size_t at = rest.rfind("inlined_at");
    return at != std::string::npos &&
           std::sscanf(rest.c_str() + at, "inlined_at %d %d %d", &site.file, &site.line, &site.col) == 3;
}

// The last .loc at or before index with that place: its own inlined_at is the next call outwards.
int find_loc(const Module& module, int before, const Loc& place) {
    for (int i = before; i >= 0; --i) {
        const Loc& loc = module.locs[static_cast<size_t>(i)];
        if (loc.file == place.file && loc.line == place.line && loc.col == place.col) return i;
    }
    return -1;
}

void collect_names(const Operand& operand, std::set<std::string>& names) {
    if (operand.kind == Operand::Kind::name) names.insert(operand.text);
    for (const Operand& item : operand.items) collect_names(item, names);
}

// By the notation of the rows: results come first and are called d, p, q or by what they hold.
bool writes_first_operand(const Instruction& instruction) {
    if (!instruction.row || instruction.operands.empty()) return false;
    if (instruction.operands.front().kind == Operand::Kind::address) return false;
    const std::vector<std::string> names = isa::operand_names(*instruction.row);
    constexpr std::array<std::string_view, 5> kResults = {"d", "p", "q", "r", "state"};
    return !names.empty() &&
           std::find(kResults.begin(), kResults.end(), names.front()) != kResults.end();
}

}  // namespace

std::vector<SourceLine> source_lines(const Module& module, int loc) {
    std::vector<SourceLine> out;
    while (loc >= 0 && out.size() < kMaxInlining) {
        const Loc& here = module.locs[static_cast<size_t>(loc)];
        const SourceFile* file = module.file(here.file);
        out.push_back(SourceLine{.file = file ? file->path : "", .line = here.line});
        Loc site;
        if (!inlined_at(here.rest, site)) break;
        const int outer = find_loc(module, loc - 1, site);
        if (outer < 0) {  // no line of its own: the call site itself is the last thing known
            const SourceFile* site_file = module.file(site.file);
            out.push_back(SourceLine{.file = site_file ? site_file->path : "", .line = site.line});
            break;
        }
        loc = outer;
    }
    return out;
}

std::vector<std::string> defined_registers(const Instruction& instruction) {
    if (!writes_first_operand(instruction)) return {};
    std::set<std::string> names;
    collect_names(instruction.operands.front(), names);
    return {names.begin(), names.end()};
}

std::vector<const Instruction*> operand_definitions(const Function& function,
                                                    const Instruction& instruction) {
    std::set<std::string> read;
    const bool skips_first = writes_first_operand(instruction);
    for (size_t i = skips_first ? 1 : 0; i < instruction.operands.size(); ++i)
        collect_names(instruction.operands[i], read);
    if (!instruction.guard.empty()) read.insert(instruction.guard);
    std::vector<const Instruction*> out;
    for (const Instruction& each : function.instructions) {
        const std::vector<std::string> defined = defined_registers(each);
        const bool reaches = std::any_of(defined.begin(), defined.end(),
                                         [&](const std::string& name) { return read.count(name) > 0; });
        if (reaches && &each != &instruction) out.push_back(&each);
    }
    return out;
}

}  // namespace ww::ptx

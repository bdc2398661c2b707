// SPDX-License-Identifier: Apache-2.0
#include "ptx/definitions.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>

#include "isa/row.hpp"

namespace ww::ptx {
namespace {

constexpr size_t kMaxInlining = 64;  // a .loc that names itself must not loop

// The call site in ", function_name label, inlined_at 2 64 9", or false.
bool inlined_at(const std::string& rest, Loc& site) {
    const size_t at = rest.rfind("inlined_at");
    return at != std::string::npos && std::sscanf(rest.c_str() + at, "inlined_at %d %d %d",
                                                  &site.file, &site.line, &site.col) == 3;
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

// Which instructions may run right before each one. Branches through a table are not followed.
class Flow {
  public:
    explicit Flow(const Function& function) : function_(function) {
        std::map<std::string_view, uint32_t> labels;  // the instruction behind each
        std::vector<std::string_view> open;
        for (const Statement& statement : function.body) {
            if (statement.kind == Statement::Kind::label)
                open.push_back(function.labels[statement.index].name);
            if (statement.kind != Statement::Kind::instruction) continue;
            for (const std::string_view name : open) labels.emplace(name, statement.index);
            open.clear();
        }
        before_.resize(function.instructions.size());
        for (uint32_t i = 0; i < before_.size(); ++i) {
            const Instruction& each = function.instructions[i];
            const auto target = branch_target(each);
            if (const auto found = labels.find(target); found != labels.end())
                before_[found->second].push_back(i);
            const bool always_leaves = !target.empty() && each.guard.empty();
            if (!always_leaves && i + 1 < before_.size()) before_[i + 1].push_back(i);
        }
    }

    // Those that may have set the register when instruction start runs.
    void find_definitions(uint32_t start, const std::string& name,
                          std::set<uint32_t>& found) const {
        std::vector<bool> seen(before_.size());
        std::vector<uint32_t> work = before_[start];
        while (!work.empty()) {
            const uint32_t i = work.back();
            work.pop_back();
            if (seen[i]) continue;
            seen[i] = true;
            const Instruction& each = function_.instructions[i];
            const std::vector<std::string> defined = defined_registers(each);
            const bool defines = std::find(defined.begin(), defined.end(), name) != defined.end();
            if (defines) found.insert(i);
            // A guarded definition may have left the register as it was.
            if (defines && each.guard.empty()) continue;
            work.insert(work.end(), before_[i].begin(), before_[i].end());
        }
    }

  private:
    // By the notation of the rows: the operand called label.
    static std::string_view branch_target(const Instruction& instruction) {
        if (!instruction.row || instruction.operands.size() != 1) return {};
        const std::vector<std::string> names = isa::operand_names(*instruction.row);
        return names.size() == 1 && names.front() == "label"
                   ? std::string_view(instruction.operands.front().text)
                   : std::string_view();
    }

    const Function& function_;
    std::vector<std::vector<uint32_t>> before_;
};

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
    const auto& all = function.instructions;
    WW_CHECK(!all.empty() && &instruction >= all.data() && &instruction < all.data() + all.size(),
             "an instruction of another function");
    std::set<std::string> read;
    const bool skips_first = writes_first_operand(instruction);
    for (size_t i = skips_first ? 1 : 0; i < instruction.operands.size(); ++i)
        collect_names(instruction.operands[i], read);
    if (!instruction.guard.empty()) read.insert(instruction.guard);
    const Flow flow(function);
    const auto start = static_cast<uint32_t>(&instruction - all.data());
    std::set<uint32_t> found;
    for (const std::string& name : read) flow.find_definitions(start, name, found);
    std::vector<const Instruction*> out;
    for (const uint32_t i : found) out.push_back(&all[i]);
    return out;
}

}  // namespace ww::ptx

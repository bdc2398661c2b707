// SPDX-License-Identifier: Apache-2.0
#include "ladder/kernel_text.hpp"

#include <algorithm>

#include "ptx/definitions.hpp"

namespace ww::ladder {
namespace {

using Definition = device::WriteRecord::Definition;
using ptx::Instruction;
using ptx::Operand;

void collect(const Operand& operand, std::set<std::string>& names) {
    if (operand.kind == Operand::Kind::name) names.insert(operand.text);
    for (const Operand& item : operand.items) collect(item, names);
}

bool is_address(const Operand& operand) { return operand.kind == Operand::Kind::address; }

bool has_address(const Instruction& instruction) {
    return std::any_of(instruction.operands.begin(), instruction.operands.end(), is_address);
}

// By the notation: memory that is written comes first or right behind the result, and what is
// written comes behind it.
const Operand* written_address(const Instruction& instruction) {
    const size_t at = ptx::defined_registers(instruction).empty() ? 0 : 1;
    const auto& operands = instruction.operands;
    return at + 1 < operands.size() && is_address(operands[at]) ? &operands[at] : nullptr;
}

std::set<std::string> read_registers(const Instruction& instruction, bool addresses) {
    std::set<std::string> out;
    const size_t first = ptx::defined_registers(instruction).empty() ? 0 : 1;
    for (size_t i = first; i < instruction.operands.size(); ++i)
        if (addresses || !is_address(instruction.operands[i])) collect(instruction.operands[i], out);
    return out;
}

SourceLines lines_of(const ptx::Module& module, int loc) {
    SourceLines out;
    for (const ptx::SourceLine& each : ptx::source_lines(module, loc))
        out.push_back({each.file, each.line});
    return out;
}

}  // namespace

Result<KernelText> KernelText::read(std::string_view ptx, const std::string& entry) {
    KernelText out;
    WW_TRY(module, ptx::parse(ptx, entry));
    out.module_ = std::move(module);
    const ptx::Function* found = out.module_.function(entry);
    if (!found || !found->has_body) return fail("no kernel " + entry);
    out.function_ = static_cast<size_t>(found - out.module_.functions.data());
    std::set<int> locs;
    for (const Instruction& each : found->instructions) locs.insert(each.loc);
    for (const int loc : locs)
        for (const device::SourceLine& each : lines_of(out.module_, loc))
            out.code_.emplace(each.file, each.line);
    return out;
}

bool KernelText::has_code(const device::SourceLine& line) const {
    return code_.count({line.file, line.line}) > 0;
}

const Instruction* KernelText::at(int ptx_line) const {
    for (const Instruction& each : function().instructions)
        if (each.place.line == ptx_line) return &each;
    return nullptr;
}

Definition KernelText::place_of(const Instruction& instruction) const {
    Definition out{.instruction = ptx::print(instruction), .ptx_line = instruction.place.line,
                   .source = lines_of(module_, instruction.loc)};
    std::replace(out.instruction.begin(), out.instruction.end(), '\t', ' ');
    return out;
}

std::map<std::string, uint64_t> KernelText::pointers() const {
    std::map<std::string, uint64_t> out;
    std::map<std::string, uint64_t> parameters;
    for (size_t i = 0; i < function().params.size() && i < 64; ++i)
        parameters[function().params[i].name] = uint64_t{1} << i;
    const auto step = [&](const Instruction& instruction) {
        uint64_t from = 0;
        for (const std::string& name : read_registers(instruction, true)) {
            if (const auto found = parameters.find(name); found != parameters.end())
                from |= found->second;
            // What is loaded from a tensor is no pointer into it.
            else if (const auto known = out.find(name); known != out.end() && !has_address(instruction))
                from |= known->second;
        }
        bool grew = false;
        for (const std::string& name : ptx::defined_registers(instruction)) {
            uint64_t& bits = out[name];
            grew |= (bits | from) != bits;
            bits |= from;
        }
        return grew;
    };
    for (bool grew = true; grew;) {
        grew = false;
        for (const Instruction& each : function().instructions) grew |= step(each);
    }
    return out;
}

std::vector<Definition> KernelText::stores_to(size_t parameter) const {
    std::vector<Definition> out;
    if (parameter >= 64) return out;
    const std::map<std::string, uint64_t> from = pointers();
    std::set<std::vector<std::pair<std::string, int>>> seen;
    for (const Instruction& each : function().instructions) {
        const Operand* address = written_address(each);
        std::set<std::string> names;
        if (address) collect(*address, names);
        const bool into = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
            const auto found = from.find(name);
            return found != from.end() && (found->second >> parameter & 1);
        });
        if (!into) continue;
        Definition place = place_of(each);
        std::vector<std::pair<std::string, int>> key;
        for (const device::SourceLine& line : place.source) key.emplace_back(line.file, line.line);
        if (key.empty()) key.emplace_back("", place.ptx_line);
        if (seen.insert(std::move(key)).second) out.push_back(std::move(place));
    }
    return out;
}

std::vector<SourceLines> KernelText::value_definitions(int ptx_line) const {
    std::vector<SourceLines> out;
    const Instruction* store = at(ptx_line);
    if (!store) return out;
    const std::set<std::string> values = read_registers(*store, false);
    for (const Instruction* each : ptx::operand_definitions(function(), *store)) {
        const std::vector<std::string> defined = ptx::defined_registers(*each);
        const bool is_value = std::any_of(defined.begin(), defined.end(), [&](const std::string& name) {
            return values.count(name) > 0;
        });
        if (is_value) out.push_back(lines_of(module_, each->loc));
    }
    return out;
}

bool KernelText::is_declared(const std::string& name) const {
    for (const ptx::Variable& each : function().variables) {
        if (each.space != ptx::StateSpace::reg || !name.starts_with(each.name)) continue;
        const std::string_view rest = std::string_view(name).substr(each.name.size());
        const bool number = !rest.empty() && rest.find_first_not_of("0123456789") == rest.npos;
        if (each.range > 0 ? number : rest.empty()) return true;
    }
    return false;
}

std::vector<std::string> KernelText::unset_registers(int ptx_line) const {
    std::vector<std::string> out;
    const Instruction* reader = at(ptx_line);
    if (!reader) return out;
    std::set<std::string> set;
    for (const Instruction* each : ptx::operand_definitions(function(), *reader))
        for (const std::string& name : ptx::defined_registers(*each)) set.insert(name);
    for (const std::string& name : read_registers(*reader, true))
        if (is_declared(name) && set.count(name) == 0) out.push_back(name);
    return out;
}

std::vector<Definition> KernelText::unused_results(size_t limit) const {
    std::set<std::string> read;
    for (const Instruction& each : function().instructions) {
        read.merge(read_registers(each, true));
        if (!each.guard.empty()) read.insert(each.guard);
    }
    std::vector<Definition> out;
    for (const Instruction& each : function().instructions) {
        const std::vector<std::string> defined = ptx::defined_registers(each);
        const bool used = std::any_of(defined.begin(), defined.end(), [&](const std::string& name) {
            return read.count(name) > 0;
        });
        if (defined.empty() || used || has_address(each) || out.size() == limit) continue;
        out.push_back(place_of(each));
    }
    return out;
}

}  // namespace ww::ladder

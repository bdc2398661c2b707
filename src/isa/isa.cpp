// SPDX-License-Identifier: Apache-2.0
// The list of chapters, and matching text to rows.
#include "isa/isa.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "isa/pattern.hpp"
#include "isa/row.hpp"

namespace ww::isa {
namespace {

struct Table {
    std::vector<Row> rows;
    std::vector<Pattern> patterns;
    std::map<std::string_view, std::vector<const Pattern*>> by_mnemonic;

    Table() {
        for (const Chapter& chapter : chapters())
            for (Row row : chapter.rows) {
                row.chapter = chapter.name;
                rows.push_back(row);
            }
        patterns.reserve(rows.size());
        for (const Row& row : rows) {
            patterns.push_back(compile_pattern(row));
            by_mnemonic[patterns.back().mnemonic].push_back(&patterns.back());
        }
    }
};

const Table& table() {
    static const Table kTable;
    return kTable;
}

const Pattern& pattern_of(const Row& row) { return table().patterns[static_cast<size_t>(&row - table().rows.data())]; }

// Why no row fits: the first modifier that no row of the mnemonic knows, or the operands.
std::string reason(const std::vector<const Pattern*>& candidates, const std::vector<std::string_view>& parts,
                   bool modifiers_fit) {
    if (modifiers_fit) {
        std::string forms;
        for (const Pattern* pattern : candidates) forms += "\n    " + std::string(pattern->row->syntax);
        return "operands do not fit; the forms are:" + forms;
    }
    for (std::string_view part : parts) {
        bool known = false;
        for (const Pattern* pattern : candidates)
            for (const ModifierPattern& modifier : pattern->modifiers)
                for (std::string_view alternative : modifier.alternatives)
                    known |= alternative == part || alternative.find(part) != std::string_view::npos;
        if (!known) return "no form of '" + std::string(candidates[0]->mnemonic) + "' has the modifier '" + std::string(part) + "'";
    }
    return "no form of '" + std::string(candidates[0]->mnemonic) + "' has this combination of modifiers";
}

}  // namespace

std::span<const Row> rows() { return table().rows; }

std::string_view Row::mnemonic() const {
    return syntax.substr(0, std::min(syntax.find_first_of(".{ "), syntax.size()));
}

std::vector<const Operand*> flat(const Instruction& instruction) {
    std::vector<const Operand*> operands;
    for (const Operand& operand : instruction.operands) {
        if (operand.kind == Operand::Kind::pair)
            for (const Operand& item : operand.items) operands.push_back(&item);
        else
            operands.push_back(&operand);
    }
    return operands;
}

std::vector<std::string> operand_names(const Row& row) {
    std::vector<std::string> names;
    for (const OperandPattern& operand : pattern_of(row).operands) names.emplace_back(operand.name);
    return names;
}

bool wants_predicate(const Row& row, size_t position) {
    return pattern_of(row).operands[position].kind == OperandInfo::Kind::predicate;
}

void match(Instruction& instruction) {
    const std::string_view opcode = instruction.opcode;
    const std::string_view mnemonic = opcode.substr(0, std::min(opcode.find('.'), opcode.size()));
    const auto found = table().by_mnemonic.find(mnemonic);
    instruction.row = nullptr;
    if (found == table().by_mnemonic.end()) {
        std::vector<std::string> names;
        for (const auto& entry : table().by_mnemonic) names.emplace_back(entry.first);
        const std::string near = nearest(mnemonic, names);
        instruction.why = "unknown instruction '" + std::string(mnemonic) + "'" +
                          (near.empty() ? "" : "; did you mean '" + near + "'?");
        return;
    }
    const std::vector<std::string_view> parts = modifier_parts(opcode);
    bool modifiers_fit = false;
    for (const bool any_order : {false, true})
        for (const Pattern* pattern : found->second) {
            if (!match_modifiers(*pattern, parts, any_order, instruction.choices)) continue;
            modifiers_fit = true;
            if (!match_operands(*pattern, instruction, instruction.positions)) continue;
            instruction.row = pattern->row;
            instruction.why.clear();
            return;
        }
    instruction.choices.clear();
    instruction.positions.clear();
    instruction.why = reason(found->second, parts, modifiers_fit);
}

std::string_view Match::get(std::string_view set) const {
    for (const Choice& choice : choices)
        if (choice.first == set || (choice.first.size() == set.size() + 1 && choice.first.ends_with(set)))
            return choice.second;
    return {};
}

machine::Ordering ordering_of(const Match& match, machine::Ordering unsaid) {
    using machine::Scope;
    using machine::Semantics;
    machine::Ordering out = unsaid;
    constexpr std::pair<std::string_view, Semantics> kSemantics[] = {
        {".weak", Semantics::weak},       {".relaxed", Semantics::relaxed}, {".acquire", Semantics::acquire},
        {".release", Semantics::release}, {".acq_rel", Semantics::acq_rel}, {".sc", Semantics::acq_rel}};
    constexpr std::pair<std::string_view, Scope> kScopes[] = {
        {".cta", Scope::cta}, {".cluster", Scope::cluster}, {".gpu", Scope::gpu}, {".gl", Scope::gpu}, {".sys", Scope::sys}};
    for (const auto& [set, text] : match.choices) {
        for (const auto& [name, semantics] : kSemantics)
            if (text == name) out.semantics = semantics;
        for (const auto& [name, scope] : kScopes)
            if (text == name) out.scope = scope;
        if (text == ".volatile" || text == ".mmio") out = {Semantics::relaxed, Scope::sys};
    }
    return out;
}

machine::Space Match::space(std::string_view modifier) {
    using machine::Space;
    if (modifier.starts_with(".global")) return Space::global;
    if (modifier.starts_with(".shared")) return Space::shared;
    if (modifier.starts_with(".local")) return Space::local;
    if (modifier.starts_with(".const")) return Space::constant;
    if (modifier.starts_with(".param")) return Space::param;
    return Space::generic;
}

}  // namespace ww::isa

// SPDX-License-Identifier: Apache-2.0
#include "isa/pattern.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/text.hpp"

namespace ww::isa {
namespace {

std::vector<std::string_view> set_alternatives(const Row& row, std::string_view name) {
    for (std::string_view definition : split(row.sets, ';')) {
        const size_t equals = definition.find('=');
        if (equals == std::string_view::npos) continue;
        if (trim(definition.substr(0, equals)) == name) return split_words(definition.substr(equals + 1));
    }
    return {};
}

// ".name" up to the next '.', '{' or '}'; "::" belongs to the name.
std::string_view modifier_at(std::string_view text) {
    size_t end = 1;
    while (end < text.size() && text[end] != '.' && text[end] != '{' && text[end] != '}') ++end;
    return text.substr(0, end);
}

void compile_modifiers(const Row& row, std::string_view text, Pattern& pattern) {
    int depth = 0;
    while (!text.empty()) {
        if (text[0] == '{' || text[0] == '}') {
            depth += text[0] == '{' ? 1 : -1;
            WW_CHECK(depth >= 0 && depth <= 1, "unbalanced braces: " + std::string(row.syntax));
            text.remove_prefix(1);
            continue;
        }
        WW_CHECK(text[0] == '.', "modifier without a dot: " + std::string(row.syntax));
        const std::string_view name = modifier_at(text);
        ModifierPattern modifier{.name = name, .alternatives = set_alternatives(row, name), .optional = depth > 0};
        if (modifier.alternatives.empty()) modifier.alternatives.push_back(name);
        pattern.modifiers.push_back(std::move(modifier));
        text.remove_prefix(name.size());
    }
    WW_CHECK(depth == 0, "unbalanced braces: " + std::string(row.syntax));
}

OperandInfo::Kind kind_of_name(std::string_view name) {
    if (name == "label" || name == "table") return OperandInfo::Kind::label;
    if (name == "fn") return OperandInfo::Kind::function;
    const bool short_predicate = (name[0] == 'p' || name[0] == 'q') && (name.size() == 1 || isdigit(name[1]));
    return short_predicate ? OperandInfo::Kind::predicate : OperandInfo::Kind::value;
}

void compile_operands(const Row& row, std::string_view text, Pattern& pattern) {
    int depth = 0;
    bool after_pipe = false;
    while (!(text = trim(text)).empty()) {
        const char c = text[0];
        if (c == ',' || c == ';') {
            text.remove_prefix(1);
            continue;
        }
        OperandPattern operand{.optional = depth > 0, .second_of_pair = after_pipe};
        if (text.starts_with("{!}")) {
            operand.kind = OperandInfo::Kind::predicate;
            text.remove_prefix(3);
        } else if (c == '{' || c == '}') {
            depth += c == '{' ? 1 : -1;
            text.remove_prefix(1);
            continue;
        }
        if (text[0] == '|') {
            after_pipe = true;
            text.remove_prefix(1);
            continue;
        }
        after_pipe = false;
        if (text[0] == '[' || text[0] == '(') {
            const size_t close = text.find(text[0] == '[' ? ']' : ')');
            WW_CHECK(close != std::string_view::npos, "unclosed bracket: " + std::string(row.syntax));
            operand.name = text.substr(1, close - 1);
            operand.kind = text[0] == '[' ? OperandInfo::Kind::address : OperandInfo::Kind::group;
            operand.coordinates = operand.name.find(',') != std::string_view::npos;
            text.remove_prefix(close + 1);
        } else {
            size_t end = 0;
            while (end < text.size() && (isalnum(text[end]) || text[end] == '_' || text[end] == '-')) ++end;
            WW_CHECK(end > 0, "cannot read the operands of: " + std::string(row.syntax));
            operand.name = text.substr(0, end);
            if (operand.kind == OperandInfo::Kind::value) operand.kind = kind_of_name(operand.name);
            text.remove_prefix(end);
        }
        pattern.operands.push_back(operand);
    }
    WW_CHECK(depth == 0, "unbalanced braces: " + std::string(row.syntax));
}

// Does an alternative, possibly of several parts, start at parts[at]? Returns the parts it takes.
size_t alternative_length(std::string_view alternative, const std::vector<std::string_view>& parts, size_t at) {
    size_t used = 0;
    while (!alternative.empty()) {
        if (at + used >= parts.size() || !alternative.starts_with(parts[at + used])) return 0;
        const std::string_view part = parts[at + used];
        if (alternative.size() > part.size() && alternative[part.size()] != '.') return 0;
        alternative.remove_prefix(part.size());
        ++used;
    }
    return used;
}

struct ModifierMatcher {
    const Pattern& pattern;
    const std::vector<std::string_view>& parts;
    std::vector<Choice>& choices;
    std::vector<bool> used;

    bool ordered(size_t element, size_t at) {
        if (element == pattern.modifiers.size()) return at == parts.size();
        const ModifierPattern& modifier = pattern.modifiers[element];
        for (std::string_view alternative : modifier.alternatives) {
            const size_t length = alternative_length(alternative, parts, at);
            if (length == 0) continue;
            choices.emplace_back(modifier.name, alternative);
            if (ordered(element + 1, at + length)) return true;
            choices.pop_back();
        }
        return modifier.optional && ordered(element + 1, at);
    }

    bool unordered(size_t at) {
        if (at == parts.size()) {
            for (size_t i = 0; i < used.size(); ++i)
                if (!used[i] && !pattern.modifiers[i].optional) return false;
            return true;
        }
        for (size_t i = 0; i < pattern.modifiers.size(); ++i) {
            if (used[i]) continue;
            for (std::string_view alternative : pattern.modifiers[i].alternatives) {
                const size_t length = alternative_length(alternative, parts, at);
                if (length == 0) continue;
                used[i] = true;
                choices.emplace_back(pattern.modifiers[i].name, alternative);
                if (unordered(at + length)) return true;
                choices.pop_back();
                used[i] = false;
            }
        }
        return false;
    }
};

bool fits(const OperandPattern& pattern, const Operand& operand) {
    using Kind = Operand::Kind;
    switch (pattern.kind) {
        case OperandInfo::Kind::address:
            return operand.kind == Kind::address && (operand.items.size() > 1) == pattern.coordinates;
        case OperandInfo::Kind::group: return operand.kind == Kind::group;
        case OperandInfo::Kind::label:
        case OperandInfo::Kind::function: return operand.kind == Kind::name;
        case OperandInfo::Kind::predicate:
            return operand.kind == Kind::name || operand.kind == Kind::sink || operand.kind == Kind::integer;
        default:
            return operand.kind == Kind::name || operand.kind == Kind::integer || operand.kind == Kind::real ||
                   operand.kind == Kind::vector || operand.kind == Kind::sink;
    }
}

bool match_from(const Pattern& pattern, const std::vector<const Operand*>& given,
                const std::vector<bool>& given_second, size_t position, size_t at, std::vector<int>& positions) {
    if (position == pattern.operands.size()) return at == given.size();
    const OperandPattern& expected = pattern.operands[position];
    if (at < given.size() && given_second[at] == expected.second_of_pair && fits(expected, *given[at])) {
        positions.push_back(static_cast<int>(at));
        if (match_from(pattern, given, given_second, position + 1, at + 1, positions)) return true;
        positions.pop_back();
    }
    if (!expected.optional) return false;
    positions.push_back(-1);
    if (match_from(pattern, given, given_second, position + 1, at, positions)) return true;
    positions.pop_back();
    return false;
}

}  // namespace

Pattern compile_pattern(const Row& row) {
    Pattern pattern{.row = &row};
    const size_t space = std::min(row.syntax.find(' '), row.syntax.size());
    std::string_view opcode = row.syntax.substr(0, space);
    const size_t dot = std::min(opcode.find_first_of(".{"), opcode.size());
    pattern.mnemonic = opcode.substr(0, dot);
    compile_modifiers(row, opcode.substr(dot), pattern);
    compile_operands(row, row.syntax.substr(space), pattern);
    return pattern;
}

std::vector<std::string_view> modifier_parts(std::string_view opcode) {
    std::vector<std::string_view> parts;
    size_t at = opcode.find('.');
    while (at != std::string_view::npos) {
        const size_t next = opcode.find('.', at + 1);
        parts.push_back(opcode.substr(at, next == std::string_view::npos ? next : next - at));
        at = next;
    }
    return parts;
}

bool match_modifiers(const Pattern& pattern, const std::vector<std::string_view>& parts, bool any_order,
                     std::vector<Choice>& choices) {
    choices.clear();
    ModifierMatcher matcher{pattern, parts, choices, std::vector<bool>(pattern.modifiers.size())};
    return any_order ? matcher.unordered(0) : matcher.ordered(0, 0);
}

bool match_operands(const Pattern& pattern, const Instruction& instruction, std::vector<int>& positions) {
    std::vector<bool> second;
    for (const Operand& operand : instruction.operands) {
        const size_t count = operand.kind == Operand::Kind::pair ? operand.items.size() : 1;
        for (size_t i = 0; i < count; ++i) second.push_back(i > 0);
    }
    positions.clear();
    return match_from(pattern, flat(instruction), second, 0, 0, positions);
}

}  // namespace ww::isa

// SPDX-License-Identifier: Apache-2.0
// A row's syntax line, taken apart once: the modifiers in order and the operand positions.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "isa/row.hpp"

namespace ww::isa {

struct ModifierPattern {
    std::string_view name;                       // ".sat", or the set's name ".type"
    std::vector<std::string_view> alternatives;  // each ".u32", or several parts ".approx.ftz"
    bool optional = false;
};

struct OperandPattern {
    std::string_view name;
    OperandInfo::Kind kind = OperandInfo::Kind::value;
    bool optional = false;
    bool second_of_pair = false;  // the p of d|p
    bool coordinates = false;     // [a, coords]
};

struct Pattern {
    const Row* row = nullptr;
    std::string_view mnemonic;
    std::vector<ModifierPattern> modifiers;
    std::vector<OperandPattern> operands;
};

// Throws InternalError for a row that is not well-formed: a bug of ours, found by the unit tests.
Pattern compile_pattern(const Row& row);

// ".u32", ".shared::cta": the parts of an opcode after the mnemonic.
std::vector<std::string_view> modifier_parts(std::string_view opcode);

// True when the parts fit, in the manual's order or, where the compilers write another one
// (ldmatrix .x4.m8n8), in any order. Fills choices.
bool match_modifiers(const Pattern& pattern, const std::vector<std::string_view>& parts,
                     bool any_order, std::vector<Choice>& choices);
// True when the operands fit; fills positions (index into flat(), -1: left out).
bool match_operands(const Pattern& pattern, const Instruction& instruction, std::vector<int>& positions);

}  // namespace ww::isa

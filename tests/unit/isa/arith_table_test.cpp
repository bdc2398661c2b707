// SPDX-License-Identifier: Apache-2.0
// The table of rows is well-formed: every pattern compiles, every row has an anchor, and no text
// fits two rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "isa/isa.hpp"
#include "isa/pattern.hpp"

namespace ww::isa {
namespace {

Operand operand_for(const OperandPattern& pattern) {
    Operand operand{.kind = Operand::Kind::name, .text = "x"};
    if (pattern.kind == OperandInfo::Kind::address) {
        operand.kind = Operand::Kind::address;
        operand.items.resize(pattern.coordinates ? 2 : 1);
    }
    if (pattern.kind == OperandInfo::Kind::group) operand.kind = Operand::Kind::group;
    return operand;
}

// A text of the row: alternatives and optional parts as the random numbers say.
struct Instance {
    std::vector<std::string_view> parts;
    Instruction instruction;
};
Instance make_instance(const Pattern& pattern, std::mt19937& random) {
    Instance instance;
    instance.instruction.opcode = pattern.mnemonic;
    for (const ModifierPattern& modifier : pattern.modifiers) {
        if (modifier.optional && random() % 2) continue;
        instance.instruction.opcode +=
            modifier.alternatives[random() % modifier.alternatives.size()];
    }
    for (const OperandPattern& operand : pattern.operands) {
        if (operand.optional && random() % 2) continue;
        if (!operand.second_of_pair) {
            instance.instruction.operands.push_back(operand_for(operand));
            continue;
        }
        Operand pair{.kind = Operand::Kind::pair,
                     .items = {instance.instruction.operands.back(), operand_for(operand)}};
        instance.instruction.operands.back() = pair;
    }
    instance.parts = modifier_parts(instance.instruction.opcode);
    return instance;
}

TEST(ArithTable, RowsAreWellFormed) {
    for (const Row& row : rows()) {
        EXPECT_NO_THROW(compile_pattern(row)) << row.syntax;
        EXPECT_FALSE(row.anchor.empty()) << row.syntax;
        EXPECT_GE(row.since.ptx, 10) << row.syntax;
    }
}

// The chapters of this file's owner: arithmetic, comparison, logic, conversion.
bool is_arithmetic(std::string_view chapter) {
    constexpr std::string_view kChapters[] = {
        "integer_arith", "integer_bits",   "extended_precision",
        "logic_shift",   "compare_select", "float_arith",
        "float_special", "half_arith",     "mixed_precision",
        "half_compare",  "convert",        "convert_packed",
        "convert_pack",  "video"};
    return std::find(std::begin(kChapters), std::end(kChapters), chapter) != std::end(kChapters);
}

TEST(ArithTable, NoTextFitsTwoRows) {
    std::vector<Pattern> patterns;
    for (const Row& row : rows()) patterns.push_back(compile_pattern(row));
    std::mt19937 random(7);
    for (const Pattern& pattern : patterns) {
        if (!is_arithmetic(pattern.row->chapter)) continue;
        for (int i = 0; i < 60; ++i) {
            const Instance instance = make_instance(pattern, random);
            std::vector<Choice> choices;
            std::vector<int> positions;
            std::string fitting;
            int count = 0;
            for (const Pattern& other : patterns) {
                if (other.mnemonic != pattern.mnemonic ||
                    !match_modifiers(other, instance.parts, false, choices) ||
                    !match_operands(other, instance.instruction, positions))
                    continue;
                ++count;
                fitting +=
                    "\n  " + std::string(other.row->syntax) + "   " + std::string(other.row->sets);
            }
            ASSERT_EQ(count, 1) << instance.instruction.opcode << " fits" << fitting;
        }
    }
}

TEST(ArithTable, UnsupportedRowsSayWhichOnesTheyAre) {
    Instruction instruction{.opcode = "rsqrt.approx.f64"};
    instruction.operands.resize(2, Operand{.kind = Operand::Kind::name, .text = "x"});
    match(instruction);
    ASSERT_NE(instruction.row, nullptr) << instruction.why;
    EXPECT_EQ(instruction.row->bind, nullptr);
}

}  // namespace
}  // namespace ww::isa

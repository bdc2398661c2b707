// SPDX-License-Identifier: Apache-2.0
#include "ptx/match_cache.hpp"

namespace ww::ptx {
namespace {

// All that isa::match() may look at: the kinds, nested, without names and values.
void add_shape(const isa::Operand& operand, std::string& key) {
    key += static_cast<char>('a' + static_cast<int>(operand.kind));
    if (operand.negated) key += '!';
    if (operand.items.empty()) return;
    key += '(';
    for (const isa::Operand& item : operand.items) add_shape(item, key);
    key += ')';
}

}  // namespace

void MatchCache::match(isa::Instruction& instruction) {
    key_.assign(instruction.opcode);
    key_ += ' ';
    for (const isa::Operand& operand : instruction.operands) add_shape(operand, key_);
    auto found = known_.find(key_);
    if (found == known_.end()) {
        isa::match(instruction);
        found = known_
                    .emplace(key_, Matched{instruction.row, instruction.choices,
                                           instruction.positions, instruction.why})
                    .first;
        return;
    }
    const Matched& matched = found->second;
    instruction.row = matched.row;
    instruction.choices = matched.choices;
    instruction.positions = matched.positions;
    instruction.why = matched.why;
}

}  // namespace ww::ptx

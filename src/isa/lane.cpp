// SPDX-License-Identifier: Apache-2.0
#include "isa/lane.hpp"

#include <fmt/format.h>

#include "isa/row.hpp"

namespace ww::isa {

bool check_value(const Match& match, int position, int bytes, Binding& binding) {
    const OperandInfo& operand = match.operands[static_cast<size_t>(position)];
    using Kind = OperandInfo::Kind;
    if (operand.kind == Kind::sink) return true;
    if (operand.kind != Kind::value || operand.count != 1) {
        binding.error = fmt::format("operand {} must be a register or an immediate", position + 1);
        return false;
    }
    if (!operand.immediate && operand.width < bytes) {
        binding.error = fmt::format("operand {} is a {}-bit register; the instruction needs {} bits", position + 1,
                                    8 * operand.width, 8 * bytes);
        return false;
    }
    return true;
}

bool check_predicate(const Match& match, int position, Binding& binding) {
    const OperandInfo::Kind kind = match.operands[static_cast<size_t>(position)].kind;
    if (kind == OperandInfo::Kind::predicate || kind == OperandInfo::Kind::sink || kind == OperandInfo::Kind::absent) return true;
    binding.error = fmt::format("operand {} must be a predicate", position + 1);
    return false;
}

bool check_vector(const Match& match, int position, int count, int bytes, Binding& binding) {
    const OperandInfo& operand = match.operands[static_cast<size_t>(position)];
    if (operand.kind == OperandInfo::Kind::sink) return true;
    if (operand.kind != OperandInfo::Kind::value || operand.count != count) {
        binding.error = fmt::format("operand {} must have {} element{}, has {}", position + 1, count,
                                    count == 1 ? "" : "s", operand.count);
        return false;
    }
    if (!operand.immediate && operand.width < bytes) {
        binding.error = fmt::format("operand {} has {}-bit elements; the instruction needs {} bits", position + 1,
                                    8 * operand.width, 8 * bytes);
        return false;
    }
    return true;
}

}  // namespace ww::isa

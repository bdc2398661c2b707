// SPDX-License-Identifier: Apache-2.0
#include "ptx/coverage.hpp"

#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "isa/row.hpp"

namespace ww::ptx {

Coverage coverage(const Module& module) {
    Coverage result;
    std::unordered_set<std::string_view> opcodes;
    std::unordered_map<std::string_view, size_t> known;  // opcode -> index in unsupported
    for (const Function& function : module.functions)
        for (const Instruction& instruction : function.instructions) {
            ++result.instructions;
            opcodes.insert(instruction.opcode);
            if (instruction.row && instruction.row->bind) continue;
            const std::string why = instruction.row ? "'" + std::string(instruction.row->syntax) +
                                                          "' has no semantics here"
                                                    : instruction.why;
            const auto [entry, added] =
                known.emplace(instruction.opcode, result.unsupported.size());
            if (added)
                result.unsupported.push_back({instruction.opcode, instruction.place.line, 0, why});
            ++result.unsupported[entry->second].count;
        }
    result.distinct = opcodes.size();
    return result;
}

}  // namespace ww::ptx

// SPDX-License-Identifier: Apache-2.0
// Parts of print() that the parser uses too, to keep what it read in canonical form.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ptx/module.hpp"

namespace ww::ptx {

// ".param .align 8 .b8 x[16] = {...}": without the final ';'.
void print_variable(const Variable& variable, std::string& out);
void print_operand(const Operand& operand, std::string& out);
// ".callprototype (.param .b32 _) _ (.param .b64 _);"
std::string prototype_text(const Label& label,
                           const std::vector<std::pair<std::string, std::string>>& directives);

}  // namespace ww::ptx

// SPDX-License-Identifier: Apache-2.0
// All single faults that the text of a CUDA C++ file offers, in a fixed order.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "mutant.hpp"

namespace ww::mutation {

// Replace source[begin, end). The number of lines stays the same.
struct Edit {
    Kind kind = Kind::constant;
    size_t begin = 0, end = 0;
    std::string replacement;
    int line = 0;
    bool in_condition = false;  // within the parentheses of a for or an if
};

std::vector<Edit> source_edits(std::string_view source);
std::string applied(std::string_view source, const Edit& edit);

}  // namespace ww::mutation

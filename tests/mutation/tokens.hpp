// SPDX-License-Identifier: Apache-2.0
// CUDA C++ text as tokens with their places: enough for planting faults, no parser.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ww::mutation {

struct Token {
    enum class Kind { name, number, text, sign };
    Kind kind = Kind::sign;
    std::string_view text;  // of the source that was given, which must live on
    size_t begin = 0, end = 0;
    int line = 1;
    bool spaced = false;  // white space on both sides: how a binary operator is written here
};

// Comments and preprocessor lines are left out.
std::vector<Token> tokens_of(std::string_view source);
// The line that holds position at, without its newline.
std::string_view line_at(std::string_view source, size_t at);
// Device functions of source, [begin, end), whose names occur in none of texts and nowhere else in it.
std::vector<std::pair<size_t, size_t>> unused_functions(std::string_view source,
                                                        const std::vector<std::string_view>& texts);

}  // namespace ww::mutation

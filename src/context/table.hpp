// SPDX-License-Identifier: Apache-2.0
// The table of INDEX.md as text, both ways: "| directory | purpose | ...", a line a directory.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "context/index.hpp"

namespace ww::context {

// A guess stands behind this sign; without it a purpose is a person's.
constexpr std::string_view kGuess = "~";

std::string index_table(const std::vector<DirectoryLine>& lines);
std::string size_text(uint64_t bytes);  // "412 KiB"

// A cell of a Markdown table: one line, bars escaped.
std::string cell(std::string_view text);
// The cells of a table's line; nothing where it is no such line.
std::vector<std::string> cells_of(std::string_view line);

}  // namespace ww::context

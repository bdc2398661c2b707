// SPDX-License-Identifier: Apache-2.0
// The chapters of the instruction table. A new chapter is one file, one line here and one in
// chapters.cpp.
#pragma once
#include <span>
#include <string_view>

#include "isa/row.hpp"

namespace ww::isa {

struct Chapter {
    std::string_view name;
    std::span<const Row> rows;
};

std::span<const Chapter> chapters();

// One function a chapter, each in src/isa/<name>.cpp.
std::span<const Row> integer_arith_rows();
std::span<const Row> data_movement_rows();

}  // namespace ww::isa

// SPDX-License-Identifier: Apache-2.0
// The operands of a test, made from its name alone: the same bytes on every machine.
#pragma once
#include <cstddef>
#include <vector>

#include "exectest/expand.hpp"

namespace ww::exectest {

struct Operands {
    std::vector<std::byte> in, scratch;  // the first content of the two buffers
};

// round: 0 for the test itself; every other one draws other values where the test has random ones.
Operands make_operands(const TestFile& test, const Layout& layout, uint64_t round = 0);

// Registers as 64-bit units: unit 0 holds the low bits; only 128-bit registers have two.
uint64_t read_unit(const std::byte* at, uint32_t bytes);

}  // namespace ww::exectest

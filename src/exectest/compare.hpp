// SPDX-License-Identifier: Apache-2.0
// Outputs of a test against what they must be.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "exectest/operands.hpp"

namespace ww::exectest {

// The outputs that the 'expect' lines of a test give, which has them for every output: without the
// gaps between slots, as they are recorded and compared.
std::vector<std::byte> expected_outputs(const TestFile& test, const Layout& layout);

// How many output values there are, and how many of them are not as they must be.
struct Tally {
    uint64_t values = 0, wrong = 0;
};
Tally tally(const TestFile& test, const Layout& layout, std::span<const std::byte> expected,
            std::span<const std::byte> actual);

// Nothing when they agree; otherwise where they first differ: block, thread, inputs, both values.
std::optional<std::string> find_mismatch(const TestFile& test, const Layout& layout,
                                         const Operands& operands,
                                         std::span<const std::byte> expected,
                                         std::span<const std::byte> actual);

}  // namespace ww::exectest

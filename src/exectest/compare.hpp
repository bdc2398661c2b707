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

// The outputs of a run without the gaps between slots: what is recorded and compared.
std::vector<std::byte> pack_outputs(const Layout& layout, std::span<const std::byte> out,
                                    std::span<const std::byte> scratch);
// The same bytes from the 'expect' lines of a test that has them for every output.
std::vector<std::byte> expected_outputs(const TestFile& test, const Layout& layout);

// Nothing when they agree; otherwise where they first differ: block, thread, inputs, both values.
std::optional<std::string> find_mismatch(const TestFile& test, const Layout& layout,
                                         const Operands& operands,
                                         std::span<const std::byte> expected,
                                         std::span<const std::byte> actual);

}  // namespace ww::exectest

// SPDX-License-Identifier: Apache-2.0
// Which rows of the instruction table the tests' own text executes. The harness around it counts
// for nothing: its loads and stores are judged by no test.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "exectest/test_file.hpp"
#include "isa/untested.hpp"

namespace ww::exectest {

struct RowCoverage {
    const isa::Row* row = nullptr;
    std::vector<std::string> tests;  // names of those that hold the row, in their order
};

// One entry a row of the table, in its order.
Result<std::vector<RowCoverage>> row_coverage(const std::vector<TestFile>& tests);

// One line for each row with semantics but without a test that the list lacks, and for each entry
// of the list that is no such row.
std::vector<std::string> check_untested(const std::vector<RowCoverage>& coverage,
                                        std::span<const isa::UntestedRow> untested);

}  // namespace ww::exectest

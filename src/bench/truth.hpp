// SPDX-License-Identifier: Apache-2.0
// What some rows of an output should be, in double, from the port's inputs; and how far an output is from it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "bench/report.hpp"
#include "ladder/library.hpp"
#include "ladder/runner.hpp"
#include "port/port.hpp"

namespace ww::bench {

// Rows are lines along the last axis. Some of a few of the leading indices (all axes but the last two), of each the first
// row, the last and some that the seed draws: as coordinates of all axes but the last.
std::vector<std::vector<int64_t>> sample_rows(const port::Layout& layout, uint64_t seed);

struct Truth {
    std::string output;
    std::vector<std::vector<int64_t>> rows;
    std::vector<double> values;  // one row after another
};

// Calls port.bench->truth, spread over host threads: inputs and a tensor `rows` (i64) in, the output as f64 [rows, last axis].
Result<Truth> make_truth(const port::Port& port, const port::Scope& scope, const ladder::TensorMap& inputs,
                         const ladder::LibraryTable& libraries, uint64_t seed);

// got: the whole output, in any float type.
Result<Accuracy> accuracy_of(const port::Tensor& got, const Truth& truth);
// Rows of the whole output all of whose bytes are the poison.
int64_t poisoned_rows(const port::Tensor& got, uint8_t poison);

}  // namespace ww::bench

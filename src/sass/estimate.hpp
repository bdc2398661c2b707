// SPDX-License-Identifier: Apache-2.0
// How long a piece of code keeps the units of a multiprocessor busy, from the rates alone: a lower
// bound that knows no latencies, no memory and no bank conflicts.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sass/control.hpp"
#include "sass/listing.hpp"
#include "sass/rates.hpp"

namespace ww::sass {

// Cycles for one warp and one pass over the code, on its own scheduler's share of the
// multiprocessor (a quarter of each unit). What the multiprocessor has once (shared memory, the
// tensor cores of a warpgroup's instruction) counts as if all four schedulers did the same.
struct Estimate {
    double issue = 0;  // one an instruction
    std::array<double, kPipes> pipe{};
    int tensor_unknown = 0;  // tensor instructions without a known rate or shape: not in pipe
    int scheduled = -1;      // the sum of the stall counts; -1: the listing has no encodings

    // "issue" or the pipe's name: what takes longest, and how long.
    std::string bound() const;
    double cycles() const;
};

class Estimator {
  public:
    explicit Estimator(Rates rates) : rates_(rates) {}
    void add(const Instruction& instruction);
    Estimate result() const { return sum_; }

  private:
    double tensor_cycles(const Instruction& instruction);

    Rates rates_;
    Estimate sum_;
};

}  // namespace ww::sass

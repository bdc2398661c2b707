// SPDX-License-Identifier: Apache-2.0
// What a kernel really makes in each case: the bits of its outputs and taps, without any judgement.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ladder/runner.hpp"
#include "mutant.hpp"

namespace ww::mutation {

struct Bits {
    ladder::RunResult plain, again, tapped;  // again: with another poison
    bool stops() const { return plain.failure || again.failure || tapped.failure; }
};

class Bench {
  public:
    static Result<std::unique_ptr<Bench>> open(const std::filesystem::path& port);
    Result<Bits> run(const Candidate& candidate, const port::Case& c);
    const port::Port& port() const { return port_; }
    const port::Stage& stage() const { return port_.stages.front(); }

  private:
    explicit Bench(port::Port port);
    port::Port port_;
    ladder::LibraryTable libraries_;
    ladder::PlanTable plans_;
    std::unique_ptr<device::Device> device_;
    std::optional<ladder::Runner> runner_;
};

// One with few threads and a budget: a mutant that runs away ends in seconds.
std::unique_ptr<device::Device> open_bounded_device();

// Names of the tensors that differ, taps first, in program order. Empty where nothing differs; runs
// that ended in an error count as "stop".
std::vector<std::string> differing(const port::Stage& stage, const Bits& clean, const Bits& mutant);
// Every bit of the element is as the mutant made it, and not as the unmutated kernel makes it.
bool really_wrong(const std::string& tensor, const ladder::Element& element, const Bits& clean,
                  const Bits& mutant);

}  // namespace ww::mutation

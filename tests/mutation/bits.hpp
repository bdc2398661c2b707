// SPDX-License-Identifier: Apache-2.0
// What a kernel really makes in each case: the bits of its outputs and taps, without any judgement.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ladder/references.hpp"
#include "ladder/runner.hpp"
#include "mutant.hpp"

namespace ww::mutation {

struct Bits {
    ladder::RunResult plain, again, tapped;  // again: with another poison; tapped: plain without taps
    bool stops() const { return plain.failure || again.failure || tapped.failure; }
};

class Bench {
  public:
    static Result<std::unique_ptr<Bench>> open(const Subject& subject, const std::filesystem::path& port);
    // A stage on the inputs that the ladder gives it: the case's, and what the reference makes of them.
    Bits run(std::string_view implementation, const port::Stage& stage, const ladder::CaseData& data);
    // The kernel of a stage as it is compiled and launched in a case.
    Result<port::KernelImpl> kernel(std::string_view implementation, const port::Stage& stage,
                                    const port::Scope& scope) const;
    Result<const ladder::CaseData*> data(const port::Case& c);
    const port::Port& port() const { return port_; }

  private:
    Bench(const Subject& subject, port::Port port);
    port::Port port_;
    ladder::LibraryTable libraries_;
    ladder::PlanTable plans_;
    std::unique_ptr<device::Device> device_;
    std::optional<ladder::Runner> runner_;
    std::optional<ladder::References> references_;
};

// Plans of this program, but with the PTX of the mutant that is planted now, where one is.
ladder::PlanTable plans_with_mutant();
// Kernels that a plan compiles with these defines come from mutant.ptx and mutant_taps.ptx in folder.
struct PlantedPtx {
    std::filesystem::path folder;
    std::vector<std::string_view> stages;
    std::vector<std::pair<std::string, std::string>> defines;
};
void plant(std::optional<PlantedPtx> planted);

// One with few threads and a budget: a mutant that runs away ends in seconds.
std::unique_ptr<device::Device> open_bounded_device(const Subject& subject, const std::string& target);

// Names of the tensors that differ, taps first, in program order. Empty where nothing differs; runs
// that ended in an error count as "stop".
std::vector<std::string> differing(const port::Stage& stage, const Bits& clean, const Bits& mutant);
// Every bit of the element is as the mutant made it, and not as the unmutated kernel makes it.
bool really_wrong(const std::string& tensor, const ladder::Element& element, const Bits& clean,
                  const Bits& mutant);

}  // namespace ww::mutation

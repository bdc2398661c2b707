// SPDX-License-Identifier: Apache-2.0
// Runs a mutant twice: once to learn what it really changes, once through `check` to hear what the
// ladder says; and judges the one by the other.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "ladder/check.hpp"
#include "mutant.hpp"

namespace ww::mutation {

struct Outcome {
    bool compiles = true;
    bool changes = false;     // some bit of an output or tap differs, or the launch ends in an error
    bool stops = false;       // what check reported is a launch that ended in an error
    bool is_store = false;    // the fault is in a store of the first wrong tensor, or defines its operands
    bool detected = false;    // check failed
    bool right_place = false;    // at the first wrong tap in program order, or else at the stage
    bool right_element = false;  // and every element that it names differs from the unmutated kernel's
    bool right_line = false;     // stores: the line of the fault is among those named
    bool right_line_with_code = false;  // the same without the lines that are named for having no code
    size_t lines_named = 0;
    std::string truth;  // "softmax/odd: row_max"
    std::string report;  // what check printed below the failed rung
    std::string said;   // "stage/plain/softmax/odd: tap row_max"
};

using Lines = std::set<std::pair<std::string, int>>;  // file name and line

struct Stores {
    std::set<std::string> keys;  // of the stores and what defines their operands: instruction_keys
    Lines lines;                 // of the same, through inlined calls
};

class Laboratory {
  public:
    // kernels is only read; mutants live below folder.
    static Result<std::unique_ptr<Laboratory>> open(const Subject& subject,
                                                    const std::filesystem::path& kernels,
                                                    const std::filesystem::path& folder);
    ~Laboratory();

    const Subject& subject() const;
    // The unmutated text of a file below kernels/.
    const std::string& text(const std::string& file) const;
    // The unmutated PTX of a candidate.
    const std::string& ptx(const Candidate& candidate, bool taps) const;
    const std::string& entry(const Candidate& candidate) const;
    // Where the candidate stores each of its tensors, by name.
    const std::map<std::string, Stores>& stores(const Candidate& candidate) const;
    // What port.toml says for a mutant of that candidate: its cases; and where the mutant's PTX is,
    // unless a plan says so.
    std::string port_for(const Candidate& candidate) const;
    std::string port_for_ptx(const Candidate& candidate) const;
    Result<Outcome> examine(const Mutant& mutant);

  private:
    struct State;
    Laboratory();
    std::unique_ptr<State> state_;
};

}  // namespace ww::mutation

// SPDX-License-Identifier: Apache-2.0
// The rungs of a ladder: each judges one thing and, on failure, finds the place. check.cpp says
// which rungs there are and in what order.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ladder/check.hpp"
#include "ladder/compare.hpp"
#include "ladder/references.hpp"
#include "ladder/runner.hpp"

namespace ww::ladder {

// One implementation of one stage in one case.
struct Target {
    const port::Implementation* implementation = nullptr;
    const port::Stage* stage = nullptr;
    const port::Case* c = nullptr;

    const port::StageImpl& impl() const { return implementation->stages.at(stage->name); }
};

class Climber {
  public:
    Climber(const port::Port& port, device::Device& device, const CheckOptions& options);

    void reference_rung(Rung& rung, const port::Case& c);
    void compile_rung(Rung& rung, const port::Implementation& implementation,
                      const port::Stage& stage, const std::vector<const port::Case*>& cases);
    void arguments_rung(Rung& rung, const port::Implementation& implementation,
                        const port::Stage& stage, const std::vector<const port::Case*>& cases);
    void stage_rung(Rung& rung, const Target& target);
    void taps_rung(Rung& rung, const Target& target);
    void determinism_rung(Rung& rung, const Target& target);
    void chain_rung(Rung& rung, const port::Implementation& implementation, const port::Case& c);
    void compare_rung(Rung& rung, const Target& target, const port::Implementation& other);
    bool has_taps(const Target& target) const;
    // Adds to a failure of one of the rungs from stage_rung on what the kernel's text tells.
    void explain(Rung& rung, const port::Implementation& implementation);

  private:
    // A run with taps, and what the reference made of those that it was given.
    struct Tapped {
        const TensorMap& taps;
        std::map<std::string, TensorMap> made = {};  // by the names that were given
    };
    // One step on each build of a stage (with and without taps) for each case that it serves; the
    // first failure makes the implementation unusable.
    void each_build(Rung& rung, const port::Implementation& implementation, const port::Stage& stage,
                    const std::vector<const port::Case*>& cases,
                    const std::function<std::optional<Failure>(const RunRequest&)>& step);
    void one_call(Rung& rung, const port::Implementation& implementation, const port::Case& c,
                  const TensorMap& one_by_one);
    // The case's data, or nothing after the rung was told why it fails or is skipped.
    CaseData* data_for(Rung& rung, const Target& target);
    RunRequest request_for(const Target& target, const CaseData& data) const;
    // Outputs of a run that was found good or bad before; run again when they are not kept.
    const TensorMap* outputs_of(Rung& rung, const Target& target, CaseData& data);
    // Judges one tensor; on failure the rung fails and, when it is new, is localised.
    // tapped: got comes from that run.
    bool judge(Rung& rung, const Target& target, CaseData& data, const port::Tensor& got,
               Tapped* tapped, const port::Tensor* against = nullptr);
    bool judge_by(Rung& rung, const Target& target, CaseData& data, const port::Tensor& got,
                  port::Tolerance tolerance, Tapped* tapped, const port::Tensor* against);
    // True when it raced: the rung fails.
    static bool fail_for_race(Rung& rung, const Target& target);
    void localise(Failure& failure, const Target& target, const CaseData& data,
                  const std::string& tensor, int64_t linear, bool taps);
    void first_bad_tap(Failure& failure, const Target& target, CaseData& data);
    std::optional<Failure> find_unwritten(const Target& target, const TensorMap& a,
                                          const TensorMap& b) const;
    // Who wrote other elements of the tensor that has an unwritten one.
    void find_other_writers(Failure& failure, const Target& target, const CaseData& data,
                            const port::Layout& layout, bool taps);
    std::optional<Failure> find_changed(const Target& target, const TensorMap& a,
                                        const TensorMap& b, FailureKind kind,
                                        const std::string& what) const;
    void fail_run(Rung& rung, const Target& target, RunRequest request, Failure failure);
    Runner* single_threaded(Rung& rung);
    // As expected_of, where port.toml says so given the kernel's own values of other taps.
    Result<Expected> expected_of_given(const Target& target, const CaseData& data,
                                       const std::string& tensor, const port::Tolerance& tolerance,
                                       Tapped& tapped);
    // The tolerance of a tap; of an output, the one for where taps are given.
    const port::Tolerance& tapped_tolerance(const port::Case& c, const port::TensorSpec& tensor) const;
    Expected expected_of(const CaseData& data, const std::string& tensor,
                         const port::Tolerance& tolerance) const;

    const port::Port& port_;
    const CheckOptions& options_;
    uint8_t poison_;
    Runner runner_;
    References references_;
    std::unique_ptr<device::Device> second_device_;
    std::unique_ptr<Runner> second_runner_;
    std::map<std::string, TensorMap> outputs_;  // by "implementation/stage/case"
    std::set<std::string> unusable_;            // "implementation/stage" that did not compile or fit
};

}  // namespace ww::ladder

// SPDX-License-Identifier: Apache-2.0
// What every stage of a case should make: the reference's tensors, the same in double, and those of
// baselines. Made when first asked for, and kept.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "ladder/runner.hpp"

namespace ww::ladder {

struct CaseData {
    const port::Case* c = nullptr;
    port::Scope scope;
    TensorMap values;  // inputs; then what the reference makes of them, stage by stage, with taps
    TensorMap truth;   // outputs and taps of float64, each stage fed with values; may be empty
    std::map<std::string, TensorMap, std::less<>> baselines;  // by implementation; same feeding
};

class References {
  public:
    // Outputs and taps of the stage in double, where the kernel's own values of the taps named in
    // given stand for the reference's. taps: the kernel's.
    Result<TensorMap> given_truth(const CaseData& data, const port::Stage& stage,
                                  const std::vector<std::string>& given, const TensorMap& taps);
    References(const port::Port& port, Runner& runner, uint64_t seed)
        : port_(port), runner_(runner), seed_(seed) {}

    // The failure says why nothing can be judged in this case.
    struct Found {
        CaseData* data = nullptr;
        std::optional<Failure> failure;
    };
    Found get(const port::Case& c);
    // What get found before; null when it is not kept.
    const CaseData* find(const std::string& case_id) const;
    // Adds the outputs and taps of an implementation, fed with the reference's inputs.
    std::optional<Failure> add_baseline(CaseData& data, const std::string& implementation,
                                        const port::Stage& stage);

  private:
    std::optional<Failure> make(CaseData& data);
    std::optional<Failure> run_into(const port::Implementation& implementation,
                                    const port::Stage& stage, const CaseData& data, bool in_double,
                                    TensorMap& into);
    std::optional<Failure> find_nan(const port::Stage& stage, const CaseData& data) const;
    void make_room();

    const port::Port& port_;
    Runner& runner_;
    uint64_t seed_;
    std::map<std::string, CaseData, std::less<>> cases_;
};

}  // namespace ww::ladder

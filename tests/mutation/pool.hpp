// SPDX-License-Identifier: Apache-2.0
// All faults that can be planted in the candidates, drawn at random: both levels equally often while
// they last, none twice.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "laboratory.hpp"
#include "ptx_edits.hpp"
#include "source_edits.hpp"

namespace ww::mutation {

class Pool {
  public:
    static Result<std::unique_ptr<Pool>> open(const Laboratory& laboratory, uint64_t seed);
    // Nothing when every fault has been drawn. stores_only: from those in a store or the definitions
    // of its operands, each fault equally likely; else each kind is.
    std::optional<Mutant> draw(bool stores_only = false);
    size_t size() const;

  private:
    struct SourceFault {
        const Candidate* candidate;
        std::string file;
        Edit edit;
        std::string id() const;
    };
    struct Modules {
        ptx::Module plain, taps;
    };
    struct PtxFault {
        const Candidate* candidate;
        PtxEdit edit;
        size_t number;  // among the candidate's
        std::string id() const;
    };
    template <class Fault>
    using ByKind = std::map<Kind, std::vector<Fault>>;
    struct Group {
        ByKind<SourceFault> source;
        ByKind<PtxFault> ptx;
    };
    Pool(const Laboratory& laboratory, uint64_t seed) : laboratory_(laboratory), random_(seed) {}
    Mutant made(const SourceFault& fault) const;
    Mutant made(const PtxFault& fault) const;
    void add(const Candidate& candidate, const std::string& file);
    Status add_ptx(const Candidate& candidate);
    template <class Fault>
    std::optional<Mutant> draw_from(ByKind<Fault>& faults, bool kinds_equal);

    const Laboratory& laboratory_;
    Random random_;
    bool from_source_ = false;  // the level of the last draw
    Group all_, stores_;
    std::set<std::string> drawn_;
    std::map<const Candidate*, Modules> modules_;
};

}  // namespace ww::mutation

// SPDX-License-Identifier: Apache-2.0
// One case: opens who takes part, times them in turns, then judges what they made.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bench/bench.hpp"
#include "bench/ours.hpp"
#include "bench/peer.hpp"
#include "bench/timed.hpp"
#include "bench/truth.hpp"

namespace ww::bench {

class CaseBench {
  public:
    // files: a folder for what peers read and write. peers: those that answered.
    CaseBench(const port::Port& port, const Options& options, ladder::Runner& runner, const std::filesystem::path& files,
              const std::vector<std::unique_ptr<Peer>>& peers)
        : port_(port), options_(options), runner_(runner), files_(files), peers_(peers) {}

    // c is sized for the device. Fails on wrong input: data or expected values that cannot be made.
    Result<Case> run(const port::Case& c, const std::vector<const port::Implementation*>& implementations);
    const std::vector<KernelHash>& kernels() const { return kernels_; }

  private:
    struct Entry {
        Subject subject;
        std::unique_ptr<Timed> timed;  // null: it does not take part
        double limit = 0;              // of relative L1
    };
    Status make_inputs(const port::Case& c);
    void open_ours(const port::Implementation& implementation, const port::Case& c);
    void open_peers(const port::Case& c);
    Entry open_peer(Peer& peer, const OpenRequest& request) const;
    static void lose(Entry& entry, Subject::State state, const std::string& why);
    void tell_losses() const;
    void warm_up();
    void rounds();
    Status judge_outputs();
    static void judge_output(Entry& entry, const Truth& truth);
    void judge_ratios();
    uint32_t sets() const;

    const port::Port& port_;
    const Options& options_;
    ladder::Runner& runner_;
    const std::filesystem::path& files_;
    const std::vector<std::unique_ptr<Peer>>& peers_;

    std::string inputs_key_;  // cases with the same data share it
    ladder::TensorMap inputs_;
    port::Scope scope_;
    Case out_;
    std::vector<std::unique_ptr<Ours>> ours_;
    std::vector<Entry> entries_;
    std::vector<KernelHash> kernels_;
};

}  // namespace ww::bench

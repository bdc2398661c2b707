// SPDX-License-Identifier: Apache-2.0
// One implementation of the port in one case: its tensors on the device, as many times as launches take turns, and its
// launches, the kernel's alone and all of them.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/report.hpp"
#include "bench/timed.hpp"
#include "ladder/buffers.hpp"
#include "ladder/runner.hpp"

namespace ww::bench {

struct OursRequest {
    const port::Port* port = nullptr;
    const port::Implementation* implementation = nullptr;
    const port::Scope* scope = nullptr;
    const ladder::TensorMap* inputs = nullptr;  // outlives it
    std::string case_id;
    uint32_t sets = 1;
    uint8_t poison = 0;
};

class Ours {
  public:
    // Compiles, and runs every set once: the kernel alone then finds what the stages before it make.
    static Result<std::unique_ptr<Ours>> open(ladder::Runner& runner, const OursRequest& request);

    std::unique_ptr<Timed> kernel();
    std::unique_ptr<Timed> whole();
    // Of the tensors that the kernel's stage names and is given, each once.
    double kernel_bytes() const { return kernel_bytes_; }
    const std::vector<KernelHash>& kernels() const { return kernels_; }
    // A guard zone or an input that was written; empty: none.
    Result<std::string> intruded() const;

  private:
    class Launches;
    struct Step {
        std::string stage;
        device::KernelId kernel = 0;
        device::Launch launch;
    };
    struct Set {
        std::unique_ptr<ladder::Buffers> buffers;
        std::vector<Step> steps;
    };
    Ours(ladder::Runner& runner, const OursRequest& request);
    Status add_set();
    Status add_step(Set& set, const port::Stage& stage, const port::StageImpl& impl);
    Status run_once();
    Result<double> bytes_of(const port::Stage& stage, const port::KernelImpl& kernel) const;

    ladder::Runner& runner_;
    OursRequest request_;
    std::vector<Set> sets_;
    std::vector<KernelHash> kernels_;
    std::vector<std::string> made_;  // tensors that stages write, intermediate ones too
    double kernel_bytes_ = 0;
};

}  // namespace ww::bench

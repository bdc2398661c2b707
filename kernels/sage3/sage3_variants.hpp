// SPDX-License-Identifier: Apache-2.0
// The kernels of a plan, compiled and loaded once a handle and target, by whichever thread comes first.
#pragma once
#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "sage3/sage3_backend.hpp"
#include "sage3/sage3_plan.hpp"

namespace ww::sage3 {

class Variants {
  public:
    // folder: with the .cu files; empty: those in the library. backend outlives this.
    Variants(Backend& backend, std::filesystem::path folder) : backend_(backend), folder_(std::move(folder)) {}

    // One a step of the plan, in order.
    Result<std::vector<uint64_t>> kernels(const Plan& plan, const std::string& target);

  private:
    using Loaded = std::shared_future<Result<uint64_t>>;

    Result<toolchain::CompileRequest> request_for(const Step& step, const std::string& target) const;
    std::vector<std::future<void>> make_beside(const Plan& plan, const std::vector<std::string>& keys, const std::string& target);
    Loaded module(const Step& step, const std::string& target, const std::string& key);
    Result<uint64_t> load(const Step& step, const std::string& target);
    Result<uint64_t> kernel(const std::string& module_key, uint64_t module, const Step& step);

    Backend& backend_;
    const std::filesystem::path folder_;
    std::mutex mutex_;                         // of what follows
    std::map<std::string, Loaded> modules_;    // by target, source and defines; failures are forgotten
    std::map<std::string, uint64_t> kernels_;  // by that and entry
};

}  // namespace ww::sage3

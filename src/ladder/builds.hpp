// SPDX-License-Identifier: Apache-2.0
// How the kernels of a port are compiled: by case, and as a list in which each build stands once.
// Runs and loads nothing.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ladder/library.hpp"
#include "port/port.hpp"
#include "toolchain/toolchain.hpp"

namespace ww::ladder {

// The kernel as port.toml has it, or as its plan function makes it for these sizes.
Result<port::KernelImpl> plan_kernel(const port::Port& port, const PlanTable& plans,
                                     const port::KernelImpl& kernel, const port::Place& place,
                                     const port::Scope& scope, const std::string& stage);

// What NVRTC is asked for a CUDA C++ kernel.
Result<toolchain::CompileRequest> compile_request(const port::KernelImpl& kernel,
                                                  const port::Scope& scope,
                                                  const std::string& target, bool taps);

// Kernels with equal keys are compiled alike: source, entry, target, defines, options, includes.
std::string build_key(const port::KernelImpl& kernel,
                      const std::vector<std::pair<std::string, std::string>>& defines);

// Options of the compiler that hold for ptxas, too: --fmad=false, --maxrregcount=N, and what
// --ptxas-options=OPTION hands on.
toolchain::AssembleOptions assemble_options(const std::vector<std::string>& compiler_options);

// One compilation of one kernel of a port, and the launches that it is for.
struct Build {
    std::string implementation, entry;
    std::vector<std::string> stages;
    port::KernelImpl kernel;            // planned
    toolchain::CompileRequest request;  // CUDA C++ only; its target is still open
    std::vector<std::string> cases;     // ids
    uint32_t threads = 0;               // of a block: the most of any case
    uint32_t shared_bytes = 0;          // dynamic: likewise
};
// The kernels of every implementation, for every case that it can run; without taps.
Result<std::vector<Build>> builds_of(const port::Port& port, const PlanTable& plans);

}  // namespace ww::ladder

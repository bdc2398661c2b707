// SPDX-License-Identifier: Apache-2.0
// Compiles a probe and looks at it: on the emulator, on a GPU, or at its machine code.
#pragma once
#include <string>

#include "base/result.hpp"
#include "journal/probe_file.hpp"

namespace ww::journal {

struct ProbeOptions {
    std::string target;   // empty: the probe's
    bool on_cuda = false;
};

struct ProbeRun {
    std::string printed;     // the outcome: what it printed and the output buffers; or counts; or a verdict
    std::string device;      // "Warpwright emulator (sm_90a)", "NVIDIA H200 (sm_90a)", "ptxas (sm_120a)"
    std::string skipped;     // why it could not run here; empty: it did
    bool needs_hardware = false;  // skipped for want of a GPU
};

// Fails when the probe itself is wrong: it does not compile, faults, or does not fit its lines.
Result<ProbeRun> run_probe(const ProbeFile& probe, const ProbeOptions& options);

std::string to_json(const ProbeRun& run);

// "nvrtc 13.0.88, ptxas 13.0.88": asks the compilers, so it takes a while.
std::string toolchain_text();

}  // namespace ww::journal

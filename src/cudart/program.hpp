// SPDX-License-Identifier: Apache-2.0
// Runs a CUDA program with this library in place of the CUDA runtime: what `warpwright run` does.
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace ww::cudart {

struct ProgramOptions {
    std::vector<std::string> command;  // the program, a path or a name in PATH, and its arguments
    std::filesystem::path library;     // libcudart.so.13 of ours
    std::vector<std::pair<std::string, std::string>> environment;  // WARPWRIGHT_RUN_*
    bool stdout_to_stderr = false;
};

struct ProgramRun {
    int exit_code = 0;
    int signal = 0;  // that ended it; 0: it ended itself
    double seconds = 0;
    uint64_t peak_kib = 0;            // of its resident memory
    std::vector<std::string> events;  // lines of the report (report.hpp)
};

// Its standard streams are ours. Fails when it cannot be started.
Result<ProgramRun> run_program(const ProgramOptions& options);

}  // namespace ww::cudart

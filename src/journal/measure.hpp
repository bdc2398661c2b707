// SPDX-License-Identifier: Apache-2.0
// What the tool itself says of a port now: its kernels as compiled, the ladder's verdict, the commit.
// Nothing here is typed by anybody.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "journal/prediction.hpp"
#include "ladder/library.hpp"

namespace ww::journal {

struct Measured {
    std::string kernel;  // "softmax_plain.sm_90a": the stem of its files and the target
    Metrics metrics;
};

struct Now {
    std::vector<Measured> kernels;
    std::string toolchain;  // "nvrtc 13.0.88, ptxas 13.0.88"
    std::string commit;     // "1a2b3c4d5e6f, dirty"; "none": no git
    std::string bench;      // what was timed on, or why nothing was
};

// kernels: a pattern of their names; empty: all of the port.
Result<Now> measure(const std::filesystem::path& port, const std::string& kernels, const ladder::PlanTable& plans);

// "softmax_plain.sm_90a registers=26 ..." and back; nothing where it is no such line.
std::string measured_text(const Measured& measured);
Result<Measured> parse_measured(const std::string& text);

struct Verdict {
    bool pass = false;
    std::string text;    // "pass, 27 rungs"; "FAIL at stage/plain/softmax/odd"
    std::string device;  // "Warpwright emulator (sm_90a)"
};
Result<Verdict> check_port(const std::filesystem::path& port, bool on_cuda, const ladder::LibraryTable& libraries,
                           const ladder::PlanTable& plans);

}  // namespace ww::journal

// SPDX-License-Identifier: Apache-2.0
// The optimisation log of a port, <port>/log.txt: what was thought, what was predicted, what the tool
// measured before and after, and whether it stayed. docs/log.md describes the file.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "journal/measure.hpp"

namespace ww::journal {

struct Entry {
    std::string key;  // eight hexadecimal digits
    std::string idea, predict, kernels;
    std::string started, commit_before, toolchain_before;
    std::vector<Measured> before;
    // Of the end; empty while it is open.
    std::string finished, commit, toolchain, check, device, bench, verdict, because;
    std::vector<Measured> after;
    std::vector<std::string> measured;  // "registers 32 -> 29 (-9.4%)", a line a prediction and kernel

    bool open() const { return finished.empty(); }
};

struct Log {
    std::vector<Entry> entries;  // by the time at which they were started
};

Result<Log> load_log(const std::filesystem::path& port);

struct StartRequest {
    std::filesystem::path port;
    std::string idea, predict;
    std::string kernels;  // a pattern; empty: all
    ladder::PlanTable plans;
};
// Builds the kernels as they are and records them.
Result<Entry> start(const StartRequest& request);

struct FinishRequest {
    std::filesystem::path port;
    bool kept = false;
    std::string because;
    std::string entry;    // its key; empty: the only open one
    std::string kernels;  // a pattern where the kernel has another name now; empty: the start's
    bool on_cuda = false;
    ladder::LibraryTable libraries;
    ladder::PlanTable plans;
};
struct Finished {
    Entry entry;
    std::vector<Judged> judged;
    // Why nothing was recorded: the check failed, or a prediction missed without a reason.
    std::string refused;
    bool check_failed = false;
};
Result<Finished> finish(const FinishRequest& request);

// Writes the table into <port>/README.md under "## Optimisation log"; how many entries it has.
Result<size_t> render_log(const std::filesystem::path& port);

std::string to_text(const Entry& entry);
std::string to_text(const Log& log);
std::string to_json(const Log& log);
std::string to_json(const Entry& entry);

}  // namespace ww::journal

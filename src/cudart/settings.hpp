// SPDX-License-Identifier: Apache-2.0
// What `warpwright run` asks for, passed on to the program's process by environment variables.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/policy.hpp"
#include "base/race_level.hpp"
#include "base/result.hpp"

namespace ww::cudart {

struct Settings {
    std::string target;  // empty: the newest that the program's PTX names
    AsyncPolicy async{AsyncPolicy::Kind::lazy};
    SchedulePolicy schedule;
    std::optional<RaceLevel> races = RaceLevel::warning;
    bool garbage_in_shared = true;  // else a read of shared memory that nobody wrote is a fault
    uint32_t multiprocessors = 0;  // 0: those of a GPU of the target
    uint32_t threads = 0;          // of the host; 0: one a core
    uint64_t budget = uint64_t{1} << 34;
    std::string report;  // a file that receives the events; empty: none
    std::string keep;    // a folder that receives the PTX; empty: none
    std::string ptx;     // a file that replaces a module of the program; empty: none
};

inline constexpr const char* kVariables[] = {
    "WARPWRIGHT_RUN_TARGET", "WARPWRIGHT_RUN_ASYNC", "WARPWRIGHT_RUN_SCHEDULE", "WARPWRIGHT_RUN_CHECK",
    "WARPWRIGHT_RUN_MULTIPROCESSORS", "WARPWRIGHT_RUN_THREADS", "WARPWRIGHT_RUN_BUDGET",
    "WARPWRIGHT_RUN_REPORT", "WARPWRIGHT_RUN_KEEP", "WARPWRIGHT_RUN_UNINITIALISED",
    "WARPWRIGHT_RUN_PTX"};
Result<Settings> settings_from_environment();

// Runs body; an exception is a bug of ours: it is printed and ends the process with 70.
void guard(const char* name, const std::function<void()>& body);

}  // namespace ww::cudart

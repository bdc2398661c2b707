// SPDX-License-Identifier: Apache-2.0
// The archive of what a GPU answered: one file for all tests, each answer with the hash of what was
// asked. The emulator is judged by it; it is written only from a GPU.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace ww::exectest {

// One run of `warpwright test --record`.
struct RecordingRun {
    std::string device, driver, date, toolchain;
    int sm = 0;
    uint64_t log_hash = 0;  // XXH64 of the log that the run printed
};

struct Recording {
    uint32_t run = 0;         // index into Archive::runs
    uint64_t hash = 0;        // XXH64 of the expanded PTX and the operands
    std::vector<std::byte> outputs;
};

struct Archive {
    std::vector<RecordingRun> runs;
    std::map<std::string, Recording> tests;  // by test name
};

// A file that is not there is an empty archive; a damaged one is a failure.
Result<Archive> load_archive(const std::filesystem::path& path);
// Runs that no test refers to any more are left out.
Status save_archive(const std::filesystem::path& path, const Archive& archive);

}  // namespace ww::exectest

// SPDX-License-Identifier: Apache-2.0
// The verb `silicon`: everything that a port and the emulator want to know of a GPU nobody here
// has, each part in a process of its own, so that a kernel that hangs or faults costs only that
// part.
#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "base/result.hpp"
#include "ladder/check.hpp"
#include "silicon/report.hpp"

namespace ww::silicon {

struct Options {
    std::filesystem::path port;
    std::string on = "cuda";  // or emulator: the same path, without a device's clock
    std::string case_glob;    // of the ladder; empty: all (three small ones on the emulator)
    std::string bench_glob;   // of the times; empty: those marked bench, else the three largest
    std::string test_glob;    // instruction tests; empty: all
    std::filesystem::path folder = "tests/ptx/exec", archive = "tests/ptx/recorded.bin";
    // Beside the archive: which GPU executed which test.
    std::filesystem::path recorded_log() const { return std::filesystem::path(archive).replace_extension(".log"); }
    std::chrono::seconds limit{300};  // of a process
    uint32_t repeats = 20;
    std::filesystem::path program;  // this one
    std::string version;
    ladder::OpenDevice open_device;
    ladder::LibraryTable libraries;
    ladder::PlanTable plans;
    std::function<void(const std::string&)> on_progress;  // a line
    std::function<Status(const Report&)> on_part;         // after each part; a failure ends it all
};

// Fails on wrong input, and where on_part does. A device that is missing or not the port's is for
// the caller to find out first.
Result<Report> measure(const Options& options);

// One part in this process, as the document that parts.hpp reads: "sums", "times", "new-tests",
// "recorded-tests"; "test:NAME" is one instruction test;
// "new-tests>NAME" those behind it in their order.
Result<std::string> run_part(const Options& options, const std::string& part);

}  // namespace ww::silicon

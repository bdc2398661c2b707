// SPDX-License-Identifier: Apache-2.0
// Runs instruction tests on a device and judges them: the verb `warpwright test`.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "exectest/test_file.hpp"

namespace ww::exectest {

enum class Outcome { passed, failed, skipped };
std::string_view outcome_name(Outcome outcome);

struct TestResult {
    std::string name;
    Outcome outcome = Outcome::failed;
    std::string message;          // why it failed or was skipped
    uint64_t output_hash = 0;     // XXH64 of the packed outputs; 0 when it did not run
    double seconds = 0;
    bool compared = true;  // false: there is neither a record nor an expected value
};

struct RunOptions {
    std::filesystem::path folder = "tests/ptx/exec";
    std::filesystem::path archive = "tests/ptx/recorded.bin";
    std::string pattern;            // of test names; empty: all
    std::function<bool(const TestFile&)> wanted;  // of those; empty: all
    bool on_cuda = false;
    bool record = false;            // write the archive instead of reading it; on cuda only
    bool allow_unrecorded = false;  // a test without record or expect passes when it runs
    std::function<void(const TestResult&)> progress;
};

struct RunReport {
    std::string device;  // name of the device, and its driver
    std::vector<TestResult> tests;
    size_t passed = 0, failed = 0, skipped = 0;
    size_t unrecorded = 0;  // of all tests; they count as passed with allow_unrecorded only
    std::string log;        // of a recording: one line a test
    uint64_t log_hash = 0;  // XXH64 of it
    bool good() const { return failed == 0 && passed > 0; }
};

// Fails on wrong input: a test file or archive that cannot be read. A failing test is in the report.
// gpu is the device for on_cuda, else null: then emulators are opened, one a target.
Result<RunReport> run_tests(const RunOptions& options, device::Device* gpu);

struct Assembly {
    size_t assembled = 0, too_new = 0;  // too_new: tests whose PTX version or target ptxas does not know
};
// Assembles every test with ptxas, many in one module; nothing runs. The failure names the tests.
Result<Assembly> assemble_tests(const std::vector<TestFile>& tests);
// Whether ptxas refused the .version or the target as such.
bool too_new_for_assembler(const Diagnostics& errors);

}  // namespace ww::exectest

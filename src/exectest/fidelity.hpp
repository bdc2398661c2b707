// SPDX-License-Identifier: Apache-2.0
// The emulator beside a GPU: the instruction tests again and again with other operands on both, until
// each row of the instruction table has enough results. The table of them is docs/fidelity.md.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"
#include "exectest/test_file.hpp"
#include "isa/isa.hpp"

namespace ww::exectest {

struct FidelityOptions {
    std::filesystem::path folder = "tests/ptx/exec";
    std::string pattern;          // of test names; empty: all
    uint64_t results = 1000000;   // wanted of each row: output values of its tests
    std::function<void(size_t done, size_t of)> progress;  // tests
};

struct RowFidelity {
    const isa::Row* row = nullptr;
    size_t tests = 0;         // that ran
    uint64_t trials = 0;      // threads that executed it
    uint64_t results = 0;     // output values compared
    uint64_t mismatches = 0;  // of them
    bool any_nan = false;     // a NaN stands for every NaN in a test of it
    bool fixed = false;       // its operands are all given: more trials would repeat them
};

struct FidelityReport {
    std::string device, date;
    std::vector<RowFidelity> rows;          // those that the device executed
    std::vector<const isa::Row*> not_run;   // with semantics, but no test that the device can run
    std::vector<std::string> mismatches;    // "NAME, round 3: d of block ...": the first of each test
    std::vector<std::string> failures;      // a test that one side could not run, and why
    uint64_t results = 0;
    bool good() const { return mismatches.empty() && failures.empty() && !rows.empty(); }
};

Result<FidelityReport> measure_fidelity(const FidelityOptions& options, device::Device& gpu);

// docs/fidelity.md.
std::string to_markdown(const FidelityReport& report);

}  // namespace ww::exectest

// SPDX-License-Identifier: Apache-2.0
// Processes that fault, die or hang cost their part and no more. The program is a script that says
// what a GPU's would.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.hpp"
#include "silicon/silicon.hpp"
#include "toolchain/process.hpp"

namespace ww::silicon {
namespace {

constexpr const char* kProgram = R"(#!/bin/sh
outcome() { printf '{"name": "%s", "outcome": "%s", "message": "%s", "hash": "0"}' "$1" "$2" "$3"; }
lost="the CUDA context is lost, a new process is needed"
case "$*" in
*"--part sums"*) echo "no such instruction" >&2; exit 70 ;;
*"--part new-tests>mma/b"*) echo "{\"tests\": [$(outcome mma/c passed)]}" ;;
*"--part new-tests"*) echo "{\"tests\": [$(outcome mma/a passed), $(outcome mma/b failed 'it faults'), $(outcome mma/c failed "$lost")]}" ;;
*"check"*"one"*) echo '{"verdict": "pass", "rungs": [{"name": "chain/x/one", "status": "pass", "metrics": [{"output": "o", "relative_l2": null}]}]}' ;;
*"check"*"hangs"*) sleep 30 ;;
*"check"*) echo '{"verdict": "fail", "rungs": [{"name": "stage/x/y/z", "status": "fail", "failure": {"message": "wrong"}, "metrics": []}]}'; exit 1 ;;
*"--part times"*) echo '{"port": "p", "dev' ;;
esac
)";

constexpr const char* kPort = R"(
[port]
name = "p"
target = "sm_120a"
[axes]
N = {}
[tensors.x]
dtype = "f32"
shape = ["N"]
role = "input"
[tensors.y]
dtype = "f32"
shape = ["N"]
role = "output"
[[stage]]
name = "copy"
inputs = ["x"]
outputs = ["y"]
[implementations.reference.copy]
kind = "library"
symbol = "none"
[implementations.mine.copy]
kind = "library"
symbol = "none"
[[case]]
id = "one"
axes = { N = 1 }
[[case]]
id = "two"
axes = { N = 2 }
[[case]]
id = "hangs"
axes = { N = 3 }
)";

TEST(Measure, WhatDiesCostsItsPart) {
    namespace fs = std::filesystem;
    const auto folder = toolchain::TemporaryFolder::make();
    ASSERT_TRUE(folder);
    const fs::path program = folder->path() / "program", port = folder->path() / "port.toml";
    ASSERT_TRUE(write_file(program, kProgram));
    ASSERT_TRUE(write_file(port, kPort));
    fs::permissions(program, fs::perms::owner_all);
    const fs::path source = WW_SOURCE_DIR;
    Options options{.port = port,
                    .on = "emulator",
                    .test_glob = "mma/*m16n8k64_mx*",
                    .folder = source / "tests/ptx/exec",
                    .archive = source / "tests/ptx/recorded.bin",
                    .limit = std::chrono::seconds(3),
                    .program = program};
    options.open_device = [](const std::string& target,
                             uint32_t) -> Result<std::unique_ptr<device::Device>> {
        return device::open_emulated({.target = target});
    };
    std::string last;
    options.on_part = [&](const Report& report) {
        last = to_markdown(report);
        return ok();
    };
    const auto report = measure(options);
    ASSERT_TRUE(report) << format(report.error());
    EXPECT_FALSE(report->good());
    EXPECT_EQ(report->sums.why, "the process ended with code 70: no such instruction");
    ASSERT_EQ(report->fresh.tests.size(), 3U);
    EXPECT_EQ(report->fresh.tests[1].message, "it faults");
    EXPECT_EQ(report->fresh.tests[2].outcome, "passed");  // in another process
    ASSERT_EQ(report->ladder.size(), 3U);
    EXPECT_TRUE(report->ladder[0].pass);
    ASSERT_EQ(report->ladder[1].failed.size(), 1U);
    EXPECT_EQ(report->ladder[1].failed[0].message, "wrong");
    EXPECT_NE(report->ladder[2].why.find("did not end within 3"), std::string::npos)
        << report->ladder[2].why;
    EXPECT_EQ(report->times.why, "the benchmark printed no complete document");
    for (const char* line : {"- F: no result: the process ended with code 70",
                             "1 of 3 cases pass; the first that does not: two",
                             "2 pass bit for bit, 1 fail", "| one | pass | 1 |"})
        EXPECT_NE(last.find(line), std::string::npos) << line << "\n" << last;
}

}  // namespace
}  // namespace ww::silicon

// SPDX-License-Identifier: Apache-2.0
// One test after the other, and the verdicts; how one is launched is launcher.cpp.
#include "exectest/run.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <map>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/text.hpp"
#include "exectest/archive.hpp"
#include "exectest/compare.hpp"
#include "exectest/launcher.hpp"
#include "toolchain/found.hpp"

namespace ww::exectest {
namespace {

using device::Device;

class Runner {
  public:
    Runner(const RunOptions& options, Device* gpu) : options_(options), gpu_(gpu), launcher_(gpu) {}
    Result<RunReport> run();

  private:
    TestResult one(const TestFile& test);
    void judge(const Prepared& ready, const std::vector<std::byte>& outputs, TestResult& result);
    Status save(RunReport& report);

    const RunOptions& options_;
    Device* gpu_;
    Launcher launcher_;
    Archive archive_;
    std::map<std::string, Recording> recorded_;
};

void Runner::judge(const Prepared& ready, const std::vector<std::byte>& outputs,
                   TestResult& result) {
    const Layout& layout = ready.expanded.layout;
    const TestFile& test = ready.test;
    std::vector<std::byte> expected;
    auto found = archive_.tests.find(test.name);
    if (test.has_expect()) {
        expected = expected_outputs(test, layout);
    } else if (options_.record) {
        result.outcome = Outcome::passed;
        recorded_[test.name] = {0, ready.hash, outputs};
        return;
    } else if (found == archive_.tests.end()) {
        result.compared = false;
        if (options_.allow_unrecorded) result.outcome = Outcome::passed;
        else result.message = "neither recorded nor expected; record it on a GPU, or give the "
                              "outputs in 'expect' lines";
        return;
    } else if (found->second.hash != ready.hash) {
        result.message = "stale record: the test or its operands changed since it was recorded";
        return;
    } else {
        expected = found->second.outputs;
    }
    auto mismatch = find_mismatch(test, layout, ready.operands, expected, outputs);
    if (mismatch) result.message = *mismatch;
    else result.outcome = Outcome::passed;
}

TestResult Runner::one(const TestFile& test) {
    TestResult result;
    result.name = test.name;
    if (gpu_) {
        if (!launcher_.can_run(test)) {
            result.outcome = Outcome::skipped;
            result.message = fmt::format("for {}, this device is sm_{}", test.target, gpu_->info().sm);
            return result;
        }
        if (!test.fault.empty()) {
            result.outcome = Outcome::skipped;
            result.message = "a fault would end the device's context, and with it every later test";
            return result;
        }
    }
    auto start = std::chrono::steady_clock::now();
    Prepared ready = prepare(test);
    auto outputs = launcher_.outputs_of(ready, options_.record);
    if (outputs && !test.fault.empty()) {
        result.message = "it ran to its end; expected the fault '" + test.fault + "'";
    } else if (outputs) {
        result.output_hash = XXH64(outputs->data(), outputs->size(), 0);
        judge(ready, *outputs, result);
    } else {
        Diagnostics errors = outputs.error();
        for (Diagnostic& error : errors) error = relocate(error, test, ready.expanded);
        result.message = trim(format(errors));
        if (!test.fault.empty() && result.message.find(test.fault) != std::string::npos) {
            result.outcome = Outcome::passed;
        } else if (gpu_ && too_new_for_assembler(errors)) {
            result.outcome = Outcome::skipped;
        }
    }
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

std::string ptxas_version() { return fmt::format("ptxas {} --fmad=false", toolchain::ask_part("ptxas").version); }

// A full recording without failures replaces the archive; any other replaces its tests' entries.
Status Runner::save(RunReport& report) {
    device::Info info = gpu_->info();
    RecordingRun run;
    run.device = info.name;
    run.sm = info.sm;
    run.driver = info.driver;
    run.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    run.toolchain = launcher_.assembles() ? ptxas_version() : "the driver's compiler";
    report.log = fmt::format("{}, driver {}, {}, {}\n", run.device, run.driver, run.toolchain,
                             run.date);
    for (const TestResult& test : report.tests)
        report.log += fmt::format("{:016x} {} {}\n", test.output_hash, test.name,
                                  outcome_name(test.outcome));
    report.log_hash = run.log_hash = XXH64(report.log.data(), report.log.size(), 0);
    if (options_.pattern.empty() && report.failed == 0) archive_ = {};
    archive_.runs.push_back(run);
    for (auto& [name, recording] : recorded_) {
        recording.run = static_cast<uint32_t>(archive_.runs.size() - 1);
        archive_.tests[name] = std::move(recording);
    }
    return save_archive(options_.archive, archive_);
}

Result<RunReport> Runner::run() {
    WW_TRY(tests, load_tests(options_.folder, options_.pattern));
    if (options_.wanted) std::erase_if(tests, [&](const TestFile& test) { return !options_.wanted(test); });
    if (tests.empty())
        return fail(fmt::format("no instruction test in {} matches '{}'", options_.folder.string(),
                                options_.pattern));
    WW_TRY(archive, load_archive(options_.archive));
    archive_ = std::move(archive);
    RunReport report;
    if (gpu_) report.device = gpu_->info().name + ", driver " + gpu_->info().driver;
    else report.device = "Warpwright emulator";
    for (const TestFile& test : tests) {
        TestResult result = one(test);
        if (options_.progress) options_.progress(result);
        report.passed += result.outcome == Outcome::passed;
        report.failed += result.outcome == Outcome::failed;
        report.skipped += result.outcome == Outcome::skipped;
        report.unrecorded += !result.compared;
        report.tests.push_back(std::move(result));
    }
    if (options_.record) {
        WW_TRY(saved, save(report));
        (void)saved;
    }
    return report;
}

}  // namespace

std::string_view outcome_name(Outcome outcome) {
    switch (outcome) {
        case Outcome::passed: return "passed";
        case Outcome::failed: return "failed";
        case Outcome::skipped: return "skipped";
    }
    return "failed";
}

Result<RunReport> run_tests(const RunOptions& options, Device* gpu) {
    if (options.on_cuda && !gpu) return fail("no GPU to run the tests on");
    if (options.record && !gpu)
        return fail("records come from a GPU only: add --on cuda");
    return Runner(options, gpu).run();
}

}  // namespace ww::exectest

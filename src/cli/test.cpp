// SPDX-License-Identifier: Apache-2.0
// warpwright test: runs the instruction tests, records them on a GPU, shows and lists them.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "cli/verbs.hpp"
#include "exectest/coverage.hpp"
#include "exectest/expand.hpp"
#include "exectest/run.hpp"

namespace ww::cli {
namespace {

using exectest::Outcome;
using exectest::RowCoverage;
using exectest::RunOptions;
using exectest::RunReport;
using exectest::TestFile;
using exectest::TestResult;
using nlohmann::json;

struct Options {
    RunOptions run;
    std::string on = "emulator", show, log;
    bool json = false, list = false, coverage = false, assemble = false;
    bool archive_named = false;  // then it must be there
};

int list_tests(const std::vector<TestFile>& tests, bool as_json) {
    json all = json::array();
    for (const TestFile& test : tests) {
        if (as_json)
            all.push_back({{"name", test.name},
                           {"target", test.target},
                           {"description", test.description}});
        else
            fmt::print("{:<44} {:<8} {}\n", test.name, test.target, test.description);
    }
    if (as_json) fmt::print("{}\n", all.dump(2));
    return kDone;
}

json to_json(const std::vector<RowCoverage>& coverage, const std::vector<std::string>& wrong) {
    json rows = json::array();
    for (const RowCoverage& entry : coverage)
        rows.push_back({{"syntax", entry.row->syntax},
                        {"sets", entry.row->sets},
                        {"chapter", entry.row->chapter},
                        {"state", isa::state_name(isa::state(*entry.row))},
                        {"tests", entry.tests}});
    return {{"verdict", wrong.empty() ? "pass" : "fail"}, {"rows", rows}, {"errors", wrong}};
}

// Which rows the tests execute. Over all tests, the list of untested rows must say the same.
int list_coverage(const std::vector<TestFile>& tests, bool all_tests, bool as_json) {
    const auto coverage = exectest::row_coverage(tests);
    if (!coverage) return report(coverage.error());
    std::vector<std::string> wrong;
    if (all_tests) wrong = exectest::check_untested(*coverage, isa::untested_rows());
    if (as_json) {
        fmt::print("{}\n", to_json(*coverage, wrong).dump(2));
        return wrong.empty() ? kDone : kCheckFailed;
    }
    size_t bound = 0, covered = 0;
    for (const RowCoverage& entry : *coverage) {
        if (!entry.row->bind) continue;
        ++bound;
        covered += entry.tests.empty() ? 0 : 1;
        fmt::print("{:>4}  {}\n", entry.tests.size(), entry.row->syntax);
        if (!entry.row->sets.empty()) fmt::print("      {}\n", entry.row->sets);
    }
    for (const std::string& line : wrong) fmt::print("error: {}\n", line);
    fmt::print("{} rows with semantics; {} tests execute {} of them\n", bound, tests.size(), covered);
    return wrong.empty() ? kDone : kCheckFailed;
}

int show_test(const Options& options) {
    auto tests = exectest::load_tests(options.run.folder, options.show);
    if (!tests) return report(tests.error());
    for (const TestFile& test : *tests) fmt::print("{}", exectest::expand(test).ptx);
    if (!tests->empty()) return kDone;
    return report(fail(fmt::format("no instruction test is named '{}'; --list names them",
                                   options.show)).diagnostics);
}

int assemble(const std::vector<TestFile>& tests) {
    auto assembled = exectest::assemble_tests(tests);
    if (!assembled) return report(assembled.error(), kCheckFailed);
    fmt::print("{} tests assemble; {} are for a newer PTX or another target than this ptxas knows\n",
               assembled->assembled, assembled->too_new);
    return kDone;
}

json to_json(const RunReport& run) {
    json tests = json::array();
    for (const TestResult& test : run.tests)
        tests.push_back({{"name", test.name},
                         {"outcome", exectest::outcome_name(test.outcome)},
                         {"message", test.message},
                         {"output_xxh64", fmt::format("{:016x}", test.output_hash)},
                         {"seconds", test.seconds}});
    return {{"verdict", run.good() ? "pass" : "fail"},
            {"device", run.device},
            {"passed", run.passed},
            {"failed", run.failed},
            {"skipped", run.skipped},
            {"unrecorded", run.unrecorded},
            {"tests", tests}};
}

void print_result(const TestResult& test) {
    if (test.outcome == Outcome::passed) return;
    fmt::print("{:<8} {}\n", exectest::outcome_name(test.outcome), test.name);
    std::string message = test.message;
    for (size_t at = 0; (at = message.find('\n', at)) != std::string::npos; at += 10)
        message.replace(at, 1, "\n         ");
    fmt::print("         {}\n", message);
}

int write_log(const Options& options, const RunReport& run) {
    if (!options.log.empty())
        if (Status written = write_file(options.log, run.log); !written)
            return report(written.error());
    fmt::print("recorded in {}; log xxh64 {:016x}\n", options.run.archive.string(), run.log_hash);
    return kDone;
}

int run_all(Options& options) {
    std::error_code code;
    if (options.archive_named && !options.run.record &&
        !std::filesystem::exists(options.run.archive, code))
        return report(fail(fmt::format("--archive {}: there is no such file",
                                       options.run.archive.string())).diagnostics);
    if (!options.log.empty() && !options.run.record)
        return report(fail("--log is the log of a recording: add --record").diagnostics);
    std::unique_ptr<device::Device> gpu;
    if (options.run.on_cuda) {
        auto opened = device::open_cuda();
        if (!opened) return report(opened.error(), kNeedsHardware);
        gpu = std::move(*opened);
    }
    bool terminal = isatty(STDERR_FILENO) == 1;
    size_t done = 0;
    options.run.progress = [&](const TestResult& test) {
        if (terminal) fmt::print(stderr, "\r\x1b[K{} {}", ++done, test.name);
    };
    auto ran = exectest::run_tests(options.run, gpu.get());
    if (terminal) fmt::print(stderr, "\r\x1b[K");
    if (!ran) return report(ran.error());
    if (options.json) {
        fmt::print("{}\n", to_json(*ran).dump(2));
    } else {
        for (const TestResult& test : ran->tests) print_result(test);
        fmt::print("{} passed, {} failed, {} skipped on {}", ran->passed, ran->failed,
                   ran->skipped, ran->device);
        if (ran->unrecorded) fmt::print("; {} have no record to compare with", ran->unrecorded);
        fmt::print("\n");
    }
    if (options.run.record && !options.json)
        if (int code = write_log(options, *ran); code != kDone) return code;
    return ran->good() ? kDone : kCheckFailed;
}

int run_verb(Options& options) {
    options.run.on_cuda = options.on == "cuda";
    if (!options.show.empty()) return show_test(options);
    if (!options.list && !options.coverage && !options.assemble) return run_all(options);
    auto tests = exectest::load_tests(options.run.folder, options.run.pattern);
    if (!tests) return report(tests.error());
    if (options.list) return list_tests(*tests, options.json);
    if (options.coverage) return list_coverage(*tests, options.run.pattern.empty(), options.json);
    return assemble(*tests);
}

}  // namespace

void add_test(CLI::App& app, int& exit_code) {
    const auto options = std::make_shared<Options>();
    CLI::App* verb = add_verb(app, "test");
    verb->add_option("GLOB", options->run.pattern);
    verb->add_option("--on", options->on)->check(CLI::IsMember({"emulator", "cuda"}));
    verb->add_flag("--record", options->run.record);
    verb->add_option("--archive", options->run.archive);
    verb->add_option("--log", options->log);
    verb->add_option("--folder", options->run.folder);
    verb->add_flag("--unrecorded", options->run.allow_unrecorded);
    verb->add_option("--show", options->show);
    verb->add_flag("--list", options->list);
    verb->add_flag("--coverage", options->coverage);
    verb->add_flag("--assemble", options->assemble);
    verb->add_flag("--json", options->json);
    verb->callback([options, verb, &exit_code] {
        options->archive_named = verb->count("--archive") > 0;
        exit_code = run_verb(*options);
    });
}

}  // namespace ww::cli

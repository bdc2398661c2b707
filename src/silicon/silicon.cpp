// SPDX-License-Identifier: Apache-2.0
// Starts the parts, what is most wanted first, and gathers what they found.
#include "silicon/silicon.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/text.hpp"
#include "exectest/recorded_log.hpp"
#include "exectest/test_file.hpp"
#include "ladder/selection.hpp"
#include "port/reader.hpp"
#include "silicon/parts.hpp"
#include "toolchain/found.hpp"
#include "toolchain/process.hpp"

namespace ww::silicon {
namespace {

// Kernels that hang cost their whole limit: after so many the other cases are left out.
constexpr size_t kMostHangs = 3;
constexpr size_t kSmallCases = 3;
constexpr int kUnderstood = 2;  // exit codes above say that the process did not do its work

std::string last_line(const std::string& text) {
    const auto lines = split(trim(text), '\n');
    return std::string(lines.back());
}

// What a process printed as what it says, or why there is nothing.
template <class Read>
auto read_by(Read read, const Result<std::string>& text) -> decltype(read(*text)) {
    if (!text) return text.failure();
    return read(*text);
}

class Measurement {
  public:
    Measurement(const Options& options, const port::Port& port) : options_(options), port_(port) {}

    Result<Report> run() {
        WW_TRY(described, describe());
        (void)described;
        using Step = Status (Measurement::*)();
        for (const Step step :
             {&Measurement::sums, &Measurement::fresh_tests, &Measurement::ladder,
              &Measurement::times, &Measurement::recorded_tests, &Measurement::fidelity}) {
            WW_TRY(done, (this->*step)());
            (void)done;
        }
        return std::move(report_);
    }

  private:
    Status describe() {
        WW_TRY(device, options_.open_device(port_.target, 0));
        report_.device = device->info();
        report_.port = port_.name;
        report_.version = options_.version;
        report_.date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
        for (const toolchain::Found& part : toolchain::survey())
            report_.toolchain.emplace_back(part.component,
                                           part.version.empty() ? "missing" : part.version);
        WW_TRY(log, exectest::load_recorded_log(options_.recorded_log()));
        report_.recorded_on = log.device;
        WW_TRY(tests, exectest::load_tests(options_.folder, options_.test_glob));
        for (const exectest::TestFile& test : tests)
            if (log.executed.count(test.name) == 0)
                fresh_names_.push_back(test.name);
            else
                ++recorded_count_;
        if (tests.empty())
            return fail(fmt::format("no instruction test in {} matches '{}'",
                                    options_.folder.string(), options_.test_glob));
        return options_.on_part(report_);
    }

    // What the program prints, or why there is nothing.
    Result<std::string> start(std::vector<std::string> words,
                              std::chrono::milliseconds limit) const {
        toolchain::Command command;
        command.argv = std::move(words);
        command.argv.insert(command.argv.begin(), options_.program.string());
        command.timeout = limit;
        auto finished = toolchain::run_process(command);
        if (!finished) return finished.failure();
        if (finished->exit_code <= kUnderstood && !finished->out.empty())
            return std::move(finished->out);
        return fail(fmt::format("the process ended with code {}: {}", finished->exit_code,
                                last_line(finished->err)));
    }

    Result<std::string> start_part(const std::string& part, std::chrono::milliseconds limit) const {
        std::vector<std::string> words{"silicon",   options_.port.string(),
                                       "--on",      options_.on,
                                       "--part",    part,
                                       "--folder",  options_.folder.string(),
                                       "--archive", options_.archive.string(),
                                       "--repeats", std::to_string(options_.repeats)};
        if (!options_.bench_glob.empty())
            words.insert(words.end(), {"--bench", options_.bench_glob});
        if (!options_.test_glob.empty()) words.insert(words.end(), {"--tests", options_.test_glob});
        return start(std::move(words), limit);
    }

    Status ended(const std::string& name, const Part& part, const std::string& found) {
        if (options_.on_progress)
            options_.on_progress(fmt::format("{}: {}", name, part.done() ? found : part.why));
        return options_.on_part(report_);
    }

    static void broken(Part& part, const Diagnostics& why) { part.why = why.front().message; }

    Status sums() {
        if (report_.device.sm / 10 != 12) {
            report_.sums.why =
                fmt::format("{} has no mma.sync of block-scaled FP4", report_.device.target);
            return ok();
        }
        report_.sums.started = true;
        auto read = read_by(read_sums, start_part("sums", options_.limit));
        if (read)
            report_.sums.report = std::move(*read);
        else
            broken(report_.sums, read.error());
        return ended("sums", report_.sums, read ? report_.sums.report.conclusion() : "");
    }

    Status fresh_tests() {
        if (fresh_names_.empty()) {
            report_.fresh.why = "there are none";
            return ok();
        }
        WW_TRY(all, run_tests("new-tests", report_.fresh));
        (void)all;
        if (report_.fresh.done()) return ok();
        // One of them took the others with it: each that is left alone.
        constexpr std::chrono::seconds kOne{20};
        const std::string why = std::exchange(report_.fresh.why, "");
        const std::string last = report_.fresh.tests.empty() ? "" : report_.fresh.tests.back().name;
        for (const std::string& name : fresh_names_) {
            if (name <= last) continue;
            auto read = read_by(read_tests, start_part("test:" + name, std::min<std::chrono::milliseconds>(
                                                                           kOne, options_.limit)));
            if (read && read->size() == 1)
                report_.fresh.tests.push_back(std::move(read->front()));
            else
                report_.fresh.tests.push_back(
                    {name, "failed", read ? why : read.error().front().message, ""});
        }
        return ended("new instruction tests, one by one", report_.fresh, counts(report_.fresh));
    }

    Status recorded_tests() {
        if (recorded_count_ > 0) return run_tests("recorded-tests", report_.recorded);
        report_.recorded.why = "there are none";
        return ok();
    }

    static std::string counts(const Tests& tests) {
        return fmt::format("{} passed, {} failed, {} skipped", tests.count("passed"),
                           tests.count("failed"), tests.count("skipped"));
    }

    // A test that faults takes the process's device with it: those behind it get another process.
    Status run_tests(const std::string& part, Tests& into) {
        constexpr int kMostFaults = 20;
        into.started = true;
        std::string all = part;
        for (int faults = 0;; ++faults) {
            auto read = read_by(read_tests, start_part(all, 4 * options_.limit));
            if (!read) {
                broken(into, read.error());
                break;
            }
            const auto lost = std::find_if(read->begin(), read->end(), [](const TestOutcome& each) {
                return each.outcome == "failed" &&
                       each.message.find("context is lost") != std::string::npos;
            });
            into.tests.insert(into.tests.end(), read->begin(), lost);
            if (lost == read->end()) break;
            if (lost == read->begin() || faults == kMostFaults) {
                into.why = lost->message;
                break;
            }
            all = fmt::format("{}>{}", part, into.tests.back().name);
        }
        return ended(part, into, counts(into));
    }

    Status ladder() {
        WW_TRY(cases, ladder::pick_cases(port_, options_.case_glob));
        if (options_.case_glob.empty() && options_.on != "cuda" && cases.size() > kSmallCases)
            cases.resize(kSmallCases);
        size_t hangs = 0;
        for (const port::Case* each : cases) {
            if (hangs == kMostHangs) {
                ++report_.ladder_left_out;
                continue;
            }
            LadderCase& c = report_.ladder.emplace_back();
            c.id = each->id;
            c.started = true;
            const auto text = start({"check", options_.port.string(), "--on", options_.on, "--case",
                                     c.id, "--keep-going", "--json"},
                                    options_.limit);
            const Status read = text ? read_check(*text, c) : Status(text.failure());
            if (!read) broken(c, read.error());
            hangs += !read;
            WW_TRY(told, ended("ladder, " + c.id, c,
                               fmt::format("{}, {} rungs, {} failed", c.pass ? "pass" : "FAIL",
                                           c.rungs, c.failed.size())));
            (void)told;
        }
        return options_.on_part(report_);
    }

    Status times() {
        report_.times.started = true;
        auto read = read_by(read_times, start_part("times", 2 * options_.limit));
        if (read)
            report_.times.report = std::move(*read);
        else
            broken(report_.times, read.error());
        return ended("times", report_.times,
                     report_.times.report.timed()
                         ? fmt::format("{} cases", report_.times.report.cases.size())
                         : "none, no clock");
    }

    Status fidelity() {
        if (options_.on != "cuda") {
            report_.fidelity.why = "it is the emulator that is judged by a GPU";
            return options_.on_part(report_);
        }
        report_.fidelity.started = true;
        constexpr const char* kResults = "20000";  // of each row: minutes, most of them for ptxas
        std::vector<std::string> words{
            "fidelity", "--on", "cuda", "--results", kResults, "--folder", options_.folder.string(),
            "--json"};
        if (!options_.test_glob.empty()) words.insert(words.begin() + 1, options_.test_glob);
        const auto text = start(std::move(words), 6 * options_.limit);
        const Status read = text ? read_fidelity(*text, report_.fidelity) : Status(text.failure());
        if (!read) broken(report_.fidelity, read.error());
        return ended("fidelity", report_.fidelity,
                     fmt::format("{} rows, {} mismatches", report_.fidelity.rows.size(),
                                 report_.fidelity.mismatches.size()));
    }

    const Options& options_;
    const port::Port& port_;
    Report report_;
    std::vector<std::string> fresh_names_;
    size_t recorded_count_ = 0;
};

}  // namespace

Result<Report> measure(const Options& options) {
    WW_CHECK(options.open_device && options.on_part, "silicon without a device or a file");
    WW_TRY(port, port::load_port(options.port));
    WW_TRY(cases, ladder::pick_cases(port, options.case_glob));
    (void)cases;
    return Measurement(options, port).run();
}

}  // namespace ww::silicon

// SPDX-License-Identifier: Apache-2.0
#include "exectest/fidelity.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>

#include "exectest/compare.hpp"
#include "exectest/coverage.hpp"
#include "exectest/launcher.hpp"
#include "exectest/run.hpp"

namespace ww::exectest {
namespace {

// Of one launch: enough to keep a GPU and all cores busy, and a few hundred MiB at most.
constexpr uint64_t kMostLanes = uint64_t{1} << 18, kMostBytes = uint64_t{1} << 28;
constexpr int kMostRounds = 64;

// Operands of the test's own choice come again in every round.
bool is_fixed(const TestFile& test) {
    return std::none_of(test.fields.begin(), test.fields.end(), [](const Field& field) {
        static const std::vector<std::string> kGiven{"listed", "zero", "lane", "index"};
        return field.is_input() && std::count(kGiven.begin(), kGiven.end(), field.generator.name) == 0;
    });
}

uint64_t output_values(const Layout& layout, const TestFile& test) {
    uint64_t sum = 0;
    for (const auto* slots : {&layout.out, &layout.scratch})
        for (const Slot& slot : *slots) sum += slot.bytes / test.fields[slot.field].type.bytes();
    return sum;
}

// The test with as many more blocks as `wanted` results take, within the limits of a launch.
TestFile widened(const TestFile& test, uint64_t wanted) {
    const Layout layout = make_layout(test);
    const uint64_t values = std::max<uint64_t>(output_values(layout, test), 1);
    const uint64_t bytes = std::max<uint64_t>(layout.in_bytes + layout.out_bytes + layout.scratch_bytes, 1);
    uint64_t factor = (wanted + values - 1) / values;
    factor = std::min({factor, kMostLanes / std::max(test.lanes(), 1u), kMostBytes / bytes});
    TestFile out = test;
    out.trials.x *= static_cast<uint32_t>(std::max<uint64_t>(factor, 1));
    return out;
}

struct TestTotals {
    uint64_t trials = 0, results = 0, mismatches = 0;
    bool ran = false;
};

class Measurement {
  public:
    // The emulator is that GPU: generations differ in what their tensor cores compute.
    explicit Measurement(device::Device& gpu) : on_gpu_(&gpu), on_emulator_(nullptr, gpu.info().target) {}

    bool can_run(const TestFile& test) const { return on_gpu_.can_run(test) && test.fault.empty(); }

    // Rounds until the test has `wanted` results, or one that repeats nothing is left.
    TestTotals measure(const TestFile& test, uint64_t wanted, FidelityReport& report) {
        TestTotals out;
        const bool fixed = is_fixed(test);
        for (int round = 1; round <= kMostRounds && out.results < wanted; ++round) {
            const TestFile wide = fixed ? test : widened(test, wanted - out.results);
            const Prepared ready = prepare(wide, static_cast<uint64_t>(round));
            const auto right = on_gpu_.outputs_of(ready, false);
            const auto ours = on_emulator_.outputs_of(ready, false);
            if (!right && too_new_for_assembler(right.error())) return out;
            if (!right || !ours) {
                report.failures.push_back(fmt::format("{}: {}: {}", test.name, right ? "the emulator" : "the GPU",
                                                      (right ? ours : right).error().front().message));
                return out;
            }
            out.ran = true;
            const Tally found = tally(wide, ready.expanded.layout, *right, *ours);
            if (found.wrong > 0 && out.mismatches == 0)
                report.mismatches.push_back(fmt::format(
                    "{}, round {}: {}", test.name, round,
                    find_mismatch(wide, ready.expanded.layout, ready.operands, *right, *ours).value_or("")));
            out.trials += wide.lanes();
            out.results += found.values;
            out.mismatches += found.wrong;
            if (fixed || found.values == 0) break;
        }
        return out;
    }

  private:
    Launcher on_gpu_, on_emulator_;
};

// What each test must contribute, so that every row of it gets what is wanted.
std::map<std::string, uint64_t> shares_of(const std::vector<RowCoverage>& coverage,
                                          const std::map<std::string, const TestFile*>& runnable, uint64_t results) {
    std::map<std::string, uint64_t> shares;
    for (const RowCoverage& entry : coverage) {
        const auto counts = static_cast<uint64_t>(std::count_if(entry.tests.begin(), entry.tests.end(), [&](const std::string& name) {
            const auto test = runnable.find(name);
            return test != runnable.end() && !is_fixed(*test->second);
        }));
        for (const std::string& name : entry.tests)
            shares[name] = std::max(shares[name], counts == 0 ? results : (results + counts - 1) / counts);
    }
    return shares;
}

RowFidelity sum_of(const RowCoverage& entry, const std::map<std::string, TestTotals>& totals,
                   const std::map<std::string, const TestFile*>& runnable) {
    RowFidelity out{.row = entry.row, .fixed = true};
    for (const std::string& name : entry.tests) {
        const auto found = totals.find(name);
        if (found == totals.end() || !found->second.ran) continue;
        const TestFile& test = *runnable.at(name);
        ++out.tests;
        out.trials += found->second.trials;
        out.results += found->second.results;
        out.mismatches += found->second.mismatches;
        out.any_nan |= test.any_nan;
        out.fixed &= is_fixed(test);
    }
    return out;
}

std::string judged(const RowFidelity& row) {
    std::string out = "bits";
    if (row.any_nan) out += ", NaN as NaN";
    if (row.fixed) out += "; operands given";
    return out;
}

// A bar would end the cell of a table.
std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c;
    }
    return out;
}

}  // namespace

Result<FidelityReport> measure_fidelity(const FidelityOptions& options, device::Device& gpu) {
    WW_TRY(tests, load_tests(options.folder, options.pattern));
    WW_TRY(coverage, row_coverage(tests));
    Measurement measurement(gpu);
    std::map<std::string, const TestFile*> runnable;
    for (const TestFile& test : tests)
        if (measurement.can_run(test)) runnable[test.name] = &test;
    if (runnable.empty())
        return fail(fmt::format("no instruction test in {} matches '{}' and runs on {}", options.folder.string(),
                                options.pattern, gpu.info().name));
    FidelityReport report;
    report.device = fmt::format("{}, driver {}", gpu.info().name, gpu.info().driver);
    report.date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
    const auto shares = shares_of(coverage, runnable, options.results);
    std::map<std::string, TestTotals> totals;
    size_t done = 0;
    for (const auto& [name, test] : runnable) {
        const auto share = shares.find(name);
        totals[name] = measurement.measure(*test, share == shares.end() ? options.results : share->second, report);
        report.results += totals[name].results;
        if (options.progress) options.progress(++done, runnable.size());
    }
    for (const RowCoverage& entry : coverage) {
        if (!entry.row->bind) continue;
        RowFidelity row = sum_of(entry, totals, runnable);
        if (row.tests > 0)
            report.rows.push_back(std::move(row));
        else if (options.pattern.empty())
            report.not_run.push_back(entry.row);
    }
    return report;
}

std::string to_markdown(const FidelityReport& report) {
    uint64_t wrong = 0;
    for (const RowFidelity& row : report.rows) wrong += row.mismatches;
    std::string out = "# How faithful the emulator is\n\n";
    out += fmt::format(
        "Made by `warpwright fidelity --on cuda --out docs/fidelity.md` on {}, {}. Each instruction test of `tests/ptx/exec` ran on the\n"
        "GPU and on the emulator with fresh operands (random, and adversarial: subnormals, infinities, NaN payloads, halfway cases,\n"
        "huge spreads of exponents) until its row of the instruction table had enough results. A result is one output value; trials are\n"
        "threads that executed the row. A row that a test needs beside others counts with that test. `operands given`: the tests choose\n"
        "them (addresses, counts), and more trials would repeat them.\n\n"
        "{} results over {} rows, each judged bit for bit: {} mismatches.\n\n",
        report.date, report.device, report.results, report.rows.size(), wrong);
    out += "| chapter | row | tests | trials | results | mismatches | judged by |\n|---|---|---:|---:|---:|---:|---|\n";
    for (const RowFidelity& row : report.rows)
        out += fmt::format("| {} | `{}` {} | {} | {} | {} | {} | {} |\n", row.row->chapter, cell(row.row->syntax),
                           cell(row.row->sets), row.tests, row.trials, row.results, row.mismatches, judged(row));
    if (!report.not_run.empty()) {
        out += fmt::format("\n## Emulated; not run on this device\n\n"
                           "{} rows with semantics have no test that {} can run:\n\n",
                           report.not_run.size(), report.device);
        for (const isa::Row* row : report.not_run)
            out += fmt::format("- `{}` {}\n", row->syntax, row->sets);
    }
    if (!report.mismatches.empty()) {
        out += "\n## Mismatches\n\n";
        for (const std::string& each : report.mismatches) out += fmt::format("- {}\n", each);
    }
    if (!report.failures.empty()) {
        out += "\n## Tests that did not run\n\n";
        for (const std::string& each : report.failures) out += fmt::format("- {}\n", each);
    }
    return out;
}

}  // namespace ww::exectest

// SPDX-License-Identifier: Apache-2.0
// warpwright fidelity: the emulator beside a GPU, row by row of the instruction table.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "cli/verbs.hpp"
#include "exectest/every_input.hpp"
#include "exectest/fidelity.hpp"

namespace ww::cli {
namespace {

struct Options {
    exectest::FidelityOptions measure;
    std::string on = "cuda", out;
    bool every_input = false, json = false;
};

bool all_equal(const std::vector<exectest::EveryInput>& every) {
    return std::all_of(every.begin(), every.end(), [](const auto& each) { return each.good(); });
}

std::string to_json(const exectest::FidelityReport& report, const std::vector<exectest::EveryInput>& every) {
    using nlohmann::json;
    json rows = json::array(), not_run = json::array(), every_input = json::array();
    for (const exectest::RowFidelity& row : report.rows)
        rows.push_back({{"syntax", row.row->syntax}, {"sets", row.row->sets}, {"chapter", row.row->chapter},
                        {"tests", row.tests}, {"trials", row.trials}, {"results", row.results},
                        {"mismatches", row.mismatches}, {"any_nan", row.any_nan},
                        {"operands_given", row.fixed}});
    for (const isa::Row* row : report.not_run) not_run.push_back({{"syntax", row->syntax}, {"sets", row->sets}});
    for (const exectest::EveryInput& each : every)
        every_input.push_back({{"instruction", each.instruction}, {"mismatches", each.mismatches}, {"first", each.first}});
    return json{{"verdict", report.good() && all_equal(every) ? "pass" : "fail"}, {"device", report.device}, {"date", report.date},
                {"results", report.results}, {"rows", rows}, {"not_run", not_run},
                {"mismatches", report.mismatches}, {"failures", report.failures}, {"every_input", every_input}}
        .dump(1);
}

int run(Options& options) {
    auto gpu = device::open_cuda();
    if (!gpu) return report(gpu.error(), kNeedsHardware);
    if (isatty(STDERR_FILENO) == 1)
        options.measure.progress = [](size_t done, size_t of) {
            std::fprintf(stderr, "\r%zu of %zu%s", done, of, done == of ? "\n" : "");
        };
    const auto measured = exectest::measure_fidelity(options.measure, **gpu);
    if (!measured) return report(measured.error());
    std::string page = exectest::to_markdown(*measured);
    std::vector<exectest::EveryInput> every;
    if (options.every_input) {
        auto tried = exectest::try_every_input(**gpu, options.measure.progress);
        if (!tried) return report(tried.error());
        every = std::move(*tried);
        page += exectest::to_markdown(every);
    }
    fmt::print("{}{}", options.json ? to_json(*measured, every) : page, options.json ? "\n" : "");
    if (!options.out.empty())
        if (const Status written = write_file(options.out, page); !written) return report(written.error());
    return measured->good() && all_equal(every) ? kDone : kCheckFailed;
}

}  // namespace

void add_fidelity(CLI::App& app, int& exit_code) {
    CLI::App* verb = add_verb(app, "fidelity");
    auto options = std::make_shared<Options>();
    verb->add_option("glob", options->measure.pattern);
    verb->add_option("--on", options->on)->check(CLI::IsMember({"cuda"}));
    verb->add_option("--results", options->measure.results)->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40));
    verb->add_flag("--every-input", options->every_input);
    verb->add_option("--folder", options->measure.folder);
    verb->add_option("--out", options->out);
    verb->add_flag("--json", options->json);
    verb->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace ww::cli

// SPDX-License-Identifier: Apache-2.0
// warpwright isa: the instruction table, or how much of a PTX file it covers.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "cli/verbs.hpp"
#include "isa/untested.hpp"
#include "ptx/coverage.hpp"

namespace ww::cli {
namespace {

struct Options {
    std::string file;
    bool json = false;
};

std::string version_text(const isa::Since& since) {
    return fmt::format("{}.{}", since.ptx / 10, since.ptx % 10);
}

std::string target_text(const isa::Since& since) {
    if (since.sm == 0) return "any";
    std::string text = fmt::format("sm_{}", since.sm);
    if (since.feature != 0) text += since.feature;
    return text;
}

std::string_view state_text(const isa::Row& row) { return isa::state_name(isa::state(row)); }

nlohmann::json rows_json() {
    nlohmann::json rows = nlohmann::json::array();
    for (const isa::Row& row : isa::rows())
        rows.push_back({{"syntax", row.syntax},
                        {"sets", row.sets},
                        {"since", version_text(row.since)},
                        {"target", target_text(row.since)},
                        {"anchor", row.anchor},
                        {"chapter", row.chapter},
                        {"state", state_text(row)}});
    return {{"rows", rows}};
}

void print_rows() {
    std::map<isa::State, size_t> count;
    std::string_view chapter;
    for (const isa::Row& row : isa::rows()) {
        if (row.chapter != chapter) {
            chapter = row.chapter;
            fmt::print("{}\n", chapter);
        }
        ++count[isa::state(row)];
        fmt::print("  {:<9} {:>4} {:<8} {}\n", state_text(row), version_text(row.since),
                   target_text(row.since), row.syntax);
        if (!row.sets.empty()) fmt::print("{:26}{}\n", "", row.sets);
        fmt::print("{:26}#{}\n", "", row.anchor);
    }
    fmt::print("{} rows: {} supported, {} untested, {} parsed\n", isa::rows().size(),
               count[isa::State::supported], count[isa::State::untested],
               count[isa::State::parsed]);
}

nlohmann::json coverage_json(const ptx::Coverage& coverage) {
    nlohmann::json unsupported = nlohmann::json::array();
    for (const ptx::Unsupported& entry : coverage.unsupported)
        unsupported.push_back({{"text", entry.text},
                               {"line", entry.line},
                               {"count", entry.count},
                               {"why", entry.why}});
    return {{"instructions", coverage.instructions},
            {"distinct", coverage.distinct},
            {"unsupported", unsupported}};
}

void print_coverage(const std::string& file, const ptx::Coverage& coverage) {
    size_t count = 0;
    for (const ptx::Unsupported& entry : coverage.unsupported) {
        count += entry.count;
        fmt::print("{}:{}: {} ({} times): {}\n", file, entry.line, entry.text, entry.count,
                   entry.why);
    }
    fmt::print("{} instructions, {} distinct, {} unsupported\n", coverage.instructions,
               coverage.distinct, count);
}

int run_isa(const Options& options) {
    if (options.file.empty()) {
        if (options.json)
            fmt::print("{}\n", rows_json().dump(2));
        else
            print_rows();
        return kDone;
    }
    const auto text = read_file(options.file);
    if (!text) return report(text.error());
    const auto module = ptx::parse(*text, options.file);
    if (!module) return report(module.error());
    const ptx::Coverage coverage = ptx::coverage(*module);
    if (options.json)
        fmt::print("{}\n", coverage_json(coverage).dump(2, ' ', false,
                                                        nlohmann::json::error_handler_t::replace));
    else
        print_coverage(options.file, coverage);
    return kDone;
}

}  // namespace

void add_isa(CLI::App& app, int& exit_code) {
    const auto options = std::make_shared<Options>();
    CLI::App* verb = add_verb(app, "isa");
    verb->add_option("file", options->file);
    verb->add_flag("--json", options->json);
    verb->callback([options, &exit_code] { exit_code = run_isa(*options); });
}

}  // namespace ww::cli

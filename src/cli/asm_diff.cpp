// SPDX-License-Identifier: Apache-2.0
// warpwright asm diff: what changed between two builds.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "cli/asm_options.hpp"
#include "cli/verbs.hpp"
#include "inspect/diff.hpp"
#include "inspect/subject.hpp"

namespace ww::cli {
namespace {

struct Options {
    BuildOptions build;
    std::string before, after;
    bool json = false;
};

Result<inspect::AsmFacts> side(const std::string& text, const inspect::Request& request) {
    WW_TRY(subject, inspect::parse_subject(text));
    return inspect::facts_of(subject, request);
}

int run(const Options& options) {
    const inspect::Request request = request_of(options.build);
    const auto before = side(options.before, request);
    if (!before) return report(before.error());
    const auto after = side(options.after, request);
    if (!after) return report(after.error());
    const inspect::AsmDiff diff = inspect::compare(*before, *after);
    fmt::print("{}{}", options.json ? inspect::to_json(diff) : inspect::to_text(diff), options.json ? "\n" : "");
    return kDone;
}

}  // namespace

void add_asm_diff(CLI::App& app, int& exit_code) {
    CLI::App* verb = add_verb(app, "diff");
    auto options = std::make_shared<Options>();
    verb->add_option("before", options->before)->required();
    verb->add_option("after", options->after)->required();
    verb->add_flag("--json", options->json);
    add_target_option(*verb, options->build);
    add_build_options(*verb, options->build);
    verb->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace ww::cli

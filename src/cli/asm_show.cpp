// SPDX-License-Identifier: Apache-2.0
// warpwright asm show: the SASS of a kernel or a loop, beside PTX and source.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/text.hpp"
#include "cli/asm_options.hpp"
#include "cli/verbs.hpp"
#include "inspect/show.hpp"
#include "inspect/subject.hpp"

namespace ww::cli {
namespace {

constexpr size_t kNamed = 8;  // in a message

struct Options {
    BuildOptions build;
    std::string kernel, colour = "auto";
    std::optional<int> loop;
    bool source = false, json = false;
};

// A file's kernels differ in name, a port's builds of one kernel in their files' stem.
Failure which_one(const std::string& text, const inspect::Subject& subject, const inspect::AsmInfo& info) {
    std::vector<std::string> names;
    for (const inspect::KernelInfo& kernel : info.kernels) {
        const bool alone = std::count_if(info.kernels.begin(), info.kernels.end(), [&](const auto& other) {
                               return other.image == kernel.image;
                           }) == 1;
        names.push_back(fmt::format("{}::{}@{}", subject.path, alone ? kernel.image->stem : kernel.name, kernel.target));
    }
    const size_t all = names.size();
    if (all > kNamed) names.resize(kNamed);
    return fail(fmt::format("{} names {} kernels; which one: {}{}", text, all, join(names, ", "),
                            all > kNamed ? ", ..." : ""));
}

Result<inspect::Shown> shown(const Options& options) {
    WW_TRY(subject, inspect::parse_subject(options.kernel));
    WW_TRY(info, inspect::build(subject, request_of(options.build)));
    if (info.kernels.size() > 1) return which_one(options.kernel, subject, info);
    return inspect::show(info.kernels.front(), options.loop);
}

int run(const Options& options) {
    const auto made = shown(options);
    if (!made) return report(made.error());
    if (options.json) {
        fmt::print("{}\n", inspect::to_json(*made));
        return kDone;
    }
    const bool colour = options.colour == "always" || (options.colour == "auto" && ::isatty(STDOUT_FILENO) != 0);
    fmt::print("{}", inspect::to_text(*made, options.source, colour));
    return kDone;
}

}  // namespace

void add_asm_show(CLI::App& app, int& exit_code) {
    CLI::App* verb = add_verb(app, "show");
    auto options = std::make_shared<Options>();
    verb->add_option("kernel", options->kernel)->required();
    verb->add_option("--loop", options->loop);
    verb->add_flag("--source", options->source);
    verb->add_option("--colour,--color", options->colour)->check(CLI::IsMember({"auto", "always", "never"}));
    verb->add_flag("--json", options->json);
    add_build_options(*verb, options->build);
    verb->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace ww::cli

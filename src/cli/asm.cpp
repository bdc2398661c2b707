// SPDX-License-Identifier: Apache-2.0
// warpwright asm: what the compiler made of kernels, as text, JSON and files.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "cli/asm_options.hpp"
#include "cli/verbs.hpp"
#include "inspect/asm_info.hpp"

namespace ww::cli {
namespace {

struct Options {
    BuildOptions build;
    std::string path, out;
    bool json = false;
};

int run(const Options& options) {
    if (options.path.empty())
        return report({{.message = "a port or a file is missing (see warpwright asm --help)"}});
    inspect::Request request = request_of(options.build);
    request.path = options.path;
    const auto info = inspect::asm_info(request);
    if (!info) return report(info.error());
    fmt::print("{}{}", options.json ? inspect::to_json(*info) : inspect::to_text(*info), options.json ? "\n" : "");
    if (options.out.empty()) return kDone;
    const Status written = inspect::write_files(*info, options.out);
    return written ? kDone : report(written.error());
}

}  // namespace

void add_asm(CLI::App& app, int& exit_code) {
    CLI::App* verb = add_verb(app, "asm");
    auto options = std::make_shared<Options>();
    verb->add_option("path", options->path);
    verb->add_option("--out", options->out);
    verb->add_flag("--json", options->json);
    add_target_option(*verb, options->build);
    add_build_options(*verb, options->build);
    verb->callback([verb, options, &exit_code] {
        if (verb->get_subcommands().empty()) exit_code = run(*options);
    });
}

}  // namespace ww::cli

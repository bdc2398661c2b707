// SPDX-License-Identifier: Apache-2.0
// warpwright asm gate: fails when a port's kernels use more than resources.txt allows.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "cli/asm_options.hpp"
#include "cli/verbs.hpp"
#include "inspect/gate.hpp"

namespace ww::cli {
namespace {

struct Options {
    BuildOptions build;
    std::string port;
    bool record = false, json = false;
};

int run(const Options& options) {
    inspect::Request request = request_of(options.build);
    request.path = options.port;
    if (options.record) {
        const auto file = inspect::record_gate(request);
        if (!file) return report(file.error());
        fmt::print("wrote {}\n", file->string());
        return kDone;
    }
    const auto judged = inspect::gate(request);
    if (!judged) return report(judged.error());
    fmt::print("{}{}", options.json ? inspect::to_json(*judged) : inspect::to_text(*judged), options.json ? "\n" : "");
    return judged->ok() ? kDone : kCheckFailed;
}

}  // namespace

void add_asm_gate(CLI::App& app, int& exit_code) {
    CLI::App* verb = add_verb(app, "gate");
    auto options = std::make_shared<Options>();
    verb->add_option("port", options->port)->required();
    CLI::Option* record = verb->add_flag("--record", options->record);
    verb->add_flag("--json", options->json)->excludes(record);
    add_target_option(*verb, options->build);
    verb->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace ww::cli

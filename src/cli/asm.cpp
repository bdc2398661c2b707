// SPDX-License-Identifier: Apache-2.0
// warpwright asm: what the compiler made of kernels, as text, JSON and files.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "base/text.hpp"
#include "cli/verbs.hpp"
#include "inspect/asm_info.hpp"
#include "references.hpp"

namespace ww::cli {
namespace {

struct Options {
    inspect::Request request;
    std::string path, targets, out;
    std::vector<std::string> defines, includes;
    bool json = false;
};

int run(Options& options) {
    inspect::Request& request = options.request;
    request.path = options.path;
    request.plans = kernels::plans();
    for (const std::string_view target : split(options.targets, ','))
        if (!trim(target).empty()) request.targets.emplace_back(trim(target));
    for (const std::string& define : options.defines) {
        const size_t equals = define.find('=');
        request.defines.emplace_back(define.substr(0, equals),
                                     equals == std::string::npos ? "1" : define.substr(equals + 1));
    }
    for (const std::string& folder : options.includes) request.include_dirs.emplace_back(folder);
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
    verb->add_option("path", options->path)->required();
    verb->add_option("--target", options->targets);
    verb->add_option("--out", options->out);
    verb->add_option("--define", options->defines);
    verb->add_option("--include", options->includes);
    verb->add_option("--option", options->request.options);
    verb->add_option("--threads", options->request.threads)->check(CLI::Range(1, 1024));
    verb->add_option("--shared", options->request.shared_bytes)->check(CLI::Range(0, 1 << 20));
    verb->add_flag("--json", options->json);
    verb->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace ww::cli

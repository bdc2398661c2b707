// SPDX-License-Identifier: Apache-2.0
#include "cli/asm_options.hpp"

#include <CLI/CLI.hpp>

#include "base/text.hpp"
#include "references.hpp"

namespace ww::cli {

void add_build_options(CLI::App& verb, BuildOptions& options) {
    verb.add_option("--define", options.defines);
    verb.add_option("--include", options.includes);
    verb.add_option("--option", options.options);
    verb.add_option("--frontend", options.frontend)->check(CLI::IsMember({"nvrtc", "nvcc"}));
    verb.add_option("--threads", options.threads)->check(CLI::Range(1, 1024));
    verb.add_option("--shared", options.shared_bytes)->check(CLI::Range(0, 1 << 20));
}

void add_target_option(CLI::App& verb, BuildOptions& options) { verb.add_option("--target", options.targets); }

inspect::Request request_of(const BuildOptions& options) {
    inspect::Request out;
    for (const std::string_view target : split(options.targets, ','))
        if (!trim(target).empty()) out.targets.emplace_back(trim(target));
    for (const std::string& define : options.defines) {
        const size_t equals = define.find('=');
        out.defines.emplace_back(define.substr(0, equals),
                                 equals == std::string::npos ? "1" : define.substr(equals + 1));
    }
    for (const std::string& folder : options.includes) out.include_dirs.emplace_back(folder);
    out.options = options.options;
    out.nvcc = options.frontend == "nvcc";
    out.threads = options.threads;
    out.shared_bytes = options.shared_bytes;
    out.plans = kernels::plans();
    return out;
}

}  // namespace ww::cli

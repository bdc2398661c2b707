// SPDX-License-Identifier: Apache-2.0
// warpwright wheel: the Python package with the built library, for pip.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/text.hpp"
#include "cli/verbs.hpp"
#include "wheel/wheel.hpp"

namespace ww::cli {
namespace {

struct Options {
    std::string out = ".", library;
    bool json = false;
};

// Where a build puts the library: beside the program.
std::filesystem::path own_library() {
    return own_program().parent_path() / "libsage3.so";
}

int run(const Options& options) {
    const std::filesystem::path library = options.library.empty() ? own_library() : std::filesystem::path(options.library);
    const auto made = wheel::make_wheel({.library = library, .out = options.out});
    if (!made) return report(made.error());
    if (!made->portable())
        (void)report({{.severity = Severity::warning,
                       .file = display_path(library),
                       .message = fmt::format("it is not portable: it needs {} of the machine that it was built on, so the "
                                              "wheel is for machines like this one. Build one that is with: cmake --preset "
                                              "portable && cmake --build --preset portable --target sage3; then --library "
                                              "build/portable/libsage3.so",
                                              join(made->library.foreign(), " and "))}});
    if (options.json)
        fmt::print("{}\n", nlohmann::json{{"path", made->path.string()},
                                          {"tag", made->tag},
                                          {"bytes", made->bytes},
                                          {"portable", made->portable()},
                                          {"glibc", fmt::format("2.{}", made->library.glibc_minor)},
                                          {"needed", made->library.needed}}.dump(2));
    else
        fmt::print("{}\n", made->path.string());
    return kDone;
}

}  // namespace

void add_wheel(CLI::App& app, int& exit_code) {
    const auto options = std::make_shared<Options>();
    CLI::App* verb = add_verb(app, "wheel");
    verb->add_option("--out", options->out);
    verb->add_option("--library", options->library);
    verb->add_flag("--json", options->json);
    verb->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace ww::cli

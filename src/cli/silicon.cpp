// SPDX-License-Identifier: Apache-2.0
// warpwright silicon: one command for the first owner of a GPU; everything it finds in one file.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/files.hpp"
#include "base/target.hpp"
#include "cli/verbs.hpp"
#include "port/reader.hpp"
#include "references.hpp"
#include "silicon/silicon.hpp"

namespace ww::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
    silicon::Options measure;
    std::string out = "silicon_report.md", part;
    bool force = false, json = false;
};

// Whether the GPU at hand is one that the port is for.
Status check_gpu(const std::string& of_port) {
    WW_TRY(gpu, device::open_cuda());
    if (of_port.empty()) return ok();
    WW_TRY(target, parse_target(of_port));
    const device::Info info = gpu->info();
    if (target.is_within(info.sm)) return ok();
    return fail(
        fmt::format("the port is for {}, and {} is {}: run this on a GPU that is one (--on "
                    "emulator tries it out)",
                    target.text(), info.name, info.target));
}

Status check_out(const Options& options) {
    std::error_code code;
    const fs::path path = fs::absolute(options.out);
    if (fs::is_directory(path, code))
        return fail(fmt::format("--out {} is a folder; name a file", options.out));
    if (!fs::is_directory(path.parent_path(), code))
        return fail(fmt::format("--out {}: there is no folder {}", options.out,
                                path.parent_path().string()));
    if (!fs::exists(path, code) || options.force) return ok();
    return fail(fmt::format("{} is there already: --force overwrites it, --out FILE names another",
                            options.out));
}

void fill(silicon::Options& options) {
    options.version = WW_VERSION;
    options.libraries = kernels::references();
    options.plans = kernels::plans();
    options.program = own_program();
    options.open_device = ladder::open_usual_emulator;
    if (options.on == "cuda")
        options.open_device = [](const std::string&, uint32_t) { return device::open_cuda(); };
}

int run(Options& options) {
    fill(options.measure);
    if (options.part.empty())
        if (const Status sound = check_out(options); !sound) return report(sound.error());
    const auto port = port::load_port(options.measure.port);
    if (!port) return report(port.error());
    if (options.measure.on == "cuda")
        if (const Status there = check_gpu(port->target); !there)
            return report(there.error(), kNeedsHardware);
    if (!options.part.empty()) {
        const auto document = silicon::run_part(options.measure, options.part);
        if (!document) return report(document.error());
        fmt::print("{}\n", *document);
        return kDone;
    }
    options.measure.on_progress = [](const std::string& line) {
        fmt::print(stderr, "{}\n", line);
        std::fflush(stderr);
    };
    options.measure.on_part = [&options](const silicon::Report& so_far) {
        return write_file(options.out, silicon::to_markdown(so_far));
    };
    const auto found = silicon::measure(options.measure);
    if (!found) return report(found.error());
    if (options.json)
        fmt::print("{}\n", silicon::to_json(*found));
    else
        fmt::print("wrote {}: {}\n", options.out,
                   found->good() ? "all passed" : "not all passed; its conclusion says what");
    return found->good() ? kDone : kCheckFailed;
}

}  // namespace

void add_silicon(CLI::App& app, int& exit_code) {
    CLI::App* verb = add_verb(app, "silicon");
    auto options = std::make_shared<Options>();
    silicon::Options& measure = options->measure;
    verb->add_option("port", measure.port)->required();
    verb->add_option("--on", measure.on)->check(CLI::IsMember({"cuda", "emulator"}));
    verb->add_option("--out", options->out);
    verb->add_flag("--force", options->force);
    verb->add_option("--case", measure.case_glob);
    verb->add_option("--bench", measure.bench_glob);
    verb->add_option("--repeats", measure.repeats)->check(CLI::Range(1, 1000));
    verb->add_option("--tests", measure.test_glob);
    verb->add_option("--folder", measure.folder);
    verb->add_option("--archive", measure.archive);
    verb->add_option_function<int64_t>(
            "--limit",
            [&measure](const int64_t seconds) { measure.limit = std::chrono::seconds(seconds); })
        ->check(CLI::Range(1, 86400));
    verb->add_option("--part", options->part);
    verb->add_flag("--json", options->json);
    verb->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace ww::cli

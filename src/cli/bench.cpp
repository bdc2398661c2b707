// SPDX-License-Identifier: Apache-2.0
// warpwright bench: a port's kernels beside those of others, timed in turns.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/files.hpp"
#include "bench/bench.hpp"
#include "bench/page.hpp"
#include "cli/verbs.hpp"
#include "references.hpp"

namespace ww::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
    bench::Options bench;
    std::string on = "cuda", json, markdown, plot;
    bool no_peers = false;
};

// A benchmark is long: what cannot be written is told before it.
Status check_file(const std::string& option, const std::string& file) {
    if (file.empty()) return ok();
    std::error_code code;
    const fs::path path = fs::absolute(file);
    if (fs::is_directory(path, code)) return fail(fmt::format("{} {} is a folder; name a file", option, file));
    if (!fs::is_directory(path.parent_path(), code))
        return fail(fmt::format("{} {}: there is no folder {}", option, file, path.parent_path().string()));
    return ok();
}

Status check_files(const Options& options) {
    for (const auto& [option, file] : {std::pair("--json", options.json), std::pair("--markdown", options.markdown),
                                       std::pair("--plot", options.plot)}) {
        WW_TRY(sound, check_file(option, file));
        (void)sound;
    }
    return options.markdown.empty() ? ok() : bench::check_page(options.markdown);
}

Status write(const Options& options, const bench::Report& found) {
    using Form = std::string (*)(const bench::Report&);
    for (const auto& [file, form] : {std::pair(options.json, Form{bench::to_json}), std::pair(options.plot, Form{bench::to_svg})}) {
        if (file.empty()) continue;
        WW_TRY(written, write_file(file, form(found)));
        (void)written;
    }
    return options.markdown.empty() ? ok() : bench::write_page(options.markdown, found);
}

void progress(const std::string& line) {
    fmt::print(stderr, "{}\n", line);
    std::fflush(stderr);
}

// On a GPU: which port it is for.
int choose_port(bench::Options& options) {
    const auto gpu = device::open_cuda();
    if (!gpu) return report(gpu.error(), kNeedsHardware);
    const auto port = bench::port_for(options.port, (*gpu)->info());
    if (!port) return report(port.error(), kNeedsHardware);
    if (*port != options.port)
        progress(fmt::format("{} is for another GPU; for this one it names {}", options.port.string(), display_path(*port)));
    options.port = *port;
    return kDone;
}

int run(Options& options) {
    bench::Options& bench = options.bench;
    if (const Status sound = check_files(options); !sound) return report(sound.error());
    // Bad input is told where there is no GPU, too.
    if (const auto port = bench::check_port(bench.port); !port) return report(port.error());
    if (options.on == "cuda")
        if (const int code = choose_port(bench); code != kDone) return code;
    bench.version = WW_VERSION;
    bench.peers = !options.no_peers;
    bench.libraries = kernels::references();
    bench.plans = kernels::plans();
    bench.on_progress = progress;
    bench.open_device = ladder::open_usual_emulator;
    if (options.on == "cuda") bench.open_device = [](const std::string&, uint32_t) { return device::open_cuda(); };
    const auto found = bench::run(bench);
    if (!found) return report(found.error());
    fmt::print("{}", bench::to_markdown(*found));
    if (const Status written = write(options, *found); !written) return report(written.error());
    return found->good() ? kDone : kCheckFailed;
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
    CLI::App* verb = add_verb(app, "bench");
    auto options = std::make_shared<Options>();
    bench::Options& bench = options->bench;
    verb->add_option("port", bench.port)->required();
    verb->add_option("--on", options->on)->check(CLI::IsMember({"cuda", "emulator"}));
    verb->add_option("--impl", bench.implementation);
    verb->add_option("--case", bench.case_globs)->take_all()->allow_extra_args(false);
    auto* peer = verb->add_option("--peer", bench.peer_globs)->take_all()->allow_extra_args(false);
    verb->add_flag("--no-peers", options->no_peers)->excludes(peer);
    verb->add_option("--rounds", bench.rounds)->check(CLI::Range(1, 1000));
    verb->add_option("--seed", bench.seed);
    verb->add_option("--json", options->json);
    verb->add_option("--markdown", options->markdown);
    verb->add_option("--plot", options->plot);
    verb->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace ww::cli

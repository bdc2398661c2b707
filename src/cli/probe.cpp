// SPDX-License-Identifier: Apache-2.0
// warpwright probe: small experiments, and the gotchas that they prove.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

#include "base/files.hpp"
#include "cli/actions.hpp"
#include "cli/verbs.hpp"
#include "context/sources.hpp"
#include "device/device.hpp"
#include "journal/gotchas.hpp"

namespace ww::cli {
namespace {

struct Options {
    std::string file, port, target, on = "emulator";
    journal::KeepRequest keep;
    std::string pattern;
    bool json = false;
    journal::ProbeOptions probe() const { return {target, on == "cuda"}; }
};

int run(const Options& options) {
    const auto probe = journal::read_probe(options.file);
    if (!probe) return report(probe.error());
    const auto done = journal::run_probe(*probe, options.probe());
    if (!done) return report(done.error());
    if (options.json) {
        fmt::print("{}\n", journal::to_json(*done));
    } else if (done->skipped.empty()) {
        fmt::print("{}", done->printed);
        std::fflush(stdout);
        fmt::print(stderr, "on {}\n", done->device);
    } else {
        fmt::print(stderr, "skipped: {}\n", done->skipped);
    }
    if (done->skipped.empty()) return kDone;
    return done->needs_hardware ? kNeedsHardware : kUsage;
}

int keep(Options& options) {
    const auto port = context::find_port(options.port);
    if (!port) return report(port.error());
    options.keep.port = *port;
    options.keep.file = options.file;
    options.keep.options = options.probe();
    const auto kept = journal::keep(options.keep);
    if (!kept) return report(kept.error());
    if (options.json) fmt::print("{}\n", journal::to_json(*kept));
    else fmt::print("kept {}: {}\n{}{}", kept->name, kept->says, kept->printed, kept->printed.ends_with('\n') ? "" : "\n");
    return kDone;
}

int check(const Options& options) {
    const auto port = context::find_port(options.port);
    if (!port) return report(port.error());
    if (options.on == "cuda")
        if (const auto gpu = device::open_cuda(); !gpu) return report(gpu.error(), kNeedsHardware);
    journal::GotchaCheck request{.port = *port, .pattern = options.pattern, .on_cuda = options.on == "cuda"};
    std::FILE* out = options.json ? stderr : stdout;
    request.on_gotcha = [&](const journal::CheckedGotcha& each) {
        if (options.json && each.status != journal::GotchaStatus::fails) return;
        fmt::print(out, "{}", journal::to_text(each));
        std::fflush(out);
    };
    const auto checked = journal::check_gotchas(request);
    if (!checked) return report(checked.error());
    fmt::print("{}{}", options.json ? journal::to_json(*checked) : journal::to_text(*checked), options.json ? "\n" : "");
    return checked->exit_code();
}

int render(const Options& options) {
    const auto port = context::find_port(options.port);
    if (!port) return report(port.error());
    const auto rendered = journal::render_gotchas(*port);
    if (!rendered) return report(rendered.error());
    if (options.json) fmt::print("{}\n", journal::rendered_json(*port, "gotchas", *rendered));
    else fmt::print("{}: {} gotchas\n", display_path(*port / "README.md"), *rendered);
    return kDone;
}

}  // namespace

void add_probe(CLI::App& app, int& exit_code) {
    CLI::App* verb = add_verb(app, "probe");
    auto options = std::make_shared<Options>();
    const auto device = [&](CLI::App* action) {
        action->add_option("--on", options->on)->check(CLI::IsMember({"emulator", "cuda"}));
        action->add_flag("--json", options->json);
    };
    CLI::App* running = add_action(verb, "run", exit_code, [options] { return run(*options); });
    running->add_option("file", options->file)->required();
    running->add_option("--target", options->target);
    device(running);
    CLI::App* keeping = add_action(verb, "keep", exit_code, [options] { return keep(*options); });
    keeping->add_option("name", options->keep.name)->required();
    keeping->add_option("--says", options->keep.says)->required();
    keeping->add_option("--file", options->file);
    keeping->add_option("--target", options->target);
    keeping->add_option("--port", options->port);
    device(keeping);
    CLI::App* checking = add_action(verb, "check", exit_code, [options] { return check(*options); });
    checking->add_option("port", options->port);
    checking->add_option("--only", options->pattern);
    device(checking);
    CLI::App* rendering = add_action(verb, "render", exit_code, [options] { return render(*options); });
    rendering->add_option("port", options->port);
    rendering->add_flag("--json", options->json);
}

}  // namespace ww::cli

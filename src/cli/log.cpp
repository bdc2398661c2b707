// SPDX-License-Identifier: Apache-2.0
// warpwright log: the optimisation log of a port.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "base/files.hpp"
#include "cli/actions.hpp"
#include "cli/verbs.hpp"
#include "context/sources.hpp"
#include "device/device.hpp"
#include "journal/gotchas.hpp"
#include "journal/log.hpp"
#include "references.hpp"

namespace ww::cli {
namespace {

struct Options {
    std::string port, on = "emulator", verdict;
    journal::StartRequest start;
    journal::FinishRequest finish;
    std::string kernels;
    bool json = false;
};

int print(const journal::Entry& entry, bool json) {
    fmt::print("{}{}", json ? journal::to_json(entry) : journal::to_text(entry), json ? "\n" : "");
    return kDone;
}

int start(Options& options) {
    const auto port = context::find_port(options.port);
    if (!port) return report(port.error());
    options.start.port = *port;
    options.start.kernels = options.kernels;
    options.start.plans = kernels::plans();
    const auto started = journal::start(options.start);
    return started ? print(*started, options.json) : report(started.error());
}

int finish(Options& options) {
    const auto port = context::find_port(options.port);
    if (!port) return report(port.error());
    if (options.on == "cuda")
        if (const auto gpu = device::open_cuda(); !gpu) return report(gpu.error(), kNeedsHardware);
    journal::FinishRequest& request = options.finish;
    request.port = *port;
    request.kept = options.verdict == "kept";
    request.kernels = options.kernels;
    request.on_cuda = options.on == "cuda";
    request.libraries = kernels::references();
    request.plans = kernels::plans();
    const auto finished = journal::finish(request);
    if (!finished) return report(finished.error());
    if (!finished->refused.empty())
        return report({{.message = finished->refused}}, finished->check_failed ? kCheckFailed : kUsage);
    return print(finished->entry, options.json);
}

int show(const Options& options) {
    const auto port = context::find_port(options.port);
    if (!port) return report(port.error());
    const auto log = journal::load_log(*port);
    if (!log) return report(log.error());
    fmt::print("{}{}", options.json ? journal::to_json(*log) : journal::to_text(*log), options.json ? "\n" : "");
    return kDone;
}

int render(const Options& options) {
    const auto port = context::find_port(options.port);
    if (!port) return report(port.error());
    const auto rendered = journal::render_log(*port);
    if (!rendered) return report(rendered.error());
    if (options.json) fmt::print("{}\n", journal::rendered_json(*port, "entries", *rendered));
    else fmt::print("{}: {} entries\n", display_path(*port / "README.md"), *rendered);
    return kDone;
}

}  // namespace

void add_log(CLI::App& app, int& exit_code) {
    CLI::App* verb = add_verb(app, "log");
    auto options = std::make_shared<Options>();
    CLI::App* starting = add_action(verb, "start", exit_code, [options] { return start(*options); });
    starting->add_option("hypothesis", options->start.idea)->required();
    starting->add_option("--predict", options->start.predict)->required();
    CLI::App* finishing = add_action(verb, "finish", exit_code, [options] { return finish(*options); });
    finishing->add_option("verdict", options->verdict)->required()->check(CLI::IsMember({"kept", "reverted"}));
    finishing->add_option("--because", options->finish.because);
    finishing->add_option("--entry", options->finish.entry);
    finishing->add_option("--on", options->on)->check(CLI::IsMember({"emulator", "cuda"}));
    for (CLI::App* each : {starting, finishing}) {
        each->add_option("--kernels", options->kernels);
        each->add_option("--port", options->port);
        each->add_flag("--json", options->json);
    }
    CLI::App* showing = add_action(verb, "show", exit_code, [options] { return show(*options); });
    showing->add_option("port", options->port);
    showing->add_flag("--json", options->json);
    CLI::App* rendering = add_action(verb, "render", exit_code, [options] { return render(*options); });
    rendering->add_option("port", options->port);
    rendering->add_flag("--json", options->json);
}

}  // namespace ww::cli

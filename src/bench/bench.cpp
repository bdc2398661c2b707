// SPDX-License-Identifier: Apache-2.0
#include "bench/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/files.hpp"
#include "base/target.hpp"
#include "base/text.hpp"
#include "bench/case_bench.hpp"
#include "ladder/compare.hpp"
#include "ladder/selection.hpp"
#include "port/reader.hpp"
#include "toolchain/process.hpp"

namespace ww::bench {
namespace {

std::string now() {
    const std::time_t seconds = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

bool is_for(const std::string& target, const device::Info& device) {
    if (target.empty()) return true;
    const auto read = parse_target(target);
    return read && read->is_within(device.sm);
}

Result<port::Port> load(const std::filesystem::path& path) {
    WW_TRY(port, port::load_port(path));
    if (port.bench) return std::move(port);
    return fail(Diagnostic{.file = display_path(port.file),
                           .message = "it has no [bench], which says what is timed and judged (docs/port_toml.md)"});
}

Result<std::vector<std::unique_ptr<Peer>>> pick_peers(const port::Port& port, const Options& options,
                                                      const std::filesystem::path& files) {
    std::vector<std::unique_ptr<Peer>> out;
    std::vector<std::string> names;
    for (const port::Peer& row : port.peers) names.push_back(row.name);
    for (const std::string& glob : options.peer_globs)
        if (std::none_of(names.begin(), names.end(), [&](const std::string& each) { return glob_match(glob, each); }))
            return fail(fmt::format("--peer {} matches none of: {}", glob, join(names, ", ")));
    for (const port::Peer& row : port.peers) {
        const auto wanted = [&](const std::string& glob) { return glob_match(glob, row.name); };
        if (options.peers && (options.peer_globs.empty() ||
                              std::any_of(options.peer_globs.begin(), options.peer_globs.end(), wanted)))
            out.push_back(std::make_unique<Peer>(row, port.folder, files));
    }
    return out;
}

// Of each glob in turn, no case twice.
Result<std::vector<const port::Case*>> pick_cases(const port::Port& port, const std::vector<std::string>& globs) {
    if (globs.empty()) return ladder::pick_bench_cases(port, "");
    std::vector<const port::Case*> out;
    for (const std::string& glob : globs) {
        WW_TRY(picked, ladder::pick_bench_cases(port, glob));
        for (const port::Case* each : picked)
            if (std::find(out.begin(), out.end(), each) == out.end()) out.push_back(each);
    }
    return out;
}

// All load at once; those that are not there leave the list.
void meet(std::vector<std::unique_ptr<Peer>>& peers, const Options& options, Report& report) {
    for (const std::unique_ptr<Peer>& peer : peers) peer->start();
    std::vector<std::unique_ptr<Peer>> there;
    for (std::unique_ptr<Peer>& peer : peers) {
        const auto about = peer->meet();
        PeerState state{.name = peer->row().name};
        (about ? state.about : state.unavailable) = about ? *about : about.error().front().message;
        if (options.on_progress)
            options.on_progress(about ? fmt::format("{}: {}", state.name, state.about)
                                      : fmt::format("{}: unavailable: {}", state.name, state.unavailable));
        report.peers.push_back(std::move(state));
        if (about) there.push_back(std::move(peer));
    }
    peers = std::move(there);
}

}  // namespace

Status check_port(const std::filesystem::path& port) {
    WW_TRY(loaded, load(port));
    (void)loaded;
    return ok();
}

Result<std::filesystem::path> port_for(const std::filesystem::path& path, const device::Info& device) {
    WW_TRY(port, port::load_port(path));
    if (device.kind == "emulator" || is_for(port.target, device)) return path;
    std::vector<std::string> targets{port.target};
    for (const std::filesystem::path& other : port.bench ? port.bench->other_gpus : std::vector<std::filesystem::path>{}) {
        WW_TRY(loaded, port::load_port(other));
        if (is_for(loaded.target, device)) return other;
        targets.push_back(loaded.target);
    }
    return fail(fmt::format("the port is for {}, and {} is {}: run this on a GPU that is one", join(targets, ", "), device.name,
                            device.target));
}

Result<Report> run(const Options& options) {
    WW_CHECK(options.open_device != nullptr, "a benchmark without a device");
    WW_TRY(port, load(options.port));
    WW_TRY(implementations, ladder::pick_implementations(port, options.implementation));
    WW_TRY(cases, pick_cases(port, options.case_globs));
    WW_TRY(files, toolchain::TemporaryFolder::make());
    WW_TRY(peers, pick_peers(port, options, files.path()));
    WW_TRY(device, options.open_device(port.target, 0));
    WW_TRY(text, read_file(port.file));
    Report out{.version = options.version, .port = port.name, .date = now(), .device = device->info(), .rounds = options.rounds,
               .seed = options.seed, .limit = port.bench->relative_l1};
    out.port_hash = ladder::hash_text(std::as_bytes(std::span(text)));
    if (const auto condition = device->condition()) out.driver = condition->driver;
    if (out.device.kind == "emulator") {
        for (const std::unique_ptr<Peer>& peer : peers) out.peers.push_back({peer->row().name, "", "peers run on a GPU"});
        peers.clear();
    }
    meet(peers, options, out);
    ladder::Runner runner(port, *device, options.libraries, options.plans);
    CaseBench bench(port, options, runner, files.path(), peers);
    for (const port::Case* each : cases) {
        WW_TRY(measured, bench.run(ladder::case_on_device(port, *each, out.device), implementations));
        out.cases.push_back(std::move(measured));
    }
    out.kernels = bench.kernels();
    return out;
}

}  // namespace ww::bench

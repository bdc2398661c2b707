// SPDX-License-Identifier: Apache-2.0
// warpwright context: sources that a port learns from, their index, search and outline.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "base/files.hpp"
#include "cli/actions.hpp"
#include "cli/verbs.hpp"
#include "context/index.hpp"
#include "context/list.hpp"
#include "context/outline.hpp"
#include "context/search.hpp"

namespace ww::cli {
namespace {

struct Options {
    context::AddRequest add;
    std::string name, path, port;
    context::SearchRequest search;
    bool json = false;
};

template <class Report>
int print(const Result<Report>& made, bool json) {
    if (!made) return report(made.error());
    fmt::print("{}{}", json ? to_json(*made) : to_text(*made), json ? "\n" : "");
    return kDone;
}

// Runs what needs the port's context.
template <class Run>
int with_context(const Options& options, Run run) {
    const auto port = context::find_port(options.port);
    if (!port) return report(port.error());
    const auto loaded = context::load(*port);
    return loaded ? run(*loaded) : report(loaded.error());
}

int add(Options& options) {
    const auto port = context::find_port(options.port);
    if (!port) return report(port.error());
    options.add.port = *port;
    const auto added = context::add(options.add);
    if (!added) return report(added.error());
    if (added->changed)
        fmt::print(stderr, "warning: {} is not what it was when it was recorded\n", added->from);
    context::Context one{*port, *port / "context", {*added}};
    return print(Result<context::Context>(std::move(one)), options.json);
}

int remove(const Options& options) {
    const auto port = context::find_port(options.port);
    if (!port) return report(port.error());
    const auto removed = context::remove(*port, options.name);
    if (!removed) return report(removed.error());
    fmt::print("{}{}", options.json ? context::removed_json(*removed) : context::removed_text(*removed), options.json ? "\n" : "");
    return kDone;
}

}  // namespace

void add_context(CLI::App& app, int& exit_code) {
    CLI::App* verb = add_verb(app, "context");
    auto options = std::make_shared<Options>();
    const auto action = [&](const char* name, std::function<int()> run) {
        CLI::App* made = add_action(verb, name, exit_code, std::move(run));
        made->add_flag("--json", options->json);
        return made;
    };
    CLI::App* adding = action("add", [options] { return add(*options); });
    adding->add_option("path", options->add.from)->required();
    adding->add_option("--for", options->add.purpose);
    adding->add_option("--name", options->add.name);
    adding->add_option("--commit", options->add.commit);
    CLI::App* listing = action("list", [options] {
        return with_context(*options, [&](const context::Context& context) {
            return print(Result<context::Context>(context), options->json);
        });
    });
    CLI::App* removing = action("remove", [options] { return remove(*options); });
    removing->add_option("name", options->name)->required();
    CLI::App* indexing = action("index", [options] {
        return with_context(*options, [&](const context::Context& context) {
            return print(context::make_index(context), options->json);
        });
    });
    CLI::App* searching = action("search", [options] {
        return with_context(*options, [&](const context::Context& context) {
            return print(context::search(context, options->search), options->json);
        });
    });
    searching->add_option("pattern", options->search.pattern)->required();
    searching->add_flag("--ignore-case", options->search.ignore_case);
    searching->add_option("--limit", options->search.limit)->check(CLI::Range(1, 1000000));
    for (CLI::App* each : {adding, listing, removing, indexing, searching}) each->add_option("--port", options->port);
    CLI::App* outlining = action("outline", [options] { return print(context::outline(options->path), options->json); });
    outlining->add_option("path", options->path)->required();
}

}  // namespace ww::cli

// SPDX-License-Identifier: Apache-2.0
// --help prints the verb's page of docs/cli, and the page must name every option of the verb.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>

#include "base/check.hpp"
#include "base/text.hpp"
#include "cli/actions.hpp"
#include "cli/verbs.hpp"

namespace ww::cli {
namespace {

// "# warpwright doctor: lists what was found" -> "lists what was found".
std::string summary_of(const std::string& page) {
    const std::string_view first = split(page, '\n')[0];
    const size_t colon = first.find(": ");
    WW_CHECK(first.starts_with("# warpwright") && colon != std::string_view::npos,
             "a help page starts with '# warpwright VERB: summary'");
    return std::string(first.substr(colon + 2));
}

// "asm_diff" of `warpwright asm diff`; "warpwright" of the program.
std::string page_name(const CLI::App& app) {
    if (!app.get_parent()) return "warpwright";
    const std::string above = page_name(*app.get_parent());
    return above == "warpwright" ? app.get_name() : above + "_" + app.get_name();
}

bool has_page(const CLI::App& app) {
    return std::any_of(help_pages().begin(), help_pages().end(),
                       [name = page_name(app)](const HelpPage& page) { return page.verb == name; });
}

// The verbs below a verb, or of the program, with their summaries. Actions have none: the page
// of their verb lists them.
std::string list_of_verbs(const CLI::App& app) {
    std::string out;
    for (const CLI::App* sub : verbs_below(app))
        if (has_page(*sub)) out += fmt::format("    {:<11} {}\n", sub->get_name(), sub->get_description());
    return out;
}

// A page that forgets an option is a bug of ours: the help test of the verb then fails.
void check_page_names_options(const CLI::App& app, const std::string& page) {
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty()) continue;  // hidden
        std::string name =
            option->get_lnames().empty() ? option->get_name() : "--" + option->get_lnames().front();
        if (option->get_positional()) name = option->get_name(true);
        WW_CHECK(page.find(name) != std::string::npos,
                 "docs/cli does not mention " + name + " of " + app.get_name());
    }
    for (const CLI::App* action : verbs_below(app)) {
        if (has_page(*action)) continue;
        WW_CHECK(page.find(app.get_name() + " " + action->get_name()) != std::string::npos,
                 "docs/cli does not mention " + app.get_name() + " " + action->get_name());
        check_page_names_options(*action, page);
    }
}

// Stands in for CLI11's own formatter: the page as it is.
class PageFormatter : public CLI::FormatterBase {
  public:
    std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
        while (!has_page(*app)) app = app->get_parent();
        std::string page = help_page(page_name(*app));
        check_page_names_options(*app, page);
        const std::string verbs = list_of_verbs(*app);
        if (verbs.empty()) return page;
        return page + fmt::format("\nVerbs ({} VERB --help tells more):\n{}", command_of(*app), verbs);
    }
};

}  // namespace

std::vector<const CLI::App*> verbs_below(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string command_of(const CLI::App& app) {
    return app.get_parent() ? command_of(*app.get_parent()) + " " + app.get_name() : "warpwright";
}

const std::string& help_page(const std::string& verb) {
    for (const HelpPage& page : help_pages())
        if (page.verb == verb) return page.text;
    WW_CHECK(false, "no help page for " + verb);
    __builtin_unreachable();
}

CLI::App* add_verb(CLI::App& app, const std::string& name) {
    CLI::App* sub = app.add_subcommand(name);
    sub->description(summary_of(help_page(page_name(*sub))));
    sub->formatter(std::make_shared<PageFormatter>());
    return sub;
}

CLI::App* add_action(CLI::App* verb, const std::string& action, int& exit_code, std::function<int()> run) {
    CLI::App* sub = verb->add_subcommand(action);
    verb->require_subcommand(1);
    sub->callback([&exit_code, run = std::move(run)] { exit_code = run(); });
    return sub;
}

void use_page_help(CLI::App& app) { app.formatter(std::make_shared<PageFormatter>()); }

int report(const Diagnostics& diagnostics, int exit_code) {
    std::fputs(format(diagnostics).c_str(), stderr);
    return exit_code;
}

std::filesystem::path own_program() {
    std::error_code code;
    return std::filesystem::read_symlink("/proc/self/exe", code);
}

}  // namespace ww::cli

// SPDX-License-Identifier: Apache-2.0
// How a verb joins the program: one file a verb, one line in verbs.def. See doctor.cpp for a
// small one. CLI11 stays out of this header; it is slow to compile.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"

namespace CLI {
class App;
}

namespace ww::cli {

// Exit codes that every verb keeps to.
constexpr int kDone = 0, kCheckFailed = 1, kUsage = 2, kInternal = 70, kNeedsHardware = 77;

// add_<verb>(app, exit_code) adds the subcommand, its options, and a callback that runs the verb
// and sets exit_code. Options live in a shared_ptr that the callback captures. For a verb below a
// verb, add_<verb>_<sub>, app is the verb's. The callback of a verb that is useful alone and has
// verbs below it runs also when one of these was named: it asks get_subcommands().
#define WW_VERB(name) void add_##name(CLI::App& app, int& exit_code);
#define WW_SUBVERB(verb, name) void add_##verb##_##name(CLI::App& app, int& exit_code);
#include "cli/verbs.def"
#undef WW_SUBVERB
#undef WW_VERB

// A subcommand of app (the program or a verb) whose --help is docs/cli/<verb>.md or
// docs/cli/<verb>_<sub>.md; what a verb's add function starts with.
CLI::App* add_verb(CLI::App& app, const std::string& name);

// The verbs and actions directly below the program or a verb.
std::vector<const CLI::App*> verbs_below(const CLI::App& app);
// "warpwright asm diff"
std::string command_of(const CLI::App& app);

// Prints the diagnostics to stderr and returns exit_code (usage: return report(r.error())).
int report(const Diagnostics& diagnostics, int exit_code = kUsage);

// The file of this program; empty where the system does not tell.
std::filesystem::path own_program();

struct HelpPage {
    std::string verb;  // "asm", "asm_diff"; "warpwright" is the program's own page
    std::string text;  // docs/cli/<verb>.md
};
// Made by cmake from docs/cli/*.md: the program's page first, then verbs.def's order.
const std::vector<HelpPage>& help_pages();
const std::string& help_page(const std::string& verb);

}  // namespace ww::cli

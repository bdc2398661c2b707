// SPDX-License-Identifier: Apache-2.0
// The program: parses the command line, runs one verb, maps every outcome to an exit code.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "base/check.hpp"
#include "base/text.hpp"
#include "cli/verbs.hpp"

namespace ww::cli {

void use_page_help(CLI::App& app);  // help.cpp

namespace {

constexpr const char* kVersion = "warpwright " WW_VERSION;

void add_verbs(CLI::App& app, int& exit_code) {
#define WW_VERB(name) add_##name(app, exit_code);
#define WW_SUBVERB(verb, name) add_##verb##_##name(*app.get_subcommand(#verb), exit_code);
#include "cli/verbs.def"
#undef WW_SUBVERB
#undef WW_VERB
}

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        if (option->get_group().empty()) continue;
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    }
    return names;
}

// What the command line names: the program itself, a verb, or a verb below it; and how many words
// that took.
struct Chosen {
    const CLI::App* app;
    int words;
};
Chosen chosen_verb(const CLI::App& program, int argc, char** argv) {
    Chosen out{&program, 1};
    for (bool found = true; found;) {
        found = false;
        if (out.words >= argc) break;
        for (const CLI::App* sub : verbs_below(*out.app))
            if (sub->get_name() == argv[out.words]) {
                out = {sub, out.words + 1};
                found = true;
                break;
            }
    }
    return out;
}

// What the wrong word was probably meant to be: a verb where there must be one, else an option.
std::string suggestion(const Chosen& chosen, int argc, char** argv) {
    std::vector<std::string> verbs;
    for (const CLI::App* sub : verbs_below(*chosen.app)) verbs.push_back(sub->get_name());
    if (argc == chosen.words && chosen.words > 1 && chosen.app->get_require_subcommand_min() > 0)
        return command_of(*chosen.app) + " needs a verb: " + join(verbs, ", ");
    if (!verbs.empty() && argc > chosen.words && argv[chosen.words][0] != '-') {
        const std::string near = nearest(argv[chosen.words], verbs);
        const bool needs_verb = chosen.app->get_require_subcommand_min() > 0;
        if (needs_verb || !near.empty()) return fmt::format("unknown verb '{}'{}", argv[chosen.words],
                           near.empty() ? "; the verbs are " + join(verbs, ", ")
                                        : fmt::format("; did you mean '{}'?", near));
    }
    const std::vector<std::string> options = option_names(*chosen.app);
    for (int i = chosen.words; i < argc; ++i) {
        const std::string word = std::string(argv[i]).substr(0, std::string(argv[i]).find('='));
        if (word == "--") break;
        if (word.size() < 2 || word[0] != '-') continue;
        if (std::find(options.begin(), options.end(), word) != options.end()) continue;
        const std::string near = nearest(word, options);
        return fmt::format("unknown option '{}'{}", word,
                           near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
    }
    return "";
}

int parse_failure(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    const bool unknown = dynamic_cast<const CLI::ExtrasError*>(&error) ||
                         dynamic_cast<const CLI::RequiredError*>(&error);
    const Chosen chosen = chosen_verb(app, argc, argv);
    std::string message = unknown ? suggestion(chosen, argc, argv) : "";
    if (message.empty()) message = error.what();
    return report({{.message = fmt::format("{} (see {} --help)", message, command_of(*chosen.app))}},
                  kUsage);
}

int run(int argc, char** argv) {
    int exit_code = kDone;
    CLI::App app("", "warpwright");
    use_page_help(app);
    app.set_version_flag("--version", std::string(kVersion));
    app.require_subcommand(1);
    add_verbs(app, exit_code);
    if (argc < 2) {
        std::fputs(app.help().c_str(), stderr);
        return kUsage;
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return parse_failure(app, error, argc, argv);
    }
    return exit_code;
}

}  // namespace
}  // namespace ww::cli

int main(int argc, char** argv) {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        std::fputs("error: warpwright needs a processor with AVX2 and FMA (x86-64-v3)\n", stderr);
        return ww::cli::kUsage;
    }
    try {
        return ww::cli::run(argc, argv);
    } catch (const ww::InternalError& error) {
        std::fprintf(stderr,
                     "error: internal: %s\nThis is a bug of Warpwright; please report it.\n",
                     error.what());
    } catch (const std::exception& error) {
        std::fprintf(stderr,
                     "error: internal: %s\nThis is a bug of Warpwright; please report it.\n",
                     error.what());
    }
    return ww::cli::kInternal;
}

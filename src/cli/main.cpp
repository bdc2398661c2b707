// SPDX-License-Identifier: Apache-2.0
// The program: parses the command line, runs one verb, maps every outcome to an exit code.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

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
#include "cli/verbs.def"
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

// The verb that the command line names, or null.
const CLI::App* chosen_verb(const CLI::App& app, int argc, char** argv) {
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
        if (argc > 1 && sub->get_name() == argv[1]) return sub;
    return nullptr;
}

// What the wrong word was probably meant to be: a verb in first place, an option after it.
std::string suggestion(const CLI::App& app, int argc, char** argv) {
    const CLI::App* verb = chosen_verb(app, argc, argv);
    if (!verb && argc > 1 && argv[1][0] != '-') {
        std::vector<std::string> verbs;
        for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
            verbs.push_back(sub->get_name());
        const std::string near = nearest(argv[1], verbs);
        return fmt::format("unknown verb '{}'{}", argv[1],
                           near.empty() ? "; the verbs are " + join(verbs, ", ")
                                        : fmt::format("; did you mean '{}'?", near));
    }
    const std::vector<std::string> options = option_names(verb ? *verb : app);
    for (int i = verb ? 2 : 1; i < argc; ++i) {
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
    std::string message = unknown ? suggestion(app, argc, argv) : "";
    if (message.empty()) message = error.what();
    const CLI::App* verb = chosen_verb(app, argc, argv);
    const std::string help =
        verb ? fmt::format("warpwright {} --help", verb->get_name()) : "warpwright --help";
    return report({{.message = message + " (see " + help + ")"}}, kUsage);
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

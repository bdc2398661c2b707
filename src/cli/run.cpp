// SPDX-License-Identifier: Apache-2.0
// warpwright run: a CUDA program on the emulator, and what was wrong with it.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/policy.hpp"
#include "base/race_level.hpp"
#include "base/target.hpp"
#include "cli/verbs.hpp"
#include "cudart/program.hpp"
#include "cudart/replacement.hpp"

namespace ww::cli {
namespace {

using nlohmann::json;

struct Options {
    std::vector<std::string> command;
    std::string target, async = "lazy", schedule = "fair", checks = "races", level = "warning", keep, ptx, uninitialised = "garbage";
    uint32_t multiprocessors = 0, threads = 0;
    uint64_t budget = uint64_t{1} << 34;
    bool as_json = false;
};

constexpr const char* kLibrary = "cudart/libcudart.so.13";

Status check_options(const Options& options) {
    if (!options.target.empty()) {
        WW_TRY(target, parse_target(options.target));
        (void)target;
    }
    WW_TRY(completions, parse_async_policy(options.async));
    WW_TRY(order, parse_schedule_policy(options.schedule));
    WW_TRY(level, parse_race_level(options.level));
    (void)completions, (void)order, (void)level;
    if (options.command.empty()) return fail("which program? (see warpwright run --help)");
    if (options.command[0].starts_with("-"))
        return fail(fmt::format("unknown option '{}'; options stand before the program (see warpwright run --help)", options.command[0]));
    std::error_code code;
    if (!options.keep.empty() && !std::filesystem::is_directory(options.keep, code))
        return fail(fmt::format("--keep {}: there is no such folder", options.keep));
    if (!options.ptx.empty()) {
        WW_TRY(replacement, cudart::read_replacement(options.ptx));
        (void)replacement;
    }
    return ok();
}

Result<std::filesystem::path> library() {
    std::error_code code;
    const auto path = own_program().parent_path() / kLibrary;
    if (std::filesystem::exists(path, code)) return path;
    return fail(fmt::format("{} is missing: build the target ww_cudart_runtime", path.string()));
}

cudart::ProgramOptions program_options(const Options& options, const std::filesystem::path& library) {
    cudart::ProgramOptions out{.command = options.command, .library = library, .stdout_to_stderr = options.as_json};
    const auto set = [&](const char* name, const std::string& value) { out.environment.emplace_back(name, value); };
    if (!options.target.empty()) set("WARPWRIGHT_RUN_TARGET", options.target);
    if (!options.keep.empty()) set("WARPWRIGHT_RUN_KEEP", std::filesystem::absolute(options.keep).string());
    if (!options.ptx.empty()) set("WARPWRIGHT_RUN_PTX", std::filesystem::absolute(options.ptx).string());
    set("WARPWRIGHT_RUN_ASYNC", options.async);
    set("WARPWRIGHT_RUN_SCHEDULE", options.schedule);
    set("WARPWRIGHT_RUN_CHECK", options.checks == "none" ? "none" : options.level);
    set("WARPWRIGHT_RUN_UNINITIALISED", options.uninitialised);
    set("WARPWRIGHT_RUN_MULTIPROCESSORS", fmt::format("{}", options.multiprocessors));
    set("WARPWRIGHT_RUN_THREADS", fmt::format("{}", options.threads));
    set("WARPWRIGHT_RUN_BUDGET", fmt::format("{}", options.budget));
    return out;
}

// The events of the program's process, by kind.
json document(const Options& options, const cudart::ProgramRun& run) {
    json out{{"program", options.command}, {"exit_code", run.exit_code}, {"seconds", run.seconds}, {"peak_kib", run.peak_kib},
             {"modules", json::array()}, {"launches", json::array()}, {"races", json::array()}, {"faults", json::array()},
             {"refused", json::array()}, {"replaced", json::array()}};
    if (run.signal != 0) out["signal"] = strsignal(run.signal);
    constexpr std::pair<const char*, const char*> kinds[] = {
        {"module", "modules"}, {"launch", "launches"}, {"race", "races"}, {"fault", "faults"}, {"refused", "refused"},
        {"replaced", "replaced"}};
    for (const std::string& line : run.events) {
        const json event = json::parse(line, nullptr, false);
        if (!event.is_object()) continue;  // cut off when the program died
        if (event.contains("started")) out.update(event["started"]);
        for (const auto& [one, many] : kinds)
            if (event.contains(one)) out[many].push_back(event[one]);
    }
    const bool raced = std::any_of(out["races"].begin(), out["races"].end(), [](const json& race) { return race["level"] == "error"; });
    const bool sound = run.exit_code == 0 && !raced && out["faults"].empty();
    out["verdict"] = !out.contains("target") && out["launches"].empty() ? "not run" : sound ? "pass" : "fail";
    return out;
}

void print_summary(const json& report) {
    uint64_t instructions = 0;
    double seconds = 0;
    for (const json& launch : report["launches"]) {
        instructions += launch["lane_instructions"].get<uint64_t>();
        seconds += launch["seconds"].get<double>();
    }
    if (report.contains("signal")) fmt::print(stderr, "ended by a signal: {}\n", report["signal"].get<std::string>());
    fmt::print(stderr, "{}: exit code {}, {} launches, {} races, {} faults, {} refused calls; {:.1f} M lane instructions in {:.2f} s, {} MiB\n",
               report["verdict"].get<std::string>(), report["exit_code"].get<int>(), report["launches"].size(),
               report["races"].size(), report["faults"].size(), report["refused"].size(), double(instructions) / 1e6, seconds,
               report["peak_kib"].get<uint64_t>() / 1024);
}

int run(const Options& options) {
    if (const Status sound = check_options(options); !sound) return report(sound.error());
    const auto path = library();
    if (!path) return report(path.error());
    const auto ran = cudart::run_program(program_options(options, *path));
    if (!ran) return report(ran.error());
    const json result = document(options, *ran);
    if (options.as_json) fmt::print("{}\n", result.dump(2, ' ', false, json::error_handler_t::replace));
    else print_summary(result);
    if (!options.ptx.empty() && result["replaced"].empty())
        return report({{.message = fmt::format("--ptx {}: no module that {} loaded has a kernel of that name; --keep writes what it loads",
                                               options.ptx, options.command[0])}});
    if (result["verdict"] != "not run") return result["verdict"] == "pass" ? kDone : kCheckFailed;
    return report({{.message = fmt::format("{} asked nothing of libcudart.so.13: compile it with nvcc 13 and -cudart shared", options.command[0])}});
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
    CLI::App* verb = add_verb(app, "run");
    auto options = std::make_shared<Options>();
    verb->add_option("--target", options->target);
    verb->add_option("--async", options->async);
    verb->add_option("--schedule", options->schedule);
    verb->add_option("--check", options->checks)->check(CLI::IsMember({"races", "none"}));
    verb->add_option("--level", options->level);
    verb->add_option("--uninitialised", options->uninitialised)->check(CLI::IsMember({"garbage", "fault"}));
    verb->add_option("--multiprocessors", options->multiprocessors)->check(CLI::Range(1, 1024));
    verb->add_option("--threads", options->threads)->check(CLI::Range(1, 1024));
    verb->add_option("--budget", options->budget)->check(CLI::PositiveNumber);
    verb->add_option("--keep", options->keep);
    verb->add_option("--ptx", options->ptx);
    verb->add_flag("--json", options->as_json);
    verb->prefix_command();
    verb->callback([options, verb, &exit_code] {
        options->command = verb->remaining();
        exit_code = run(*options);
    });
}

}  // namespace ww::cli

// SPDX-License-Identifier: Apache-2.0
// warpwright check: options in, rungs out as they end, exit code.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/files.hpp"
#include "base/target.hpp"
#include "cli/verbs.hpp"
#include "ladder/check.hpp"
#include "references.hpp"

namespace ww::cli {
namespace {

struct Options {
    ladder::CheckOptions check;
    std::string on = "emulator";
    std::string target;  // empty: the port's
    // A loop without end is reported within two minutes or so.
    uint64_t budget = uint64_t{1} << 32;
    std::string async = "lazy", schedule = "fair";
    std::string checks = "races", level = "warning";
    std::string junit;
    bool json = false;
    bool needs_hardware = false;  // the GPU at hand is not one that the port is for
};

Result<std::unique_ptr<device::Device>> open_gpu(const std::string& of_port, bool& needs_hardware) {
    WW_TRY(gpu, device::open_cuda());
    if (of_port.empty()) return std::move(gpu);
    WW_TRY(target, parse_target(of_port));
    const device::Info info = gpu->info();
    needs_hardware = !target.is_within(info.sm);
    if (!needs_hardware) return std::move(gpu);
    return fail(fmt::format("the port is for {}, and {} is {}: leave --on out to emulate it", target.text(),
                            info.name, info.target));
}

ladder::OpenDevice opener(Options& options) {
    if (options.on == "cuda")
        return [&options](const std::string& of_port, uint32_t) {
            return open_gpu(of_port, options.needs_hardware);
        };
    return [given = options.target, budget = options.budget, async = options.async,
            schedule = options.schedule](
               const std::string& of_port,
               uint32_t threads) -> Result<std::unique_ptr<device::Device>> {
        WW_TRY(completions, parse_async_policy(async));
        WW_TRY(order, parse_schedule_policy(schedule));
        return ladder::open_emulator(given.empty() ? of_port : given, {.threads = threads,
                                                                       .instruction_budget = budget,
                                                                       .async = completions,
                                                                       .schedule = order});
    };
}

// What would otherwise be found after the climb, or only where a kernel is compiled.
Status check_options(const Options& options) {
    if (!options.target.empty()) {
        WW_TRY(target, parse_target(options.target));
        (void)target;
    }
    WW_TRY(completions, parse_async_policy(options.async));
    (void)completions;
    WW_TRY(order, parse_schedule_policy(options.schedule));
    (void)order;
    WW_TRY(level, parse_race_level(options.level));
    (void)level;
    if (options.junit.empty()) return ok();
    const std::filesystem::path path = std::filesystem::absolute(options.junit);
    std::error_code code;
    if (std::filesystem::is_directory(path, code))
        return fail(fmt::format("--junit {} is a folder; name a file", options.junit));
    if (!std::filesystem::is_directory(path.parent_path(), code))
        return fail(fmt::format("--junit {}: there is no folder {}", options.junit,
                                path.parent_path().string()));
    return ok();
}

// CLI11 wraps negative numbers and cuts off large ones.
std::string is_uint64(const std::string& text) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole ? std::string() : "'" + text + "' is no integer from 0 to 2^64 - 1";
}

std::string is_budget(const std::string& text) {
    return text == "0" ? "at least 1 instruction" : is_uint64(text);
}

// stdout, unless it is to hold the JSON document: then stderr.
void print_as_it_goes(Options& options) {
    std::FILE* out = options.json ? stderr : stdout;
    const bool terminal = isatty(fileno(out)) == 1;
    if (terminal)
        options.check.on_start = [out](const std::string& rung) {
            fmt::print(out, "  ..  {}", rung);
            std::fflush(out);
        };
    options.check.on_printf = [](const std::string& text) { std::fputs(text.c_str(), stderr); };
    options.check.on_rung = [out, terminal](const ladder::Rung& rung) {
        fmt::print(out, "{}{}\n{}", terminal ? "\r\x1b[K" : "", ladder::rung_line(rung),
                   ladder::failure_text(rung));
        std::fflush(out);
    };
}

int run(Options& options) {
    if (const Status sound = check_options(options); !sound) return report(sound.error());
    options.check.libraries = kernels::references();
    options.check.plans = kernels::plans();
    options.check.open_device = opener(options);
    options.check.races = parse_race_level(options.level).value();
    if (options.checks == "none") options.check.races.reset();
    if (options.on == "cuda") {
        const auto device = device::open_cuda();
        if (!device) return report(device.error(), kNeedsHardware);
    }
    print_as_it_goes(options);
    const auto result = ladder::check(options.check);
    if (!result) return report(result.error(), options.needs_hardware ? kNeedsHardware : kUsage);
    if (options.json)
        fmt::print("{}\n", ladder::to_json(*result));
    else
        fmt::print("{}\n", ladder::summary_text(*result));
    if (!options.junit.empty()) {
        const Status written = write_file(options.junit, ladder::to_junit(*result));
        if (!written) return report(written.error());
    }
    return result->exit_code();
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
    CLI::App* verb = add_verb(app, "check");
    auto options = std::make_shared<Options>();
    verb->add_option("port", options->check.port)->required();
    verb->add_option("--on", options->on)->check(CLI::IsMember({"emulator", "cuda"}));
    verb->add_option("--target", options->target);
    verb->add_option("--impl", options->check.implementation);
    verb->add_option("--case", options->check.case_glob);
    verb->add_option("--rung", options->check.rung_glob);
    verb->add_option("--seed", options->check.seed)->check(is_uint64);
    verb->add_option("--budget", options->budget)->check(is_budget);
    verb->add_option("--async", options->async);
    verb->add_option("--schedule", options->schedule);
    verb->add_option("--check", options->checks)->check(CLI::IsMember({"races", "none"}));
    verb->add_option("--level", options->level);
    verb->add_flag("--keep-going", options->check.keep_going);
    verb->add_flag("--json", options->json);
    verb->add_option("--junit", options->junit);
    verb->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace ww::cli

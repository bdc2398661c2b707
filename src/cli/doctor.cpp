// SPDX-License-Identifier: Apache-2.0
// warpwright doctor: what this machine has, and what a missing part would unlock.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/text.hpp"
#include "cli/verbs.hpp"
#include "toolchain/driver_probe.hpp"
#include "toolchain/found.hpp"
#include "toolchain/parts.hpp"

namespace ww::cli {
namespace {

using toolchain::Found;
using toolchain::Origin;

struct Options {
    bool json = false;
    bool missing = false;
};

struct Checkup {
    toolchain::DriverProbe driver;
    std::vector<Found> parts;
    std::string cache;
    bool cache_writable = false;
    unsigned cores = 0;
};

constexpr const char* kGpuUnlocks =
    "running kernels on the GPU: real timing, and bits to judge "
    "the emulator by (everything else runs on the emulator)";

// The nearest folder that exists says whether the cache can be made.
bool can_write(std::filesystem::path path) {
    std::error_code code;
    while (!std::filesystem::exists(path, code) && path.has_parent_path() &&
           path != path.parent_path())
        path = path.parent_path();
    return ::access(path.c_str(), W_OK) == 0;
}

Checkup examine() {
    Checkup checkup;
    checkup.driver = toolchain::probe_driver();
    checkup.parts = toolchain::survey();
    checkup.cache = toolchain::cache_root().string();
    checkup.cache_writable = can_write(toolchain::cache_root());
    checkup.cores = std::thread::hardware_concurrency();
    return checkup;
}

nlohmann::json to_json(const Checkup& checkup) {
    nlohmann::json gpus = nlohmann::json::array();
    for (const toolchain::Gpu& gpu : checkup.driver.gpus)
        gpus.push_back({{"name", gpu.name},
                        {"sm", gpu.sm},
                        {"memory_bytes", gpu.memory_bytes},
                        {"multiprocessors", gpu.multiprocessors},
                        {"features", gpu.features}});
    nlohmann::json parts = nlohmann::json::array();
    for (const Found& part : checkup.parts)
        parts.push_back({{"component", part.component},
                         {"version", part.version},
                         {"origin", origin_name(part.origin)},
                         {"path", part.path.string()},
                         {"unlocks", part.unlocks}});
    return {{"gpus", gpus},
            {"driver",
             {{"found", checkup.driver.found},
              {"version", checkup.driver.version},
              {"path", checkup.driver.path},
              {"problem", checkup.driver.problem},
              {"unlocks", kGpuUnlocks}}},
            {"toolchain", parts},
            {"cache", {{"path", checkup.cache}, {"writable", checkup.cache_writable}}},
            {"cores", checkup.cores}};
}

void print_row(const std::string& name, const std::string& version, const std::string& origin,
               const std::string& path) {
    fmt::print("{:<10} {:<10} {:<8} {}\n", name, version.empty() && !name.empty() ? "-" : version,
               origin, path);
}

void print_text(const Checkup& checkup) {
    const toolchain::DriverProbe& driver = checkup.driver;
    for (const toolchain::Gpu& gpu : driver.gpus) {
        print_row("GPU", fmt::format("sm_{}", gpu.sm), "device",
                  fmt::format("{}, {} multiprocessors, {} GiB", gpu.name, gpu.multiprocessors,
                              gpu.memory_bytes >> 30));
        print_row("", "", "", "has " + join(gpu.features, "; "));
    }
    if (driver.gpus.empty()) print_row("GPU", "", "missing", driver.problem);
    print_row("driver", driver.version, driver.found ? "system" : "missing",
              driver.found ? driver.path : "");
    for (const Found& part : checkup.parts)
        print_row(part.component, part.version, std::string(origin_name(part.origin)),
                  part.path.string());
    print_row("emulator", WW_VERSION, "built in", fmt::format("{} cores", checkup.cores));
    print_row("cache", "", checkup.cache_writable ? "writable" : "read-only", checkup.cache);

    std::string unlocks;
    if (driver.gpus.empty()) unlocks += fmt::format("    {:<10} {}\n", "GPU", kGpuUnlocks);
    for (const Found& part : checkup.parts)
        if (part.origin == Origin::missing)
            unlocks += fmt::format("    {:<10} {}\n", part.component, part.unlocks);
    if (!unlocks.empty()) fmt::print("\nA missing part would unlock:\n{}", unlocks);
}

// For the launcher: one word a missing part that a wheel would bring; starts no program. A part
// that an environment variable names stays the user's own affair.
void print_missing() {
    for (const toolchain::PartRow& part : toolchain::part_rows()) {
        const Found found = toolchain::find_part(part.name);
        if (part.wheel && found.origin == Origin::missing && found.path.empty()) fmt::print("{}\n", part.name);
    }
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
    const auto options = std::make_shared<Options>();
    CLI::App* verb = add_verb(app, "doctor");
    verb->add_flag("--json", options->json);
    verb->add_flag("--missing", options->missing);
    verb->callback([options, &exit_code] {
        exit_code = kDone;
        if (options->missing) return print_missing();
        const Checkup checkup = examine();
        if (options->json)
            fmt::print("{}\n", to_json(checkup).dump(2));
        else
            print_text(checkup);
    });
}

}  // namespace ww::cli

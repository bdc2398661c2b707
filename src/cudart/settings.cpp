// SPDX-License-Identifier: Apache-2.0
#include "cudart/settings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "base/target.hpp"

namespace ww::cudart {
namespace {

constexpr int kInternal = 70;

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

template <class T>
Status number(const char* name, T& into) {
    const std::string text = variable(name);
    if (text.empty()) return ok();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
    if (error == std::errc{} && end == text.data() + text.size()) return ok();
    return fail(fmt::format("{}: '{}' is no number here", name, text));
}

}  // namespace

Result<Settings> settings_from_environment() {
    Settings settings;
    settings.target = variable("WARPWRIGHT_RUN_TARGET");
    if (!settings.target.empty()) {
        WW_TRY(target, parse_target(settings.target));
        (void)target;
    }
    if (const std::string text = variable("WARPWRIGHT_RUN_ASYNC"); !text.empty()) {
        WW_TRY(policy, parse_async_policy(text));
        settings.async = policy;
    }
    if (const std::string text = variable("WARPWRIGHT_RUN_SCHEDULE"); !text.empty()) {
        WW_TRY(policy, parse_schedule_policy(text));
        settings.schedule = policy;
    }
    if (const std::string text = variable("WARPWRIGHT_RUN_CHECK"); text == "none") {
        settings.races.reset();
    } else if (!text.empty()) {
        WW_TRY(level, parse_race_level(text));
        settings.races = level;
    }
    settings.garbage_in_shared = variable("WARPWRIGHT_RUN_UNINITIALISED") != "fault";
    WW_TRY(multiprocessors, number("WARPWRIGHT_RUN_MULTIPROCESSORS", settings.multiprocessors));
    WW_TRY(threads, number("WARPWRIGHT_RUN_THREADS", settings.threads));
    WW_TRY(budget, number("WARPWRIGHT_RUN_BUDGET", settings.budget));
    (void)multiprocessors, (void)threads, (void)budget;
    settings.report = variable("WARPWRIGHT_RUN_REPORT");
    settings.keep = variable("WARPWRIGHT_RUN_KEEP");
    settings.ptx = variable("WARPWRIGHT_RUN_PTX");
    return settings;
}

void guard(const char* name, const std::function<void()>& body) {
    try {
        body();
    } catch (const std::exception& error) {
        fmt::print(stderr, "error: internal: {}: {}\nThis is a bug of Warpwright; please report it.\n", name, error.what());
        std::fflush(nullptr);
        ::_exit(kInternal);
    }
}

}  // namespace ww::cudart

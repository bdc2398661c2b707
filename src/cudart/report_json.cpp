// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "cudart/report.hpp"
#include "ptx/coverage.hpp"

namespace ww::cudart {
namespace {

using nlohmann::json;

json triple(const device::Dim3& d) { return {d.x, d.y, d.z}; }

std::string text_of(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

json access_json(const device::RaceRecord::Access& access) {
    json out{{"what", access.what}, {"block", triple(access.block)}, {"thread", triple(access.thread)},
             {"instruction", access.instruction}, {"line", access.ptx_line}};
    for (const device::SourceLine& each : access.source) out["source"].push_back(fmt::format("{}:{}", each.file, each.line));
    return out;
}

}  // namespace

// One write a line: a program that dies keeps what was said before.
void Report::line(const std::string& text) {
    if (path_.empty()) return;
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) return;
    const std::string whole = text + "\n";
    if (::write(file, whole.data(), whole.size()) < 0) fmt::print(stderr, "warning: cannot write {}\n", path_);
    ::close(file);
}

void Report::started(const device::Info& device, uint32_t multiprocessors) {
    line(text_of({{"started", {{"target", device.target}, {"multiprocessors", multiprocessors}}}}));
}

void Report::module(const std::string& name, const std::string& ptx) {
    if (path_.empty()) return;
    const auto module = ptx::parse(ptx, name);
    if (!module) return;  // whoever loads it says why
    const ptx::Coverage coverage = ptx::coverage(*module);
    json unsupported = json::array();
    for (const ptx::Unsupported& each : coverage.unsupported) unsupported.push_back(each.text);
    line(text_of({{"module", {{"name", name}, {"instructions", coverage.instructions},
                              {"distinct", coverage.distinct}, {"unsupported", unsupported}}}}));
}

void Report::replaced(const std::string& module, const std::string& file) {
    line(text_of({{"replaced", {{"module", module}, {"file", file}}}}));
}

void Report::launch(const std::string& kernel, const device::Launch& launch, const device::LaunchReport& report) {
    line(text_of({{"launch", {{"kernel", kernel},
                              {"grid", triple(launch.grid)},
                              {"block", triple(launch.block)},
                              {"cluster", triple(launch.cluster)},
                              {"dynamic_shared_bytes", launch.dynamic_shared_bytes},
                              {"lane_instructions", report.lane_instructions},
                              {"seconds", report.seconds}}}}));
}

void Report::race(const device::RaceRecord& race) {
    const std::string text = format(device::race_diagnostic(race));
    fmt::print(stderr, "{}\n", text);
    line(text_of({{"race", {{"level", level_name(race.level)},
                            {"rule", race.rule},
                            {"kernel", race.kernel},
                            {"file", race.file},
                            {"where", race.where},
                            {"missing", race.missing},
                            {"first", access_json(race.first)},
                            {"second", access_json(race.second)},
                            {"count", race.count}}}}));
}

void Report::fault(const std::string& kernel, const Diagnostics& why) {
    fmt::print(stderr, "{}\n", format(why));
    line(text_of({{"fault", {{"kernel", kernel}, {"text", format(why)}}}}));
}

void Report::refused(const std::string& function, const std::string& why) {
    fmt::print(stderr, "error: {}: {}\n", function, why);
    line(text_of({{"refused", {{"function", function}, {"why", why}}}}));
}

}  // namespace ww::cudart

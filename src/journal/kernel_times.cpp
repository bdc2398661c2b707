// SPDX-License-Identifier: Apache-2.0
#include "journal/kernel_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ladder/times.hpp"
#include "port/reader.hpp"

namespace ww::journal {
namespace {

bool has(const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

// Of the port's cases that are marked bench, the first that launches it.
const port::Case* case_of(const port::Port& port, const inspect::Image& image) {
    for (const port::Case& each : port.cases)
        if (each.bench && has(image.cases, each.id)) return &each;
    return nullptr;
}

std::optional<double> time_of(const ladder::CaseTimes& times, const inspect::Image& image) {
    for (const ladder::StageTime& stage : times.stages)
        if (has(image.stages, stage.stage) && !stage.seconds.empty()) return stage.median() * 1e6;
    return std::nullopt;
}

}  // namespace

KernelTimes time_kernels(const std::filesystem::path& path, const std::vector<const inspect::Image*>& images,
                         const ladder::PlanTable& plans, const ladder::OpenDevice& open) {
    KernelTimes out{.microseconds = std::vector<std::optional<double>>(images.size()), .text = ""};
    const auto stopped = [&](const Diagnostics& why) {
        out.text = why.front().message;
        return out;
    };
    const auto port = port::load_port(path);
    if (!port) return stopped(port.error());
    const auto device = open(port->target, 0);
    if (!device) return stopped(device.error());
    out.text = "no case that is marked bench runs it";
    std::map<std::pair<std::string, std::string>, ladder::CaseTimes> known;  // by implementation and case
    for (size_t i = 0; i < images.size(); ++i) {
        const port::Case* c = case_of(*port, *images[i]);
        if (!c) continue;
        const auto key = std::pair(images[i]->implementation, c->id);
        if (!known.count(key)) {
            const auto report = ladder::time_stages({.port = path, .implementation = key.first, .case_glob = key.second,
                                                     .open_device = open, .plans = plans});
            if (!report) return stopped(report.error());
            known[key] = report->cases.at(0);
        }
        const ladder::CaseTimes& times = known[key];
        out.microseconds[i] = time_of(times, *images[i]);
        out.text = times.failure.empty() ? fmt::format("on {}", (*device)->info().name) : times.failure;
    }
    return out;
}

}  // namespace ww::journal

// SPDX-License-Identifier: Apache-2.0
#include "inspect/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.hpp"

namespace ww::inspect {
namespace {

namespace fs = std::filesystem;

// "softmax_plain.sm_90a softmax_plain" -> "softmax_plain.sm_90a".
std::string files_of(const std::string& name) { return name.substr(0, name.find(' ')); }

// port.toml or its folder -> resources.txt.
fs::path file_of(const fs::path& port) {
    std::error_code code;
    return (fs::is_directory(port, code) ? port : port.parent_path()) / "resources.txt";
}

Build builds_of(Request request) {
    return [request = std::move(request)](int trial, const std::set<std::string>& files) mutable -> Result<Allowances> {
        std::error_code code;
        if (!fs::is_directory(request.path, code) && request.path.extension() != ".toml")
            return fail(fmt::format("{}: a port is a folder with a port.toml", request.path.string()));
        request.trial = trial;
        request.files = files;
        WW_TRY(info, asm_info(request));
        return used_by(info);
    };
}

// "softmax_plain.sm_90a softmax_plain" -> "sm_90a".
std::string target_of(const std::string& name) {
    const std::string files = files_of(name);
    return files.substr(files.rfind('.') + 1);
}

}  // namespace

Result<GateReport> judge_trials(const Allowances& recorded, const Build& build) {
    WW_TRY(first, build(0, {}));
    GateReport report = judge(recorded, first);
    for (int trial = 1; trial < kTrials; ++trial) {
        std::set<std::string> files;
        for (const GateReport::Kernel& kernel : report.kernels)
            if (!kernel.exceeded.empty() && recorded.kernels.count(kernel.name) != 0) files.insert(files_of(kernel.name));
        if (files.empty()) break;
        WW_TRY(again, build(trial, files));
        const GateReport other = judge(recorded, again);
        for (GateReport::Kernel& kernel : report.kernels)
            for (const GateReport::Kernel& now : other.kernels)
                if (now.name == kernel.name && now.exceeded.empty() && !kernel.exceeded.empty()) {
                    kernel = now;
                    kernel.notes.push_back(fmt::format("compiled {} times: NVRTC does not always make the same of it", trial + 1));
                }
    }
    return report;
}

Result<Allowances> agreed(const Build& build) {
    WW_TRY(out, build(0, {}));
    std::map<std::string, std::vector<Allowance>> seen;  // of the kernels that no two compilations agree on yet
    for (const auto& [name, used] : out.kernels) seen[name] = {used};
    for (int trial = 1; trial < kTrials && !seen.empty(); ++trial) {
        std::set<std::string> files;
        for (const auto& [name, figures] : seen) files.insert(files_of(name));
        WW_TRY(again, build(trial, files));
        for (const auto& [name, used] : again.kernels) {
            const auto found = seen.find(name);
            if (found == seen.end()) continue;
            if (std::count(found->second.begin(), found->second.end(), used) != 0) {
                out.kernels[name] = used;
                seen.erase(found);
            } else {
                found->second.push_back(used);
            }
        }
    }
    return out;
}

Result<GateReport> gate(const Request& request) {
    const fs::path file = file_of(request.path);
    std::error_code code;
    if (fs::exists(request.path, code) && !fs::exists(file, code))
        return fail(Diagnostic{.file = file.string(),
                               .message = fmt::format("there is none yet: warpwright asm gate {} --record makes it",
                                                      request.path.string())});
    WW_TRY(text, read_file(file));
    WW_TRY(recorded, read_allowances(text, file.string()));
    Request of_targets = request;
    if (request.targets.empty()) {
        std::set<std::string> targets;
        for (const auto& [name, allowance] : recorded.kernels) targets.insert(target_of(name));
        of_targets.targets.assign(targets.begin(), targets.end());
    } else {
        std::erase_if(recorded.kernels, [&](const auto& each) {
            return std::count(request.targets.begin(), request.targets.end(), target_of(each.first)) == 0;
        });
    }
    WW_TRY(report, judge_trials(recorded, builds_of(std::move(of_targets))));
    report.file = file.string();
    return report;
}

Result<fs::path> record_gate(const Request& request) {
    WW_TRY(now, agreed(builds_of(request)));
    const fs::path file = file_of(request.path);
    WW_TRY(written, write_file(file, to_text(now)));
    (void)written;
    return file;
}

std::string to_text(const GateReport& report) {
    std::string out;
    for (const GateReport::Kernel& kernel : report.kernels) {
        out += fmt::format("{} {}\n", kernel.exceeded.empty() ? "ok  " : "MORE", kernel.name);
        for (const Exceeded& each : kernel.exceeded)
            out += fmt::format("       {} {}, recorded are {}\n", each.what, each.now, each.recorded);
        for (const std::string& note : kernel.notes) out += fmt::format("       {}\n", note);
    }
    for (const std::string& note : report.notes) out += fmt::format("note: {}\n", note);
    if (!report.ok())
        out += fmt::format("{} is exceeded; warpwright asm diff shows where, --record takes the new figures\n", report.file);
    return out;
}

std::string to_json(const GateReport& report) {
    using nlohmann::json;
    json kernels = json::array();
    for (const GateReport::Kernel& kernel : report.kernels) {
        json exceeded = json::array();
        for (const Exceeded& each : kernel.exceeded)
            exceeded.push_back({{"what", each.what}, {"recorded", each.recorded}, {"now", each.now}});
        kernels.push_back({{"name", kernel.name}, {"exceeded", exceeded}, {"notes", kernel.notes}});
    }
    return json{{"ok", report.ok()}, {"file", report.file}, {"kernels", kernels}, {"notes", report.notes}}.dump(1);
}

}  // namespace ww::inspect

// SPDX-License-Identifier: Apache-2.0
#include "inspect/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.hpp"

namespace ww::inspect {
namespace {

namespace fs = std::filesystem;

int64_t outermost(const std::vector<Allowance::Loop>& loops) {
    int64_t sum = 0;
    for (const Allowance::Loop& loop : loops)
        if (loop.depth == 1) sum += loop.instructions;
    return sum;
}

bool same_tree(const std::vector<Allowance::Loop>& a, const std::vector<Allowance::Loop>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Allowance::Loop& x, const Allowance::Loop& y) { return x.depth == y.depth; });
}

void judge_number(const std::string& what, int64_t recorded, int64_t now, GateReport::Kernel& out) {
    if (now > recorded)
        out.exceeded.push_back({what, recorded, now});
    else if (now < recorded)
        out.notes.push_back(fmt::format("{} {}, recorded are {}", what, now, recorded));
}

// ptxas does not make the same loop of the same text every time: of sage3_key_bias 1,058 or 1,061 instructions, in an inner loop 404 or
// 409.
constexpr int64_t kSlackOfLoops = 50;  // one more in so many

void judge_loop(const std::string& what, int64_t recorded, int64_t now, GateReport::Kernel& out) {
    if (now > recorded && now <= recorded + recorded / kSlackOfLoops)
        out.notes.push_back(fmt::format("{} {}, recorded are {}: ptxas varies by as much", what, now, recorded));
    else
        judge_number(what, recorded, now, out);
}

// The figure that a kernel on tensor cores lives by; one that has it must have it recorded.
void judge_main_loop(const Allowance& recorded, const Allowance& now, GateReport::Kernel& out) {
    if (!now.main_loop) {
        if (recorded.main_loop) out.notes.push_back("its main loop has no tensor instructions any more");
    } else if (!recorded.main_loop) {
        out.exceeded.push_back({"not recorded: main loop's instructions for 64 tensor instructions", 0, now.main_loop->instructions});
    } else {
        judge_number("main loop's instructions for 64 tensor instructions", recorded.main_loop->instructions,
                     now.main_loop->instructions, out);
        judge_number("MUFU among them", recorded.main_loop->mufu, now.main_loop->mufu, out);
    }
}

GateReport::Kernel judge_kernel(const std::string& name, const Allowance& recorded, const Allowance& now) {
    GateReport::Kernel out{.name = name};
    judge_number("registers", recorded.registers, now.registers, out);
    judge_number("spill_bytes", recorded.spill_bytes, now.spill_bytes, out);
    judge_main_loop(recorded, now, out);
    if (same_tree(recorded.loops, now.loops)) {
        for (size_t i = 0; i < now.loops.size(); ++i)
            judge_loop(fmt::format("instructions of loop {} (depth {})", i, now.loops[i].depth),
                       recorded.loops[i].instructions, now.loops[i].instructions, out);
        return out;
    }
    // No loop of one is a loop of the other: only their sums can be told apart.
    out.notes.push_back(fmt::format("its loops are others: {} were recorded, now there are {}", recorded.loops.size(),
                                    now.loops.size()));
    judge_loop("instructions of all loops", outermost(recorded.loops), outermost(now.loops), out);
    return out;
}

// port.toml or its folder -> resources.txt.
fs::path file_of(const fs::path& port) {
    std::error_code code;
    return (fs::is_directory(port, code) ? port : port.parent_path()) / "resources.txt";
}

Result<AsmInfo> build_port(const Request& request) {
    std::error_code code;
    if (!fs::is_directory(request.path, code) && request.path.extension() != ".toml")
        return fail(fmt::format("{}: a port is a folder with a port.toml", request.path.string()));
    return asm_info(request);
}

// "softmax_plain.sm_90a softmax_plain" -> "sm_90a".
std::string target_of(const std::string& name) {
    const std::string files = name.substr(0, name.find(' '));
    return files.substr(files.rfind('.') + 1);
}

}  // namespace

bool GateReport::ok() const {
    return std::all_of(kernels.begin(), kernels.end(), [](const Kernel& kernel) { return kernel.exceeded.empty(); });
}

GateReport judge(const Allowances& recorded, const Allowances& now) {
    GateReport out;
    for (const auto& [name, used] : now.kernels) {
        const auto found = recorded.kernels.find(name);
        if (found != recorded.kernels.end())
            out.kernels.push_back(judge_kernel(name, found->second, used));
        else
            out.kernels.push_back({.name = name, .exceeded = {{"not recorded: registers", 0, used.registers}}, .notes = {}});
    }
    for (const auto& [name, allowance] : recorded.kernels)
        if (now.kernels.count(name) == 0)
            out.notes.push_back(fmt::format("line {}: the port has no kernel {} any more", allowance.line, name));
    if (recorded.made_with != now.made_with)
        out.notes.push_back(fmt::format("recorded with {}; this is {}", recorded.made_with, now.made_with));
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
    WW_TRY(info, build_port(of_targets));
    WW_TRY(now, used_by(info));
    GateReport report = judge(recorded, now);
    report.file = file.string();
    return report;
}

Result<fs::path> record_gate(const Request& request) {
    WW_TRY(info, build_port(request));
    WW_TRY(now, used_by(info));
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

// SPDX-License-Identifier: Apache-2.0
#include "journal/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/target.hpp"
#include "base/text.hpp"
#include "device/device.hpp"
#include "inspect/asm_info.hpp"
#include "journal/kernel_times.hpp"
#include "ladder/check.hpp"
#include "toolchain/process.hpp"

namespace ww::journal {
namespace {

namespace fs = std::filesystem;

Metrics metrics_of(const inspect::KernelInfo& kernel) {
    Metrics out;
    out["registers"] = kernel.resources.registers;
    if (kernel.resources.stack_known) out["stack_bytes"] = static_cast<double>(kernel.resources.stack_bytes);
    out["shared_bytes"] = static_cast<double>(kernel.resources.static_shared_bytes + kernel.image->shared_bytes);
    if (kernel.ptxas) out["spill_bytes"] = static_cast<double>(kernel.ptxas->spill_store_bytes + kernel.ptxas->spill_load_bytes);
    if (kernel.occupancy) out["blocks_per_sm"] = kernel.occupancy->blocks;
    if (!kernel.analysis) return out;
    out["instructions"] = kernel.analysis->total.total;
    if (!kernel.analysis->main_loop) return out;
    const sass::LoopAnalysis& main = kernel.analysis->loops[*kernel.analysis->main_loop];
    out["loop_instructions"] = main.own.total;
    if (!main.estimate) return out;
    out["issue_slots"] = main.estimate->issue;
    out["bound_cycles"] = main.estimate->cycles();
    return out;
}

std::string git(const fs::path& folder, std::vector<std::string> words) {
    words.insert(words.begin(), {"git", "-C", folder.string()});
    toolchain::Command command;
    command.argv = std::move(words);
    const auto done = toolchain::run_process(command);
    return done && done->exit_code == 0 ? std::string(trim(done->out)) : "";
}

// The log itself is written by what asks, so it makes nothing dirty; nor does what is rendered of it.
std::string commit_of(const fs::path& port) {
    const std::string head = git(port, {"rev-parse", "--short=12", "HEAD"});
    if (head.empty()) return "none";
    const std::string changed = git(port, {"status", "--porcelain", "--", ".", ":!log.txt", ":!README.md", ":!.gitattributes"});
    return head + (changed.empty() ? "" : ", dirty");
}

Result<std::unique_ptr<device::Device>> open_gpu(const std::string& of_port) {
    WW_TRY(gpu, device::open_cuda());
    if (of_port.empty()) return std::move(gpu);
    WW_TRY(target, parse_target(of_port));
    const device::Info info = gpu->info();
    if (target.is_within(info.sm)) return std::move(gpu);
    return fail(fmt::format("the port is for {}, and {} is {}", target.text(), info.name, info.target));
}

// What the log says of times; they are among the metrics where there are any.
std::string add_times(const fs::path& port, const std::vector<const inspect::Image*>& images, const ladder::PlanTable& plans,
                      std::vector<Measured>& kernels) {
    if (!device::open_cuda()) return "no GPU";
    const KernelTimes times =
        time_kernels(port, images, plans, [](const std::string& target, uint32_t) { return open_gpu(target); });
    for (size_t i = 0; i < kernels.size(); ++i)
        if (times.microseconds[i]) kernels[i].metrics["time_us"] = *times.microseconds[i];
    return times.text;
}

}  // namespace

Result<Now> measure(const fs::path& port, const std::string& kernels, const ladder::PlanTable& plans) {
    inspect::Request request;
    request.path = port;
    request.plans = plans;
    WW_TRY(info, inspect::asm_info(request));
    Now out;
    out.toolchain = fmt::format("nvrtc {}, ptxas {}", info.nvrtc_version, info.ptxas_version);
    out.commit = commit_of(port);
    std::vector<std::string> names;
    std::vector<const inspect::Image*> images;
    for (const inspect::KernelInfo& kernel : info.kernels) {
        const std::string name = kernel.image->stem + "." + kernel.target;
        names.push_back(name);
        if (!kernels.empty() && !glob_match(kernels, name) && !glob_match(kernels, kernel.name) &&
            !glob_match(kernels, kernel.image->stem))
            continue;
        out.kernels.push_back({name, metrics_of(kernel)});
        images.push_back(kernel.image.get());
    }
    out.bench = add_times(port, images, plans, out.kernels);
    if (out.kernels.empty())
        return fail(fmt::format("no kernel of {} matches '{}'; it has: {}", port.string(), kernels, join(names, ", ")));
    return out;
}

std::string measured_text(const Measured& measured) {
    std::string out = measured.kernel;
    for (const MetricRow& row : metric_rows())
        if (const auto found = measured.metrics.find(row.name); found != measured.metrics.end())
            out += fmt::format(" {}={}", row.name, number_text(found->second));
    return out;
}

Result<Measured> parse_measured(const std::string& text) {
    Measured out;
    for (const std::string_view word : split_words(text)) {
        if (out.kernel.empty()) {
            out.kernel = std::string(word);
            continue;
        }
        const size_t equals = std::min(word.find('='), word.size());
        const std::string_view digits = word.substr(std::min(equals + 1, word.size()));
        double value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size())
            return fail(fmt::format("'{}' is no METRIC=NUMBER", word));
        out.metrics[std::string(word.substr(0, equals))] = value;
    }
    return out;
}

Result<Verdict> check_port(const fs::path& port, bool on_cuda, const ladder::LibraryTable& libraries,
                           const ladder::PlanTable& plans) {
    ladder::CheckOptions options;
    options.port = port;
    options.libraries = libraries;
    options.plans = plans;
    options.open_device = [on_cuda](const std::string& target, uint32_t threads) -> Result<std::unique_ptr<device::Device>> {
        if (on_cuda) return open_gpu(target);
        return ladder::open_usual_emulator(target, threads);
    };
    WW_TRY(report, ladder::check(options));
    Verdict out;
    out.pass = report.pass;
    out.device = fmt::format("{} ({})", report.device.name, report.device.target);
    out.text = fmt::format("pass, {} rungs", report.rungs.size());
    if (report.pass) return out;
    out.text = "FAIL: " + report.reason;
    for (const ladder::Rung& rung : report.rungs)
        if (rung.status == ladder::RungStatus::fail) {
            out.text = "FAIL at " + rung.name;
            break;
        }
    return out;
}

}  // namespace ww::journal

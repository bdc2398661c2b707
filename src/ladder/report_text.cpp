// SPDX-License-Identifier: Apache-2.0
// A report for people: one line a rung, and below a failed one where the fault is.
#include <fmt/format.h>

#include <cmath>

#include <functional>

#include "base/files.hpp"
#include "ladder/report.hpp"
#include "port/tensor.hpp"

namespace ww::ladder {
namespace {

std::string element_text(const Element& element) {
    return fmt::format("{} is {:.9g} ({}), expected {:.9g}: off by {:.3g}, {:.4g} ulp",
                       port::coordinates_text(element.coordinates), element.got, element.got_bits,
                       element.expected, element.error, element.ulp);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string dim_text(const device::Dim3& dim) {
    return fmt::format("({}, {}, {})", dim.x, dim.y, dim.z);
}

std::string writer_text(const device::WriteRecord& record) {
    std::string out = fmt::format("block {} thread {}: {}", dim_text(record.block),
                                  dim_text(record.thread), record.instruction);
    if (record.ptx_line > 0) out += fmt::format("  (PTX line {})", record.ptx_line);
    return out;
}

// "a.cuh:88, called from b.cu:42"; empty without line info.
std::string source_text(const std::vector<device::SourceLine>& lines) {
    std::string out;
    for (const device::SourceLine& each : lines)
        out += fmt::format("{}{}:{}", out.empty() ? "" : ", called from ", display_path(each.file), each.line);
    return out;
}

std::string definition_text(const device::WriteRecord::Definition& definition) {
    return fmt::format("{}  (PTX line {}){}{}", definition.instruction, definition.ptx_line,
                       definition.source.empty() ? "" : " ", source_text(definition.source));
}

using Line = std::function<void(std::string_view label, const std::string& text)>;

void print_writer(const device::WriteRecord& record, std::string_view what, const Line& line) {
    line(what, writer_text(record));
    if (!record.source_file.empty()) {
        std::vector<device::SourceLine> lines = {{record.source_file, record.source_line}};
        lines.insert(lines.end(), record.call_sites.begin(), record.call_sites.end());
        line("source", source_text(lines));
    }
    for (const device::WriteRecord::Definition& each : record.operands)
        line("operand", definition_text(each));
}

// "a.cu:3, b.cuh:10-12"
std::string ranges_text(const std::vector<LineRange>& ranges) {
    std::string out;
    for (const LineRange& each : ranges) {
        out += fmt::format("{}{}:{}", out.empty() ? "" : ", ", display_path(each.file), each.first);
        if (each.last > each.first) out += fmt::format("-{}", each.last);
    }
    return out;
}

double share(double error, double of) { return of > 0 ? error / of : error > 0 ? HUGE_VAL : 1.0; }

// The worst of all outputs, for the rung's one line.
std::string metrics_text(const std::vector<Metrics>& metrics) {
    std::string out;
    for (const Metrics& each : metrics) {
        out += fmt::format("{}{} ", out.empty() ? "" : "; ", each.output);
        if (!each.baseline_relative_l2)
            out += fmt::format("{:.3g} ulp, L2 {:.2g}", each.max_ulp, each.relative_l2);
        else  // its ulp say nothing: the baseline is off, too
            out += fmt::format("L2 {:.4f}, {:.4f} of the baseline's", each.relative_l2,
                               share(each.relative_l2, *each.baseline_relative_l2));
        if (each.baseline_relative_l1)
            out += fmt::format(", L1 {:.4f}, {:.4f} of {}'s", each.relative_l1,
                               share(each.relative_l1, *each.baseline_relative_l1), each.l1_baseline);
    }
    return out;
}

}  // namespace

std::string_view name(FailureKind kind) {
    switch (kind) {
        case FailureKind::compile: return "compile";
        case FailureKind::arguments: return "arguments";
        case FailureKind::stopped: return "stopped";
        case FailureKind::wrong: return "wrong";
        case FailureKind::not_a_number: return "not_a_number";
        case FailureKind::unwritten: return "unwritten";
        case FailureKind::out_of_bounds: return "out_of_bounds";
        case FailureKind::input_modified: return "input_modified";
        case FailureKind::not_deterministic: return "not_deterministic";
        case FailureKind::taps_change_output: return "taps_change_output";
        case FailureKind::race: return "race";
        case FailureKind::reference: return "reference";
    }
    return "";
}

std::string_view name(RungStatus status) {
    switch (status) {
        case RungStatus::pass: return "pass";
        case RungStatus::fail: return "fail";
        case RungStatus::skip: return "skip";
    }
    return "";
}

int CheckReport::exit_code() const {
    if (pass) return 0;
    for (const Rung& rung : rungs)
        if (rung.failure && rung.failure->kind == FailureKind::arguments) return 2;
    return 1;
}

std::string rung_line(const Rung& rung) {
    const std::string_view word = rung.status == RungStatus::fail ? "FAIL" : name(rung.status);
    std::string detail = metrics_text(rung.metrics);
    if (rung.status == RungStatus::fail && rung.failure)
        detail = first_line(rung.failure->message);
    else if (!rung.note.empty())
        detail += (detail.empty() ? "" : "; ") + rung.note;
    std::string line = fmt::format("{:4}  {:44} {:7.3f} s", word, rung.name, rung.seconds);
    return detail.empty() ? line : line + "  " + detail;
}

std::string failure_text(const Rung& rung) {
    std::string races;
    for (const device::RaceRecord& race : rung.races) races += format(device::race_diagnostic(race)) + "\n";
    if (!rung.failure) return races;
    const Failure& failure = *rung.failure;
    std::string out;
    const Line line = [&](std::string_view label, const std::string& text) {
        out += fmt::format("      {:12} {}\n", label, text);
    };
    if (!failure.stage.empty()) line("stage", failure.stage);
    if (!failure.tap.empty()) {
        const bool only = failure.tap == failure.output;
        line("tap", failure.tap + (only ? "" : " (the first bad one in program order)"));
    }
    if (failure.tap_first) line("first in tap", element_text(*failure.tap_first));
    if (failure.tap_written_by) print_writer(*failure.tap_written_by, "tap written", line);
    if (!failure.output.empty()) line("output", failure.output);
    if (!failure.case_id.empty()) line("case", failure.case_id);
    if (failure.first) line("first wrong", element_text(*failure.first));
    if (failure.worst) line("worst", element_text(*failure.worst));
    if (!failure.tile.empty())
        line("tile", fmt::format("{} of {} elements, from {}", port::coordinates_text(failure.tile),
                                 port::coordinates_text(failure.tile_extents),
                                 port::coordinates_text(failure.tile_first)));
    if (failure.written_by) print_writer(*failure.written_by, "written by", line);
    for (const Failure::OtherWriter& each : failure.other_writers) {
        line("elsewhere", fmt::format("{} of {} was written",
                                      port::coordinates_text(each.coordinates), each.tensor));
        print_writer(each.written_by, "by", line);
    }
    for (const device::WriteRecord::Definition& each : failure.stores)
        line("in its text", definition_text(each));
    if (!failure.without_code.empty())
        line("no code", ranges_text(failure.without_code) + ": is something missing there?");
    // The first error's message is already the rung's line; notes and warnings are not.
    const bool more = !failure.diagnostics.empty() &&
                      (failure.diagnostics.front().severity != Severity::error ||
                       !failure.diagnostics.front().file.empty() || failure.diagnostics.size() > 1 ||
                       failure.message != first_line(failure.message));
    if (more) out += format(failure.diagnostics) + "\n";
    return out + races;
}

bool on_silicon(const device::Info& device) { return device.kind == "cuda" || device.sm <= 90; }

std::string summary_text(const CheckReport& report) {
    size_t passed = 0, failed = 0, skipped = 0;
    for (const Rung& rung : report.rungs) {
        passed += rung.status == RungStatus::pass;
        failed += rung.status == RungStatus::fail;
        skipped += rung.status == RungStatus::skip;
    }
    std::string out = fmt::format("{} on {} ({}{}): {}, {} rungs passed", report.port,
                                  report.device.name, report.device.target,
                                  on_silicon(report.device) ? "" : "; emulated, not yet run on silicon",
                                  report.pass ? "pass" : "FAIL", passed);
    if (failed) out += fmt::format(", {} failed", failed);
    if (skipped) out += fmt::format(", {} skipped", skipped);
    if (report.not_run) out += fmt::format(", {} not run", report.not_run);
    out += fmt::format(", {:.2f} s", report.seconds);
    if (!report.pass && failed == 0) out += "; " + report.reason;
    return out;
}

}  // namespace ww::ladder

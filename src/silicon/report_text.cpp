// SPDX-License-Identifier: Apache-2.0
// The report as a Markdown file: a conclusion, a section for each part, and the data as JSON.
#include <fmt/format.h>

#include <algorithm>

#include "silicon/report.hpp"

namespace ww::silicon {
namespace {

constexpr size_t kMostLines = 40;  // of a list of failures; the data has them all

std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::string out;
    for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
    return out.size() > 400 ? out.substr(0, 400) + " ..." : out;
}

std::string state_of(const Part& part) {
    if (!part.started) return part.why.empty() ? "not run" : "not run: " + one_line(part.why);
    return part.why.empty() ? "" : "no result: " + one_line(part.why);
}

size_t passed_cases(const Report& report) {
    return static_cast<size_t>(
        std::count_if(report.ladder.begin(), report.ladder.end(),
                      [](const LadderCase& each) { return each.done() && each.pass; }));
}

std::string ladder_conclusion(const Report& report) {
    if (report.ladder.empty()) return "not run";
    std::string out = fmt::format("{} of {} cases pass", passed_cases(report),
                                  report.ladder.size() + report.ladder_left_out);
    for (const LadderCase& each : report.ladder) {
        if (each.done() && each.pass) continue;
        return out + fmt::format("; the first that does not: {} ({})", each.id,
                                 each.done() ? each.failed.empty()
                                                   ? "nothing was compared"
                                                   : one_line(each.failed[0].name + ": " +
                                                              each.failed[0].message)
                                             : state_of(each));
    }
    return out;
}

std::string tests_conclusion(const Tests& tests) {
    if (!tests.done()) return state_of(tests);
    return fmt::format("{} pass bit for bit, {} fail, {} cannot run here", tests.count("passed"),
                       tests.count("failed"), tests.count("skipped"));
}

std::string fidelity_conclusion(const Fidelity& fidelity) {
    if (!fidelity.done()) return state_of(fidelity);
    uint64_t results = 0, wrong = 0;
    for (const Fidelity::Row& row : fidelity.rows) results += row.results, wrong += row.mismatches;
    return fmt::format(
        "{} rows, {} results with fresh operands, {} differ from the emulator's; {} tests did not "
        "run",
        fidelity.rows.size(), results, wrong, fidelity.failures.size());
}

std::string rate_text(std::optional<double> amount, double seconds, double unit) {
    return amount && seconds > 0 ? fmt::format("{:.1f}", *amount / seconds / unit) : "";
}

std::string times_conclusion(const Times& times) {
    if (!times.done()) return state_of(times);
    if (!times.report.timed()) return "no times: the emulator has no clock of a device";
    std::string out;
    for (const ladder::CaseTimes& each : times.report.cases) {
        const ladder::StageTime* longest = each.longest();
        if (!longest) continue;
        const std::string rate = rate_text(each.flops, longest->median(), 1e12);
        out +=
            fmt::format("{}{} {}: {} {:.1f} us{}, all stages {:.1f} us", out.empty() ? "" : "; ",
                        each.implementation, each.case_id, longest->stage, longest->median() * 1e6,
                        rate.empty() ? "" : fmt::format(" ({} TFLOP/s)", rate), each.total() * 1e6);
    }
    return out;
}

std::string machine_section(const Report& report) {
    std::string out = "\n## Machine\n\n| what | |\n|---|---|\n";
    const auto row = [&](std::string_view what, const std::string& value) {
        out += fmt::format("| {} | {} |\n", what, value);
    };
    row("device",
        fmt::format("{}, {} ({})", report.device.name, report.device.target, report.device.kind));
    if (!report.device.driver.empty()) row("driver", "CUDA " + report.device.driver);
    if (report.device.kind == "cuda") {
        row("multiprocessors", std::to_string(report.device.multiprocessors));
        row("memory",
            fmt::format("{:.1f} GiB", static_cast<double>(report.device.memory_bytes) / (1 << 30)));
    }
    row("shared memory of a block", fmt::format("{} bytes", report.device.max_shared_bytes));
    for (const auto& [part, version] : report.toolchain) row(part, version);
    row("warpwright", report.version);
    row("date", report.date);
    return out;
}

std::string hex(uint32_t bits) { return fmt::format("{:08x}", bits); }

std::string sums_section(const Report& report) {
    std::string out =
        "\n## Sums of block-scaled products (F)\n\n"
        "`mma.sync m16n8k64 mxf4nvf4` on operands whose sums differ for every number F of fraction "
        "bits that are kept below the\n"
        "largest term. The emulator assumes F = 35; another published source says 25.\n\n";
    if (!report.sums.done()) return out + state_of(report.sums) + "\n";
    const SumsReport& sums = report.sums.report;
    out += sums.conclusion() + ".\n\n| outputs that differ from the model with | ";
    std::string line = "|---|", counts = fmt::format("| of {} | ", sums.outputs);
    for (int f = 23; f <= 37; ++f) {
        out += fmt::format("F = {} | ", f);
        line += "---:|";
        counts += fmt::format("{} | ", sums.differing[static_cast<size_t>(f)]);
    }
    out += "\n" + line + "\n" + counts + "\n\n";
    const Product graded = graded_product();
    const Outputs of_25 = expected(graded, 25), of_35 = expected(graded, 35);
    for (int column = 0; column < kColumns; ++column) {
        out += fmt::format("{}: {}\n\n| j | measured | F = 25 | F = 35 |\n|---:|---|---|---|\n",
                           column + 1, way_of_column(column));
        for (int row = 0; row < kRows; ++row) {
            const size_t at = static_cast<size_t>(row * kColumns + column);
            out += fmt::format("| {} | {} | {} | {} |\n", 23 + row, hex(sums.measured[at]),
                               hex(of_25[at]), hex(of_35[at]));
        }
        out += "\n";
    }
    return out;
}

std::string ladder_section(const Report& report) {
    std::string out =
        "\n## Ladder\n\n`warpwright check` of each case in a process of its own, taps included.\n\n"
        "| case | verdict | rungs | failed | skipped | relative L2 error, and the reference's "
        "|\n|---|---|---:|---:|---:|---|\n";
    for (const LadderCase& each : report.ladder) {
        std::string errors;
        for (const Accuracy& of : each.accuracy)
            if (of.rung.starts_with("chain/"))
                errors += fmt::format(
                    "{}{} {:.5g}{}", errors.empty() ? "" : ", ", of.tensor, of.relative_l2,
                    of.of_reference ? fmt::format(" ({:.5g})", *of.of_reference) : "");
        const std::string verdict = !each.done() ? state_of(each) : each.pass ? "pass" : "FAIL";
        out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", each.id, verdict, each.rungs,
                           each.failed.size(), each.skipped, errors);
    }
    if (report.ladder_left_out > 0)
        out += fmt::format("\n{} further cases were left out: several before them did not end.\n",
                           report.ladder_left_out);
    for (const LadderCase& each : report.ladder)
        for (size_t i = 0; i < std::min(each.failed.size(), kMostLines); ++i)
            out += fmt::format("{}- `{}`: {}\n", i == 0 ? "\n" : "", each.failed[i].name,
                               one_line(each.failed[i].message));
    return out;
}

std::string tests_section(std::string_view title, const std::string& what, const Tests& tests,
                          bool list_all) {
    std::string out = fmt::format("\n## {}\n\n{}\n\n{}.\n", title, what, tests_conclusion(tests));
    if (!tests.started) return out;
    size_t shown = 0;
    for (const TestOutcome& each : tests.tests) {
        if (each.outcome != "failed" || ++shown > kMostLines) continue;
        out += fmt::format("{}- `{}`: {}\n", shown == 1 ? "\n" : "", each.name,
                           one_line(each.message));
    }
    if (shown > kMostLines) out += fmt::format("- and {} more, in the data\n", shown - kMostLines);
    if (!list_all) return out;
    out += "\n| test | outcome |\n|---|---|\n";
    for (const TestOutcome& each : tests.tests)
        if (each.outcome != "skipped") out += fmt::format("| {} | {} |\n", each.name, each.outcome);
    return out;
}

std::string fidelity_section(const Fidelity& fidelity) {
    std::string out = fmt::format(
        "\n## Fidelity\n\nThe emulator of this architecture beside the device, instruction by "
        "instruction (`warpwright "
        "fidelity`).\n\n{}.\n",
        fidelity_conclusion(fidelity));
    for (const auto* list : {&fidelity.mismatches, &fidelity.failures})
        for (size_t i = 0; i < std::min(list->size(), kMostLines); ++i)
            out += fmt::format("{}- {}\n", i == 0 ? "\n" : "", one_line((*list)[i]));
    return out;
}

std::string times_section(const Times& times) {
    std::string out =
        "\n## Times\n\nKernels alone, by events around each of a row of launches, with warm "
        "caches. TFLOP/s: the port's flops over "
        "the time of that stage alone, and of all stages. GB/s: the tensors that the kernel is "
        "given, each once.\n\n";
    if (!times.done() || !times.report.timed()) out += times_conclusion(times) + "\n";
    for (const ladder::CaseTimes& each : times.report.cases) {
        out += fmt::format("\n{} {} ({})\n", each.implementation, each.case_id, each.sizes);
        if (!each.failure.empty()) out += fmt::format("\nstopped: {}\n", one_line(each.failure));
        const ladder::StageTime* longest = each.longest();
        if (!longest) continue;
        out +=
            "\n| stage | kernel | min us | median us | TFLOP/s | GB/s "
            "|\n|---|---|---:|---:|---:|---:|\n";
        for (const ladder::StageTime& stage : each.stages)
            out += fmt::format("| {} | {} | {:.2f} | {:.2f} | {} | {} |\n", stage.stage,
                               stage.kernel, stage.min() * 1e6, stage.median() * 1e6,
                               &stage == longest ? rate_text(each.flops, stage.median(), 1e12) : "",
                               rate_text(stage.bytes, stage.median(), 1e9));
        out += fmt::format("| all | | | {:.2f} | {} | {} |\n", each.total() * 1e6,
                           rate_text(each.flops, each.total(), 1e12),
                           rate_text(each.bytes, each.total(), 1e9));
    }
    return out;
}

}  // namespace

std::string to_markdown(const Report& report) {
    std::string out =
        fmt::format("# {} on {}\n\n`warpwright silicon`, {}. Send this file back as it is.\n",
                    report.port, report.device.name, report.date);
    out += "\n## Conclusion\n\n";
    if (report.device.kind != "cuda") out += "- **Emulated: nothing here was seen on silicon.**\n";
    out += fmt::format(
        "- F: {}\n", report.sums.done() ? report.sums.report.conclusion() : state_of(report.sums));
    out += fmt::format("- ladder: {}\n", ladder_conclusion(report));
    out += fmt::format("- instructions that had never run on silicon: {}\n",
                       tests_conclusion(report.fresh));
    out += fmt::format("- instructions recorded on another GPU: {}\n",
                       tests_conclusion(report.recorded));
    out += fmt::format("- fidelity: {}\n", fidelity_conclusion(report.fidelity));
    out += fmt::format("- times: {}\n", times_conclusion(report.times));
    out += machine_section(report);
    out += sums_section(report);
    out += ladder_section(report);
    out += tests_section("Instructions that had never run on silicon",
                         "Instruction tests that the GPU of the recordings lacks, against bits "
                         "that were computed independently.",
                         report.fresh, true);
    out += tests_section("Instructions recorded on another GPU",
                         fmt::format("Judged by: {}. Another generation may differ in what is not "
                                     "specified (tensor-core sums, approximate functions).",
                                     report.recorded_on),
                         report.recorded, false);
    out += fidelity_section(report.fidelity);
    out += times_section(report.times);
    return out + fmt::format("\n## Data\n\n```json\n{}\n```\n", to_json(report));
}

}  // namespace ww::silicon

// SPDX-License-Identifier: Apache-2.0
// The report as Markdown whose tables are aligned, so that it reads in a terminal, too.
#include <fmt/format.h>

#include <algorithm>

#include "bench/report.hpp"

namespace ww::bench {
namespace {

using Row = std::vector<std::string>;

std::string table_text(const std::vector<Row>& rows) {
    std::vector<size_t> widths;
    for (const Row& row : rows)
        for (size_t i = 0; i < row.size(); ++i) {
            if (i == widths.size()) widths.push_back(3);
            widths[i] = std::max(widths[i], row[i].size());
        }
    std::string out;
    const auto line = [&](const Row& row) {
        for (size_t i = 0; i < widths.size(); ++i) out += fmt::format("| {:<{}} ", i < row.size() ? row[i] : "", widths[i]);
        out += "|\n";
    };
    line(rows.front());
    for (const size_t width : widths) out += fmt::format("|{:-<{}}", "", width + 2);
    out += "|\n";
    for (size_t i = 1; i < rows.size(); ++i) line(rows[i]);
    return out;
}

// All that took part in some case, in the order of their first.
std::vector<std::string> names_of(const Report& report, bool peers) {
    std::vector<std::string> out;
    for (const Case& c : report.cases)
        for (const Subject& each : c.subjects)
            if ((each.kind == Subject::Kind::peer) == peers && std::find(out.begin(), out.end(), each.name) == out.end())
                out.push_back(each.name);
    return out;
}

std::string speed_text(const Case& c, const Subject& subject) {
    if (subject.state == Subject::State::unavailable || subject.state == Subject::State::failed)
        return std::string(name(subject.state));
    std::string out;
    const double seconds = median(subject.seconds);
    if (const double tflops = c.tflops(subject); tflops > 0)
        out = fmt::format("{:.0f}", tflops);
    else if (seconds > 0)
        out = fmt::format("{:.1f} us", seconds * 1e6);
    if (seconds > 0 && subject.bound) out += fmt::format(", {:.0f} %", 100 * *subject.bound / seconds);
    if (subject.accuracy) out += fmt::format("{}({:.4f})", out.empty() ? "" : " ", subject.accuracy->relative_l1);
    if (subject.state != Subject::State::good) out += fmt::format(" {}", name(subject.state));
    return out;
}

std::string speeds(const Report& report) {
    std::vector<std::string> names = names_of(report, false);
    for (const std::string& each : names_of(report, true)) names.push_back(each);
    std::vector<Row> rows{{"case"}};
    rows[0].insert(rows[0].end(), names.begin(), names.end());
    for (const Case& c : report.cases) {
        Row row{c.id};
        for (const std::string& each : names) {
            const Subject* subject = c.find(each);
            row.push_back(subject ? speed_text(c, *subject) : "");
        }
        rows.push_back(std::move(row));
    }
    return table_text(rows);
}

std::string ratio_text(const Ratio& ratio) {
    const Interval& is = ratio.interval;
    const std::string verdict(name(ratio.judgement.verdict));
    if (!is.known) return fmt::format("{:.2f} {}", is.middle, verdict);
    return fmt::format("{:.2f} [{:.2f}, {:.2f}] {}", is.middle, is.low, is.high, verdict);
}

std::string ratios(const Report& report, const std::string& ours) {
    const std::vector<std::string> peers = names_of(report, true);
    std::vector<Row> rows{{"case", "fastest peer"}};
    rows[0].insert(rows[0].end(), peers.begin(), peers.end());
    for (const Case& c : report.cases) {
        const Subject* subject = c.find(ours);
        if (!subject) continue;
        const Ratio* fastest = c.against_fastest(*subject);
        Row row{c.id, fastest ? fmt::format("{:.2f} ({})", fastest->interval.middle, fastest->peer) : ""};
        for (const std::string& peer : peers) {
            const auto found = std::find_if(c.ratios.begin(), c.ratios.end(),
                                            [&](const Ratio& each) { return each.ours == ours && each.peer == peer; });
            row.push_back(found == c.ratios.end() ? "" : ratio_text(*found));
        }
        rows.push_back(std::move(row));
    }
    return table_text(rows);
}

std::string clocks(const Report& report) {
    uint32_t low = 0, high = 0;
    double watts = 0;
    for (const Case& c : report.cases)
        for (size_t i = 1; i < c.conditions.size(); ++i) {  // the first is before any work
            const device::Condition& each = c.conditions[i];
            low = low ? std::min(low, each.sm_mhz) : each.sm_mhz;
            high = std::max(high, each.sm_mhz);
            watts = std::max(watts, each.watts);
        }
    return high ? fmt::format(", SM clock {} to {} MHz, up to {:.0f} W", low, high, watts) : "";
}

std::string notes(const Report& report) {
    std::string out;
    for (const PeerState& each : report.peers)
        out += each.unavailable.empty() ? fmt::format("- {}: {}\n", each.name, each.about)
                                        : fmt::format("- {}: unavailable: {}\n", each.name, each.unavailable);
    std::vector<std::string> told;
    for (const Case& c : report.cases)
        for (const Subject& each : c.subjects) {
            if (each.state == Subject::State::good) continue;
            // The same reason in every case is one line.
            const std::string what = fmt::format("{}: {}: {}", each.name, name(each.state), each.why);
            if (std::find(told.begin(), told.end(), what) != told.end()) continue;
            told.push_back(what);
            out += fmt::format("- {}: {}\n", c.id, what);
        }
    return out;
}

}  // namespace

std::string to_markdown(const Report& report) {
    const std::string driver = report.driver.empty() ? "" : fmt::format(", driver {}", report.driver);
    std::string out = fmt::format("{} on {}{}, {}; {} rounds{}\n\n", report.port, report.device.name, driver, report.date,
                                  report.rounds, clocks(report));
    out += "TFLOP/s (median), share of the hardware's bound, relative L1 error in brackets:\n\n" + speeds(report);
    if (report.timed() && !names_of(report, true).empty())
        for (const std::string& ours : names_of(report, false))
            out += fmt::format("\n{}: times as fast, with the 95 % interval of paired rounds:\n\n{}", ours, ratios(report, ours));
    const std::string more = notes(report);
    return more.empty() ? out : out + "\n" + more;
}

}  // namespace ww::bench

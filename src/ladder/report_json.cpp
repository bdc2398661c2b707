// SPDX-License-Identifier: Apache-2.0
// A report for programs: JSON (numbers that are not finite become strings) and JUnit XML.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ladder/report.hpp"

namespace ww::ladder {
namespace {

using nlohmann::json;

// JSON has no infinity and no NaN; a null would not say which it was.
json number(double value) {
    if (std::isfinite(value)) return value;
    return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

json to_json(const Element& element) {
    return {{"coordinates", element.coordinates}, {"got", number(element.got)},
            {"got_bits", element.got_bits},       {"expected", number(element.expected)},
            {"error", number(element.error)},     {"ulp", number(element.ulp)}};
}

json to_json(const Metrics& metrics) {
    json out = {{"output", metrics.output},
                {"elements", metrics.elements},
                {"mismatches", metrics.mismatches},
                {"max_abs", number(metrics.max_abs)},
                {"max_ulp", number(metrics.max_ulp)},
                {"relative_l1", number(metrics.relative_l1)},
                {"relative_l2", number(metrics.relative_l2)},
                {"cosine", number(metrics.cosine)},
                {"gain", number(metrics.gain)},
                {"rmse", number(metrics.rmse)},
                {"output_hash", metrics.output_hash}};
    if (metrics.baseline_max_abs) out["baseline_max_abs"] = number(*metrics.baseline_max_abs);
    if (metrics.baseline_relative_l2)
        out["baseline_relative_l2"] = number(*metrics.baseline_relative_l2);
    if (metrics.baseline_relative_l1) {
        out["baseline_relative_l1"] = number(*metrics.baseline_relative_l1);
        out["l1_baseline"] = metrics.l1_baseline;
    }
    return out;
}

json to_json(const device::Dim3& dim) { return json::array({dim.x, dim.y, dim.z}); }

json to_json(const std::vector<device::SourceLine>& lines) {
    json out = json::array();
    for (const device::SourceLine& each : lines)
        out.push_back({{"file", each.file}, {"line", each.line}});
    return out;
}

json to_json(const std::vector<device::WriteRecord::Definition>& definitions) {
    json out = json::array();
    for (const device::WriteRecord::Definition& each : definitions)
        out.push_back({{"instruction", each.instruction},
                       {"ptx_line", each.ptx_line},
                       {"source", to_json(each.source)}});
    return out;
}

json to_json(const device::WriteRecord& record) {
    return {{"block", to_json(record.block)},
            {"thread", to_json(record.thread)},
            {"kernel", record.kernel},
            {"instruction", record.instruction},
            {"ptx_line", record.ptx_line},
            {"source_file", record.source_file},
            {"source_line", record.source_line},
            {"call_sites", to_json(record.call_sites)},
            {"operands", to_json(record.operands)}};
}

json to_json(const device::WaitRecord& wait) {
    json out = {{"block", to_json(wait.block)},
                {"warp", wait.warp},
                {"lanes", fmt::format("{:#010x}", wait.lanes)},
                {"kind", wait.kind},
                {"waits", wait.waits},
                {"instruction", wait.instruction},
                {"ptx_line", wait.ptx_line},
                {"source", to_json(wait.source)},
                {"could_release", wait.releasers}};
    if (wait.barrier) out["barrier"] = *wait.barrier;
    if (const auto& mbarrier = wait.mbarrier)
        out["mbarrier"] = {{"name", mbarrier->name},
                           {"address", mbarrier->address},
                           {"phase", mbarrier->phase},
                           {"arrivals_pending", mbarrier->arrivals_pending},
                           {"arrivals_expected", mbarrier->arrivals_expected},
                           {"bytes_pending", mbarrier->bytes_pending}};
    return out;
}

json to_json(const Failure& failure) {
    json out = {{"kind", name(failure.kind)}, {"message", failure.message},
                {"stage", failure.stage},     {"tap", failure.tap},
                {"output", failure.output},   {"case", failure.case_id}};
    if (failure.first) out["first"] = to_json(*failure.first);
    if (failure.worst) out["worst"] = to_json(*failure.worst);
    if (failure.tap_first) out["tap_first"] = to_json(*failure.tap_first);
    if (!failure.tile.empty())
        out["tile"] = {{"index", failure.tile},
                       {"first", failure.tile_first},
                       {"extents", failure.tile_extents}};
    if (failure.written_by) out["written_by"] = to_json(*failure.written_by);
    if (failure.tap_written_by) out["tap_written_by"] = to_json(*failure.tap_written_by);
    json others = json::array();
    for (const Failure::OtherWriter& each : failure.other_writers)
        others.push_back({{"tensor", each.tensor},
                          {"coordinates", each.coordinates},
                          {"written_by", to_json(each.written_by)}});
    if (!others.empty()) out["other_writers"] = std::move(others);
    if (!failure.stores.empty()) out["stores"] = to_json(failure.stores);
    json ranges = json::array();
    for (const LineRange& each : failure.without_code)
        ranges.push_back({{"file", each.file}, {"first", each.first}, {"last", each.last}});
    if (!ranges.empty()) out["without_code"] = std::move(ranges);
    json waits = json::array();
    for (const device::WaitRecord& each : failure.waits) waits.push_back(to_json(each));
    if (!waits.empty()) out["waits"] = std::move(waits);
    json diagnostics = json::array();
    for (const Diagnostic& each : failure.diagnostics)
        diagnostics.push_back({{"severity", severity_name(each.severity)},
                               {"file", each.file},
                               {"line", each.line},
                               {"col", each.col},
                               {"message", each.message}});
    out["diagnostics"] = std::move(diagnostics);
    return out;
}

json to_json(const device::RaceRecord::Access& access) {
    return {{"what", access.what},
            {"block", to_json(access.block)},
            {"thread", to_json(access.thread)},
            {"instruction", access.instruction},
            {"ptx_line", access.ptx_line},
            {"source", to_json(access.source)}};
}

json to_json(const device::RaceRecord& race) {
    return {{"level", level_name(race.level)},
            {"rule", race.rule},
            {"kernel", race.kernel},
            {"file", race.file},
            {"where", race.where},
            {"missing", race.missing},
            {"first", to_json(race.first)},
            {"second", to_json(race.second)},
            {"count", race.count}};
}

json to_json(const Rung& rung) {
    json races = json::array();
    for (const device::RaceRecord& each : rung.races) races.push_back(to_json(each));
    json metrics = json::array();
    for (const Metrics& each : rung.metrics) metrics.push_back(to_json(each));
    return {{"name", rung.name},
            {"status", name(rung.status)},
            {"seconds", rung.seconds},
            {"note", rung.note},
            {"metrics", std::move(metrics)},
            {"races", std::move(races)},
            {"failure", rung.failure ? to_json(*rung.failure) : json(nullptr)}};
}

std::string xml_escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\n': case '\t': out += c; break;
            // XML 1.0 has no way to write other control characters.
            default: out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
        }
    }
    return out;
}

}  // namespace

std::string to_json(const CheckReport& report) {
    json rungs = json::array();
    for (const Rung& rung : report.rungs) rungs.push_back(to_json(rung));
    const json out = {{"verdict", report.pass ? "pass" : "fail"},
                      {"reason", report.reason},
                      {"port", report.port},
                      {"device",
                       {{"kind", report.device.kind},
                        {"name", report.device.name},
                        {"target", report.device.target},
                        {"on_silicon", on_silicon(report.device)},
                        {"driver", report.device.driver}}},
                      {"seed", report.seed},
                      {"seconds", report.seconds},
                      {"not_run", report.not_run},
                      {"rungs", std::move(rungs)}};
    // Bytes of a kernel's source that are no UTF-8 must not lose the report.
    return out.dump(2, ' ', false, json::error_handler_t::replace);
}

std::string to_junit(const CheckReport& report) {
    size_t failures = 0, skipped = 0;
    for (const Rung& rung : report.rungs) {
        failures += rung.status == RungStatus::fail;
        skipped += rung.status == RungStatus::skip;
    }
    std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    out += fmt::format(
        "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n",
        xml_escaped(report.port), report.rungs.size(), failures, skipped, report.seconds);
    for (const Rung& rung : report.rungs) {
        out += fmt::format("  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                           xml_escaped(report.port), xml_escaped(rung.name), rung.seconds);
        if (rung.status == RungStatus::pass) {
            out += "/>\n";
            continue;
        }
        out += ">\n";
        if (rung.status == RungStatus::skip)
            out += fmt::format("    <skipped message=\"{}\"/>\n", xml_escaped(rung.note));
        else if (rung.failure)
            out += fmt::format("    <failure type=\"{}\" message=\"{}\">{}</failure>\n",
                               name(rung.failure->kind), xml_escaped(rung.failure->message),
                               xml_escaped(failure_text(rung)));
        out += "  </testcase>\n";
    }
    return out + "</testsuite>\n";
}

}  // namespace ww::ladder

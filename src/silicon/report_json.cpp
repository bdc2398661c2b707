// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "silicon/parts.hpp"
#include "silicon/report.hpp"

namespace ww::silicon {
namespace {

using nlohmann::json;

json start_of(const Part& part) {
    return {{"state", !part.started      ? "not run"
                      : part.why.empty() ? "done"
                                         : "no result"},
            {"why", part.why}};
}

json to_json(const Sums& sums) {
    json out = start_of(sums);
    if (!sums.done()) return out;
    const Product graded = graded_product();
    const auto words = [](const Outputs& outputs) {
        json list = json::array();
        for (const uint32_t each : outputs) list.push_back(fmt::format("{:08x}", each));
        return list;
    };
    json differing = json::object();
    for (int f = kLeastBits; f <= kMostBits; ++f)
        differing[std::to_string(f)] = sums.report.differing[static_cast<size_t>(f)];
    out.update({{"fitting", sums.report.fitting()},
                {"conclusion", sums.report.conclusion()},
                {"outputs", sums.report.outputs},
                {"differing", differing},
                {"measured", words(sums.report.measured)},
                {"f25", words(expected(graded, 25))},
                {"f35", words(expected(graded, 35))}});
    return out;
}

json to_json(const LadderCase& c) {
    json out = start_of(c), failed = json::array(), accuracy = json::array();
    for (const FailedRung& each : c.failed)
        failed.push_back({{"rung", each.name}, {"message", each.message}});
    for (const Accuracy& each : c.accuracy)
        accuracy.push_back(
            {{"rung", each.rung},
             {"tensor", each.tensor},
             {"hash", each.hash},
             {"relative_l2", each.relative_l2},
             {"cosine", each.cosine},
             {"max_ulp", each.max_ulp},
             {"reference_relative_l2", each.of_reference ? json(*each.of_reference) : json()}});
    out.update({{"case", c.id},
                {"pass", c.pass},
                {"rungs", c.rungs},
                {"skipped", c.skipped},
                {"failed", failed},
                {"accuracy", accuracy}});
    return out;
}

json to_json(const Tests& tests) {
    json out = start_of(tests), list = json::array();
    for (const TestOutcome& each : tests.tests) {
        json one = {{"name", each.name}, {"outcome", each.outcome}, {"output_xxh64", each.hash}};
        if (each.outcome == "failed") one["message"] = each.message;
        list.push_back(std::move(one));
    }
    out.update({{"passed", tests.count("passed")},
                {"failed", tests.count("failed")},
                {"skipped", tests.count("skipped")},
                {"tests", list}});
    return out;
}

json to_json(const Fidelity& fidelity) {
    json out = start_of(fidelity), rows = json::array();
    for (const Fidelity::Row& row : fidelity.rows)
        rows.push_back({{"syntax", row.syntax},
                        {"sets", row.sets},
                        {"results", row.results},
                        {"mismatches", row.mismatches}});
    out.update(
        {{"rows", rows}, {"mismatches", fidelity.mismatches}, {"failures", fidelity.failures}});
    return out;
}

}  // namespace

size_t Tests::count(std::string_view outcome) const {
    return static_cast<size_t>(
        std::count_if(tests.begin(), tests.end(),
                      [&](const TestOutcome& each) { return each.outcome == outcome; }));
}

bool Report::good() const {
    const auto sound = [](const Part& part, bool passed) {
        return part.needless() || (part.done() && passed);
    };
    const bool cases = std::all_of(ladder.begin(), ladder.end(),
                                   [](const LadderCase& each) { return each.done() && each.pass; });
    const bool timed =
        std::all_of(times.report.cases.begin(), times.report.cases.end(),
                    [](const ladder::CaseTimes& each) { return each.failure.empty(); });
    return sound(sums, sums.done() && sums.report.fitting().size() == 1) &&
           sound(fresh, fresh.count("failed") == 0) && sound(recorded, true) && !ladder.empty() &&
           ladder_left_out == 0 && cases && sound(times, timed) &&
           sound(fidelity, fidelity.mismatches.empty() && fidelity.failures.empty());
}

std::string to_json(const Report& report) {
    json ladder = json::array(), toolchain = json::object();
    for (const LadderCase& each : report.ladder) ladder.push_back(to_json(each));
    for (const auto& [part, version] : report.toolchain) toolchain[part] = version;
    json times = start_of(report.times);
    if (report.times.done()) times.update(json::parse(times_document(report.times.report)));
    const json out = {{"schema", "warpwright.silicon/1"},
                      {"verdict", report.good() ? "pass" : "fail"},
                      {"version", report.version},
                      {"date", report.date},
                      {"port", report.port},
                      {"device",
                       {{"kind", report.device.kind},
                        {"name", report.device.name},
                        {"target", report.device.target},
                        {"driver", report.device.driver},
                        {"multiprocessors", report.device.multiprocessors},
                        {"memory_bytes", report.device.memory_bytes}}},
                      {"toolchain", toolchain},
                      {"sums", to_json(report.sums)},
                      {"ladder", ladder},
                      {"ladder_left_out", report.ladder_left_out},
                      {"new_tests", to_json(report.fresh)},
                      {"recorded_on", report.recorded_on},
                      {"recorded_tests", to_json(report.recorded)},
                      {"fidelity", to_json(report.fidelity)},
                      {"times", times}};
    return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace ww::silicon

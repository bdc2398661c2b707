// SPDX-License-Identifier: Apache-2.0
// The report as JSON; docs/bench.md names the fields.
#include <cmath>

#include <nlohmann/json.hpp>

#include "bench/report.hpp"

namespace ww::bench {
namespace {

using nlohmann::ordered_json;

ordered_json number(double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr); }

ordered_json optional_number(const std::optional<double>& value) { return value ? number(*value) : ordered_json(nullptr); }

ordered_json accuracy_json(const std::optional<Accuracy>& accuracy) {
    if (!accuracy) return nullptr;
    return {{"rows", accuracy->rows}, {"relative_l1", number(accuracy->relative_l1)},
            {"relative_l2", number(accuracy->relative_l2)}, {"cosine", number(accuracy->cosine)},
            {"gain", number(accuracy->gain)}, {"max_abs", number(accuracy->max_abs)}, {"finite", accuracy->finite}};
}

ordered_json subject_json(const Case& c, const Subject& subject) {
    const double seconds = median(subject.seconds), tflops = c.tflops(subject);
    return {{"name", subject.name}, {"kind", name(subject.kind)}, {"implementation", subject.implementation},
            {"state", name(subject.state)}, {"why", subject.why}, {"launches", subject.launches}, {"seconds", subject.seconds},
            {"median", seconds > 0 ? ordered_json(seconds) : ordered_json(nullptr)},
            {"tflops", tflops > 0 ? ordered_json(tflops) : ordered_json(nullptr)}, {"bound", optional_number(subject.bound)},
            {"accuracy", accuracy_json(subject.accuracy)}};
}

ordered_json ratio_json(const Ratio& ratio) {
    return {{"ours", ratio.ours}, {"peer", ratio.peer}, {"ratio", number(ratio.interval.middle)},
            {"low", number(ratio.interval.low)}, {"high", number(ratio.interval.high)},
            {"verdict", name(ratio.judgement.verdict)}, {"why", ratio.judgement.why}};
}

ordered_json case_json(const Case& c) {
    ordered_json out{{"case", c.id}, {"sizes", c.sizes}, {"flops", optional_number(c.flops)}, {"sets", c.sets}};
    for (const char* key : {"subjects", "ratios", "conditions"}) out[key] = ordered_json::array();
    for (const Subject& each : c.subjects) out["subjects"].push_back(subject_json(c, each));
    for (const Ratio& each : c.ratios) out["ratios"].push_back(ratio_json(each));
    for (const device::Condition& each : c.conditions)
        out["conditions"].push_back({{"sm_mhz", each.sm_mhz}, {"memory_mhz", each.memory_mhz}, {"celsius", each.celsius},
                                     {"watts", number(each.watts)}});
    return out;
}

}  // namespace

std::string to_json(const Report& report) {
    const device::Info& device = report.device;
    ordered_json out{
        {"verb", "bench"}, {"version", report.version}, {"port", report.port}, {"port_hash", report.port_hash},
        {"date", report.date}, {"rounds", report.rounds}, {"seed", report.seed}, {"relative_l1_limit", number(report.limit)},
        {"device", {{"name", device.name}, {"target", device.target}, {"driver", report.driver}, {"cuda", device.driver},
                    {"multiprocessors", device.multiprocessors}, {"clock_hz", number(device.clock_hz)},
                    {"l2_bytes", device.l2_bytes}, {"bytes_per_second", number(device.memory_bytes_per_second)}}}};
    for (const char* key : {"peers", "kernels", "cases"}) out[key] = ordered_json::array();
    for (const PeerState& each : report.peers)
        out["peers"].push_back({{"name", each.name}, {"about", each.about}, {"unavailable", each.unavailable}});
    for (const KernelHash& each : report.kernels)
        out["kernels"].push_back({{"implementation", each.implementation}, {"case", each.case_id}, {"stage", each.stage},
                                  {"entry", each.entry}, {"image", each.image}});
    for (const Case& each : report.cases) out["cases"].push_back(case_json(each));
    return out.dump(1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace ww::bench

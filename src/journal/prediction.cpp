// SPDX-License-Identifier: Apache-2.0
#include "journal/prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.hpp"

namespace ww::journal {
namespace {

constexpr std::string_view kForms = "write METRIC -10%, METRIC +8, METRIC 456->0 or METRIC same";

std::optional<double> number(std::string_view text) {
    text = trim(text);
    if (text.starts_with("+")) text.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

Result<Prediction> parse_one(std::string_view item) {
    Prediction out;
    out.text = std::string(item);
    const size_t space = std::min(item.find_first_of(" \t"), item.size());
    out.metric = std::string(item.substr(0, space));
    const std::string_view change = trim(item.substr(space));
    std::vector<std::string> known;
    for (const MetricRow& row : metric_rows()) known.emplace_back(row.name);
    if (std::find(known.begin(), known.end(), out.metric) == known.end()) {
        const std::string near = nearest(out.metric, known);
        return fail(fmt::format("'{}' is no metric; {}", out.metric,
                                near.empty() ? "the metrics are " + join(known, ", ") : "did you mean '" + near + "'?"));
    }
    const size_t arrow = change.find("->");
    std::optional<double> value;
    if (change == "same") {
        out.kind = Prediction::Kind::difference;
        value = 0.0;
    } else if (arrow != std::string_view::npos) {
        out.kind = Prediction::Kind::result;
        out.from = number(change.substr(0, arrow));
        if (out.from) value = number(change.substr(arrow + 2));
    } else if (change.ends_with('%')) {
        value = number(change.substr(0, change.size() - 1));
        if (value) *value /= 100;
    } else if (change.starts_with("+") || change.starts_with("-")) {
        out.kind = Prediction::Kind::difference;
        value = number(change);
    }
    if (!value) return fail(fmt::format("'{}' is no prediction: {}", item, kForms));
    out.value = *value;
    return out;
}

}  // namespace

const std::vector<MetricRow>& metric_rows() {
    static const std::vector<MetricRow> kRows{
        {"registers", "of a thread"},
        {"spill_bytes", "stores and loads of registers to local memory, of a thread, as ptxas counts"},
        {"stack_bytes", "of a thread"},
        {"shared_bytes", "of a block: static and dynamic"},
        {"blocks_per_sm", "blocks that fit a multiprocessor"},
        {"instructions", "of the whole kernel"},
        {"loop_instructions", "of the main loop: the shortest of those with most tensor instructions, else the longest"},
        {"issue_slots", "of the main loop, for one warp and iteration"},
        {"bound_cycles", "of the main loop: the unit that takes longest"},
        {"time_us", "of a launch, on a GPU"},
    };
    return kRows;
}

Result<std::vector<Prediction>> parse_predictions(std::string_view text) {
    std::vector<Prediction> out;
    for (const std::string_view item : split(text, ',')) {
        if (trim(item).empty()) continue;
        WW_TRY(one, parse_one(trim(item)));
        for (const Prediction& other : out)
            if (other.metric == one.metric) return fail(fmt::format("'{}' is predicted twice", one.metric));
        out.push_back(std::move(one));
    }
    if (out.empty()) return fail(fmt::format("say what moves and by how much: --predict \"registers -10%\" ({})", kForms));
    return out;
}

std::string number_text(double value) {
    if (value == std::floor(value) && std::fabs(value) < 1e15) return fmt::format("{:.0f}", value);
    return fmt::format("{:.4g}", value);
}

Judged judge(const Prediction& prediction, const std::string& kernel, const Metrics& before, const Metrics& after) {
    Judged out{prediction, kernel, std::nullopt, std::nullopt, false, false};
    if (const auto found = before.find(prediction.metric); found != before.end()) out.before = found->second;
    if (const auto found = after.find(prediction.metric); found != after.end()) out.after = found->second;
    out.measured = out.before && out.after;
    if (!out.measured) return out;
    double wanted = prediction.value;
    if (prediction.kind == Prediction::Kind::relative) wanted *= *out.before;
    if (prediction.kind == Prediction::Kind::result) wanted -= *out.before;
    const double got = *out.after - *out.before;
    out.missed = std::fabs(got - wanted) > 0.5 * std::fabs(wanted) + 1e-9;
    return out;
}

std::string Judged::text() const {
    if (!measured) return fmt::format("{} not measured", prediction.metric);
    std::string change = "same";
    if (*after != *before)
        change = *before != 0 ? fmt::format("{:+.1f}%", 100 * (*after - *before) / *before) : fmt::format("{:+.4g}", *after - *before);
    return fmt::format("{} {} -> {} ({})", prediction.metric, number_text(*before), number_text(*after), change);
}

}  // namespace ww::journal

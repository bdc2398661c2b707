// SPDX-License-Identifier: Apache-2.0
// Predictions, "registers -10%, spill_bytes 456->0": what moves and by how much; and whether what was
// measured bears them out.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ww::journal {

// What one kernel's build or run is measured by; missing ones were not measured.
using Metrics = std::map<std::string, double, std::less<>>;

struct MetricRow {
    std::string_view name, meaning;
};
// Every metric that a prediction may name.
const std::vector<MetricRow>& metric_rows();

struct Prediction {
    enum class Kind { relative, difference, result };
    std::string metric;
    Kind kind = Kind::relative;
    double value = 0;           // -0.1 for -10%; -8 for -8; 0 for 456->0
    std::optional<double> from;  // result: the value that was thought to be there
    std::string text;            // as written
};

// Items between commas; each METRIC N%, METRIC +N, METRIC -N, METRIC A->B or METRIC same.
Result<std::vector<Prediction>> parse_predictions(std::string_view text);

struct Judged {
    Prediction prediction;
    std::string kernel;
    std::optional<double> before, after;
    bool missed = false;    // off by more than half of what was predicted
    bool measured = false;
    std::string text() const;  // "registers 32 -> 29 (-9.4%)"
};
Judged judge(const Prediction& prediction, const std::string& kernel, const Metrics& before, const Metrics& after);

std::string number_text(double value);  // "32", "0.5"

}  // namespace ww::journal

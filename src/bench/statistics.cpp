// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.hpp"

namespace ww::bench {
namespace {

constexpr double kConfidence = 0.95;

// How many of the smallest and of the largest values lie outside the interval, plus one: the largest rank whose interval
// still has the confidence. 0: none has.
size_t rank_of(size_t count) {
    double outside = 0, binomial = std::pow(0.5, static_cast<double>(count));  // P(0 of count)
    size_t rank = 0;
    for (size_t i = 0; i < count / 2; ++i) {
        outside += 2 * binomial;
        if (1 - outside < kConfidence) break;
        rank = i + 1;
        binomial *= static_cast<double>(count - i) / static_cast<double>(i + 1);
    }
    return rank;
}

}  // namespace

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const size_t middle = values.size() / 2;
    return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Interval median_interval(std::vector<double> values) {
    Interval out{.middle = median(values)};
    out.low = out.high = out.middle;
    const size_t rank = rank_of(values.size());
    if (rank == 0) return out;
    std::sort(values.begin(), values.end());
    out.low = values[rank - 1];
    out.high = values[values.size() - rank];
    out.known = true;
    return out;
}

Interval ratio_interval(const std::vector<double>& ours, const std::vector<double>& theirs) {
    WW_CHECK(ours.size() == theirs.size(), "rounds of a pair");
    std::vector<double> ratios;
    for (size_t i = 0; i < ours.size(); ++i) ratios.push_back(theirs[i] / ours[i]);
    return median_interval(std::move(ratios));
}

std::string_view name(Verdict verdict) {
    switch (verdict) {
        case Verdict::faster: return "faster";
        case Verdict::slower: return "slower";
        case Verdict::same: return "same";
        case Verdict::inconclusive: return "inconclusive";
        case Verdict::incorrect: return "incorrect";
        case Verdict::invalid: return "invalid";
    }
    return "";
}

Judgement judge(const Interval& ratio, size_t rounds) {
    if (!ratio.known)
        return {Verdict::inconclusive, fmt::format("{} rounds; a confidence interval takes {}", rounds, kFewestRounds)};
    if (ratio.low > 1 + kTold) return {Verdict::faster, ""};
    if (ratio.high < 1 - kTold) return {Verdict::slower, ""};
    if (ratio.low >= 1 - kSame && ratio.high <= 1 + kSame) return {Verdict::same, ""};
    return {Verdict::inconclusive,
            fmt::format("the ratio lies between {:.3f} and {:.3f}: more rounds would tell", ratio.low, ratio.high)};
}

}  // namespace ww::bench

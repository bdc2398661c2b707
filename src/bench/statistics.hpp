// SPDX-License-Identifier: Apache-2.0
// What rounds of times say: medians, a confidence interval without assumptions about the noise, a verdict.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ww::bench {

double median(std::vector<double> values);  // 0 of none

// The median, and where it lies with a probability of at least 95 %.
struct Interval {
    double middle = 0, low = 0, high = 0;
    bool known = false;  // false: too few values for one
};
// From order statistics: the ranks by the binomial distribution. It takes six values.
constexpr size_t kFewestRounds = 6;
Interval median_interval(std::vector<double> values);
// Of theirs[i] / ours[i]: above 1 ours is faster. Both were timed in round i.
Interval ratio_interval(const std::vector<double>& ours, const std::vector<double>& theirs);

enum class Verdict { faster, slower, same, inconclusive, incorrect, invalid };
std::string_view name(Verdict verdict);

// A ratio within 1 % is not told from 1; within 2 % it is the same.
constexpr double kTold = 0.01, kSame = 0.02;
struct Judgement {
    Verdict verdict = Verdict::inconclusive;
    std::string why;  // inconclusive: why
};
Judgement judge(const Interval& ratio, size_t rounds);

}  // namespace ww::bench

// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.hpp"

#include <gtest/gtest.h>

namespace ww::bench {
namespace {

std::vector<double> ramp(size_t count) {
    std::vector<double> out;
    for (size_t i = count; i > 0; --i) out.push_back(static_cast<double>(i));  // not sorted
    return out;
}

TEST(Statistics, TheMedianIsInTheMiddle) {
    EXPECT_EQ(median({}), 0);
    EXPECT_EQ(median({3, 1, 100}), 3);
    EXPECT_EQ(median({4, 1, 100, 2}), 3);
}

// Ranks of the 95 % interval of a median as tables of the sign test have them.
TEST(Statistics, IntervalsAreThoseOfTheBinomialDistribution) {
    EXPECT_FALSE(median_interval(ramp(5)).known);
    for (const auto& [count, low] : std::vector<std::pair<size_t, double>>{{6, 1}, {8, 1}, {9, 2}, {11, 2}, {12, 3}, {15, 4}, {20, 6}, {25, 8}}) {
        const Interval is = median_interval(ramp(count));
        ASSERT_TRUE(is.known) << count;
        EXPECT_EQ(is.low, low) << count;
        EXPECT_EQ(is.high, static_cast<double>(count) + 1 - low) << count;
    }
    EXPECT_TRUE(median_interval(ramp(1000)).known);
}

TEST(Statistics, RatiosAreOfTheSameRound) {
    // Both slow down together by a factor of eight: the ratio does not move.
    const Interval is = ratio_interval({1, 2, 4, 8, 4, 2}, {1.5, 3, 6, 12, 6, 3});
    EXPECT_DOUBLE_EQ(is.low, 1.5);
    EXPECT_DOUBLE_EQ(is.high, 1.5);
}

TEST(Statistics, AVerdictNeedsTheWholeInterval) {
    const auto verdict = [](double low, double high, bool known = true) {
        return judge({.middle = (low + high) / 2, .low = low, .high = high, .known = known}, 9).verdict;
    };
    EXPECT_EQ(verdict(1.02, 1.5), Verdict::faster);
    EXPECT_EQ(verdict(0.5, 0.98), Verdict::slower);
    EXPECT_EQ(verdict(0.985, 1.015), Verdict::same);
    EXPECT_EQ(verdict(1.005, 1.015), Verdict::same);
    EXPECT_EQ(verdict(0.9, 1.1), Verdict::inconclusive);
    EXPECT_EQ(verdict(1.0, 1.5), Verdict::inconclusive);
    EXPECT_EQ(verdict(2, 2, false), Verdict::inconclusive);
    EXPECT_EQ(judge({.middle = 2, .low = 2, .high = 2}, 3).why, "3 rounds; a confidence interval takes 6");
}

}  // namespace
}  // namespace ww::bench

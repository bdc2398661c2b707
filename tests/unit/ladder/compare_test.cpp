// SPDX-License-Identifier: Apache-2.0
// compare: what each tolerance lets pass, and the elements it names.
#include "ladder/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ww::ladder {
namespace {

using port::Dtype;
using port::Tensor;
using port::Tolerance;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

Tensor tensor(Dtype dtype, const std::vector<double>& values) {
    auto layout = port::make_layout(dtype, {static_cast<int64_t>(values.size())});
    Tensor out = Tensor::zeros("y", layout.value()).value();
    for (size_t i = 0; i < values.size(); ++i) out.set(static_cast<int64_t>(i), values[i]);
    return out;
}

Comparison judge(const std::vector<double>& got, const std::vector<double>& want,
                 const Tolerance& tolerance) {
    const Tensor a = tensor(Dtype::f32, got), b = tensor(Dtype::f32, want);
    const Tensor truth = tensor(Dtype::f64, want);
    return compare(a, Expected{.reference = &b, .truth = &truth}, tolerance);
}

const Tolerance kExact{.mode = Tolerance::Mode::exact};
const Tolerance kTwoUlp{.mode = Tolerance::Mode::ulp, .max_ulp = 2};
constexpr double kUlp = 0x1p-23;  // of an f32 in [1, 2)

TEST(Compare, ExactWantsTheSameBits) {
    EXPECT_TRUE(judge({1, 2, 3}, {1, 2, 3}, kExact).pass);
    EXPECT_FALSE(judge({1, 2, 3 + 2 * kUlp}, {1, 2, 3}, kExact).pass);
    EXPECT_FALSE(judge({-0.0}, {0.0}, kExact).pass);
}

TEST(Compare, UlpCountsInTheOutputsType) {
    EXPECT_TRUE(judge({1 + 2 * kUlp}, {1}, kTwoUlp).pass);
    const Comparison bad = judge({1, 1 + 3 * kUlp, 1 + 5 * kUlp}, {1, 1, 1}, kTwoUlp);
    EXPECT_FALSE(bad.pass);
    EXPECT_EQ(bad.metrics.mismatches, 2);
    EXPECT_EQ(bad.first->coordinates, std::vector<int64_t>{1});
    EXPECT_EQ(bad.worst->coordinates, std::vector<int64_t>{2});
    EXPECT_DOUBLE_EQ(bad.metrics.max_ulp, 5);
}

TEST(Compare, NanPassesOnlyWhereItIsExpected) {
    const Tolerance loose{.mode = Tolerance::Mode::ulp, .max_ulp = 1e300};
    const Comparison bad = judge({1, kNan}, {1, 1}, loose);
    EXPECT_FALSE(bad.pass);
    EXPECT_EQ(bad.kind, FailureKind::not_a_number);
    EXPECT_FALSE(judge({1}, {kNan}, loose).pass);
    EXPECT_TRUE(judge({kNan}, {kNan}, kExact).pass);
}

TEST(Compare, InfinitiesOfOneSignAreEqual) {
    EXPECT_TRUE(judge({-kInfinity, 1}, {-kInfinity, 1}, kTwoUlp).pass);
    EXPECT_FALSE(judge({kInfinity}, {-kInfinity}, kTwoUlp).pass);
    EXPECT_FALSE(judge({kInfinity}, {1e30}, kTwoUlp).pass);
    EXPECT_FALSE(judge({1e30}, {kInfinity}, kTwoUlp).pass);
    EXPECT_EQ(judge({-kInfinity, 1}, {-kInfinity, 1}, kTwoUlp).metrics.relative_l2, 0);
}

TEST(Compare, RelativeBuildsOnTheBaselinesError) {
    const Tensor truth = tensor(Dtype::f64, {1, 2, 3, 4});
    const Tensor baseline = tensor(Dtype::f32, {1.01, 2, 3, 4});
    const Tolerance twice{.mode = Tolerance::Mode::relative_to, .factor = 2, .floor_ulp = 1};
    const Expected expected{.reference = &baseline, .truth = &truth, .baseline = &baseline};
    EXPECT_TRUE(compare(tensor(Dtype::f32, {1, 2.019, 3, 4}), expected, twice).pass);
    EXPECT_FALSE(compare(tensor(Dtype::f32, {1, 2.03, 3, 4}), expected, twice).pass);
    // Each element may be off that far, but not all of them.
    EXPECT_FALSE(compare(tensor(Dtype::f32, {1.019, 2.019, 3.019, 4.019}), expected, twice).pass);
}

TEST(Compare, TheL1ErrorOfAllMayBeBoundedByAnothers) {
    const Tensor truth = tensor(Dtype::f64, {1, 2, 3, 4});
    const Tensor reference = tensor(Dtype::f32, {1, 2, 3, 4}), other = tensor(Dtype::f32, {1.1, 2, 3, 4});
    const Tolerance as_good{.mode = Tolerance::Mode::l1_relative_to, .baseline = "other", .factor = 1, .floor_ulp = 0};
    const Expected expected{.reference = &reference, .truth = &truth, .baseline = &other};
    const Comparison good = compare(tensor(Dtype::f32, {1, 2, 3, 4.09}), expected, as_good);
    EXPECT_TRUE(good.pass);
    EXPECT_NEAR(good.metrics.baseline_relative_l1.value(), 0.01, 1e-8);
    EXPECT_EQ(good.metrics.l1_baseline, "other");
    EXPECT_FALSE(good.metrics.baseline_relative_l2);
    const Comparison bad = compare(tensor(Dtype::f32, {1, 2.06, 3, 4.06}), expected, as_good);  // its L2 error is smaller
    EXPECT_FALSE(bad.pass);
    EXPECT_EQ(bad.message, "relative L1 error of y is 0.012; other has 0.01");
    EXPECT_FALSE(compare(tensor(Dtype::f32, {1, 2, 3, kNan}), expected, as_good).pass);
    EXPECT_FALSE(compare(tensor(Dtype::f32, {1, 2, 3, kInfinity}), expected, as_good).pass);
    // One unit in the last place of 1: 2^-23.
    EXPECT_FALSE(compare(tensor(Dtype::f32, {1, 2, 3, 4.0000005}), {&reference, &truth, &reference}, as_good).pass);
    Tolerance with_floor = as_good;
    with_floor.floor_ulp = 1;
    EXPECT_TRUE(compare(tensor(Dtype::f32, {1, 2, 3, 4.0000005}), {&reference, &truth, &reference}, with_floor).pass);
}

TEST(Compare, MetricsAreTheUsualOnes) {
    const Comparison c = judge({2, 4, 6}, {1, 2, 3}, kTwoUlp);
    EXPECT_DOUBLE_EQ(c.metrics.gain, 2);
    EXPECT_DOUBLE_EQ(c.metrics.cosine, 1);
    EXPECT_DOUBLE_EQ(c.metrics.relative_l1, 1);
    EXPECT_DOUBLE_EQ(c.metrics.relative_l2, 1);
    EXPECT_DOUBLE_EQ(c.metrics.max_abs, 3);
    EXPECT_DOUBLE_EQ(c.metrics.rmse, std::sqrt(14.0 / 3));
    EXPECT_EQ(judge({0, 0}, {0, 0}, kExact).metrics.cosine, 1);
}

TEST(Compare, HashIsXxh64) {
    EXPECT_EQ(hash_text({}), "ef46db3751d8e999");  // XXH64 of nothing with seed 0
}

}  // namespace
}  // namespace ww::ladder

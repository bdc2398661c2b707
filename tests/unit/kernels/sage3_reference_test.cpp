// SPDX-License-Identifier: Apache-2.0
// What each part of the algorithm is worth: the reference with a part taken away, against attention
// in double without quantisation. Figures of our own emulation and of public ports are the yardstick.
#include "sage3/sage3_reference.hpp"
// links: sage3_ablated

#include <gtest/gtest.h>

#include <cmath>

#include "sage3_ablated.hpp"

namespace ww::sage3 {
namespace {

using port::Distribution;

struct Ablated {
    Data data;
    Values plain;

    Ablated(const Distribution& q, const Distribution& k, const Distribution& v = {}, uint64_t seed = 0)
        : data(*generated("", {.lq = 128, .lk = 1024, .d = 128, .scale = 1 / std::sqrt(128.0)}, q, k, v, seed)),
          plain(plain_attention(data.problem, whole_batches(data.problem), data.q, data.k, data.v).o) {}

    // Relative L2 error of the algorithm, or of what is left of it.
    double error(bool smooth, PQuantisation p) const {
        const Variant variant{.name = "", .smooth_k = smooth, .q_mean = smooth ? QMean::block : QMean::none, .p = p};
        return errors_of(ablated_attention(data, variant), plain).relative_l2;
    }
};

TEST(Sage3Reference, has_the_known_error_on_normal_data) {
    const Ablated data({}, {});
    const double two_level = data.error(true, PQuantisation::two_level);
    EXPECT_NEAR(two_level, 0.191, 0.01);
    EXPECT_NEAR(data.error(true, PQuantisation::none), 0.167, 0.01);
}

TEST(Sage3Reference, needs_smoothing_on_biased_channels) {
    const Distribution q{.kind = Distribution::Kind::biased, .value = 6, .fraction = 0.1};
    const Distribution k{.kind = Distribution::Kind::biased, .value = 12, .fraction = 0.1};
    const Ablated data(q, k, {}, 10);  // case `biased` of the port; 0.9 to 2.3 with other seeds
    EXPECT_NEAR(data.error(true, PQuantisation::two_level), 0.15, 0.02);
    EXPECT_GT(data.error(false, PQuantisation::two_level), 2);
}

TEST(Sage3Reference, needs_two_levels_where_one_key_takes_most_of_a_row) {
    const Distribution q{.mean = 0.5};
    const Distribution k{.kind = Distribution::Kind::sinks, .value = 1.6, .scale = 1, .axis = -2};
    const Distribution v{.kind = Distribution::Kind::sinks, .value = 0, .scale = 0.01, .axis = -2};
    const Ablated data(q, k, v);  // case `sinks` of the port
    const double two_level = data.error(true, PQuantisation::two_level);
    const double direct = data.error(true, PQuantisation::direct);
    EXPECT_NEAR(two_level, 0.35, 0.03);
    EXPECT_GT(direct, 1.08 * two_level);
}

TEST(Sage3Reference, permutation_of_keys_is_the_inverse_of_the_accumulator_layout) {
    // Accumulator column 8j + 2t + c of four products side by side is key 8t + 2j + c.
    for (int64_t j = 0; j < 4; ++j)
        for (int64_t t = 0; t < 4; ++t)
            for (int64_t c = 0; c < 2; ++c)
                EXPECT_EQ(token_of_stored_key(64 + 8 * j + 2 * t + c), 64 + 8 * t + 2 * j + c);
}

TEST(Sage3Reference, scale_places_are_all_different) {
    for (const int64_t run : {4, 8}) {
        std::vector<bool> taken(192 * 16, false);
        for (int64_t row = 0; row < 192; ++row)
            for (int64_t column = 0; column < 16; ++column) {
                const auto at = static_cast<size_t>(scale_index(row, column, 16, run));
                ASSERT_LT(at, taken.size());
                EXPECT_FALSE(taken[at]);
                taken[at] = true;
            }
    }
}

TEST(Sage3Reference, groups_at_the_ends_of_the_scale) {
    std::array<float, kGroup> x{};
    Group made = quantize_group(x);
    EXPECT_EQ(made.scale, 0);
    x[3] = 6 * 0x1p-10f;  // the scale would be half of e4m3's least: a tie, rounded to 0
    made = quantize_group(x);
    EXPECT_EQ(made.scale, 0);
    EXPECT_EQ(made.codes[3], 0);
    x[5] = std::nanf("");
    made = quantize_group(x);
    EXPECT_EQ(made.scale, 0x7f);
    EXPECT_EQ(made.codes[5], 7);  // +6
    x[5] = 0;
    x[3] = -4000;  // beyond 448 * 6: both saturate
    made = quantize_group(x);
    EXPECT_EQ(made.scale, 0x7e);
    EXPECT_EQ(made.codes[3], 0xf);
}

TEST(Sage3Reference, visits_tiles_that_a_mask_cuts_first) {
    Problem p{.lq = 128, .lk = 1000, .d = 64};
    using Tiles = std::vector<int64_t>;
    EXPECT_EQ(visits(p, 0, 127, 128, 1000), (Tiles{7, 6, 5, 4, 3, 2, 1, 0}));
    p.causal = Causal::top_left;
    EXPECT_EQ(visits(p, 128, 255, 256, 1000), (Tiles{1, 0}));
    p.causal = Causal::full;
    p.left = p.right = 200;  // queries 0 to 127 stand at keys 872 to 999
    EXPECT_EQ(visits(p, 0, 127, 128, 1000), (Tiles{7, 5, 6}));
    p.mask = Mask::bytes;
    EXPECT_EQ(visits(p, 0, 127, 128, 1000), (Tiles{7, 6, 5}));
    p.left = p.right = 0;
    EXPECT_EQ(visits(p, 0, 127, 1000, 100), (Tiles{}));  // they stand before the first key
}

TEST(Sage3Reference, rows_that_see_nothing_are_zero) {
    Problem p{.lq = 5, .lk = 3, .d = 16, .scale = 0.25, .causal = Causal::bottom_right};
    const Values q(static_cast<size_t>(p.lq * p.dp()), 1.0), k(static_cast<size_t>(p.lkp() * p.dp()), 1.0);
    const Output out = quantised_attention(p, whole_batches(p), q, k, k, Values(128, 0.0), Values(5, 0.0));
    EXPECT_EQ(out.lse[1], -HUGE_VAL);
    EXPECT_EQ(out.o[16], 0);
    EXPECT_NEAR(out.lse[2], 0.25 * 64, 1e-12);  // one key: its logit
    EXPECT_EQ(plain_attention(p, whole_batches(p), Values(80, 1.0), Values(48, 1.0), Values(48, 1.0)).lse[0], -HUGE_VAL);
}

}  // namespace
}  // namespace ww::sage3

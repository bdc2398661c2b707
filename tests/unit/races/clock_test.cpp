// SPDX-License-Identifier: Apache-2.0
// What the lanes of a warp are known to have done: up to three levels, exactly; more are rounded up.
#include "races/clock.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ww::races {
namespace {

using Levels = std::array<uint32_t, machine::kLanes>;

bool covers_exactly(const Seen& seen, const Levels& levels) {
    bool right = true;
    for (uint32_t lane = 0; lane < machine::kLanes; ++lane) {
        const LaneMask self = LaneMask{1} << lane;
        right &= levels[lane] == 0 || seen.covers(levels[lane], self);
        right &= !seen.covers(levels[lane] + 1, self);
    }
    return right;
}

void raise(Seen& seen, Levels& levels, uint32_t epoch, LaneMask lanes) {
    seen.raise(epoch, lanes);
    for (uint32_t lane = 0; lane < machine::kLanes; ++lane)
        if (lanes >> lane & 1) levels[lane] = std::max(levels[lane], epoch);
}

TEST(Seen, lanes_arrive_one_by_one_behind_a_late_one) {
    Seen seen;
    Levels levels{};
    raise(seen, levels, 5, machine::kAllLanes);
    raise(seen, levels, 7, LaneMask{1} << 31);  // of the phase before
    for (uint32_t lane = 0; lane < 31; ++lane) {
        raise(seen, levels, 9, LaneMask{1} << lane);
        EXPECT_TRUE(covers_exactly(seen, levels)) << lane;
    }
    EXPECT_FALSE(seen.covers(9, machine::kAllLanes));
    EXPECT_TRUE(seen.covers(7, machine::kAllLanes));
    raise(seen, levels, 9, LaneMask{1} << 31);
    EXPECT_TRUE(seen.covers(9, machine::kAllLanes));
}

TEST(Seen, levels_in_any_order) {
    const std::array<uint32_t, 3> orders[] = {{2, 4, 6}, {2, 6, 4}, {4, 2, 6}, {4, 6, 2}, {6, 2, 4}, {6, 4, 2}};
    for (const auto& order : orders) {
        Seen seen;
        Levels levels{};
        // 2: all lanes, 4: eight, 6: eight others.
        for (const uint32_t epoch : order) raise(seen, levels, epoch, epoch == 2 ? machine::kAllLanes : epoch == 4 ? 0xff00u : 0xffu);
        EXPECT_TRUE(covers_exactly(seen, levels)) << order[0] << order[1] << order[2];
    }
}

TEST(Seen, join_is_exact_for_three_levels) {
    Seen a, b;
    Levels levels{};
    raise(a, levels, 3, machine::kAllLanes);
    raise(a, levels, 8, 0xf0);
    raise(b, levels, 5, 0x0f);
    raise(b, levels, 8, 0x0f00);
    a.join(b);
    EXPECT_TRUE(covers_exactly(a, levels));
    Seen base;
    base.raise(6, machine::kAllLanes);
    a.join(base);
    EXPECT_TRUE(a.covers(6, machine::kAllLanes));
    EXPECT_TRUE(a.covers(8, 0x0ff0));
    EXPECT_FALSE(a.covers(7, 0x1));
}

TEST(Seen, a_fourth_level_is_rounded_up) {
    Seen seen;
    for (uint32_t epoch = 1; epoch <= 4; ++epoch) seen.raise(epoch, LaneMask{1} << epoch);
    for (uint32_t epoch = 1; epoch <= 4; ++epoch) EXPECT_TRUE(seen.covers(epoch, LaneMask{1} << epoch)) << epoch;
    EXPECT_FALSE(seen.covers(1, 1));
    EXPECT_FALSE(seen.covers(4, LaneMask{1} << 3 | LaneMask{1} << 4));
}

TEST(Seen, nobody_is_covered_where_nobody_is_known) {
    Seen seen;
    EXPECT_FALSE(seen.covers(1, 0));
    seen.raise(2, 4);
    EXPECT_TRUE(seen.covers(2, 0));
    EXPECT_FALSE(seen.covers(3, 0));
}

}  // namespace
}  // namespace ww::races

// SPDX-License-Identifier: Apache-2.0
#include "base/target.hpp"

#include <gtest/gtest.h>

TEST(Target, IsReadAndWritten) {
    const ww::Target plain = ww::parse_target("sm_90").value();
    EXPECT_EQ(plain.sm, 90);
    EXPECT_EQ(plain.suffix, 0);
    EXPECT_EQ(plain.text(), "sm_90");
    const ww::Target family = ww::parse_target("sm_100f").value();
    EXPECT_EQ(family.sm, 100);
    EXPECT_EQ(family.suffix, 'f');
    EXPECT_EQ(family.arch(), "100f");
}

TEST(Target, ADeviceIsWithinAFamily) {
    EXPECT_TRUE(ww::parse_target("sm_80")->is_within(90));
    EXPECT_FALSE(ww::parse_target("sm_90")->is_within(89));
    EXPECT_TRUE(ww::parse_target("sm_120a")->is_within(121));
    EXPECT_FALSE(ww::parse_target("sm_90a")->is_within(100));
    EXPECT_FALSE(ww::parse_target("sm_120a")->is_within(90));
}

TEST(Target, OtherSpellingsAreRefused) {
    for (const char* text : {"", "sm_", "90a", "sm_9", "sm_1000", "sm_90b", "sm_90aa", "SM_90",
                             "compute_90", "sm_90 ", "sm_a90"})
        EXPECT_FALSE(ww::parse_target(text)) << text;
    EXPECT_EQ(ww::parse_target("hopper").error().front().message,
              "'hopper' is no compile target: write it as sm_90, sm_90a or sm_120a");
}

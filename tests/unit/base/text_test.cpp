// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <gtest/gtest.h>

#include "base/diagnostic.hpp"

TEST(Text, NearestSuggestsOnlyWhatIsNear) {
    const std::vector<std::string> keys{"dtype", "shape", "strides"};
    EXPECT_EQ(ww::nearest("dtyp", keys), "dtype");
    EXPECT_EQ(ww::nearest("zzzzzz", keys), "");
}

TEST(Text, GlobMatchesStarAndQuestionMark) {
    EXPECT_TRUE(ww::glob_match("row_*", "row_17"));
    EXPECT_TRUE(ww::glob_match("*7", "row_17"));
    EXPECT_TRUE(ww::glob_match("r?w", "row"));
    EXPECT_FALSE(ww::glob_match("r?w", "roow"));
    EXPECT_TRUE(ww::glob_match("*", ""));
}

TEST(Diagnostic, PointsAtTheColumn) {
    const ww::Diagnostic d{.file = "a.ptx", .line = 3, .col = 2, .message = "bad", .source_line = "\tadd"};
    EXPECT_EQ(ww::format(d), "a.ptx:3:2: error: bad\n    \tadd\n    \t^\n");
}

// SPDX-License-Identifier: Apache-2.0
#include "base/policy.hpp"

#include <gtest/gtest.h>

namespace ww {
namespace {

TEST(Policy, TextAndBack) {
    for (const char* text : {"eager", "lazy", "random:0", "random:18446744073709551615"})
        EXPECT_EQ(policy_text(parse_async_policy(text).value()), text);
    for (const char* text : {"fair", "random:7"})
        EXPECT_EQ(policy_text(parse_schedule_policy(text).value()), text);
}

TEST(Policy, RefusesWhatIsNone) {
    for (const char* text : {"", "Lazy", "random", "random:", "random:-1", "random:1x",
                             "random:18446744073709551616", "fair"}) {
        const auto parsed = parse_async_policy(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_NE(parsed.error()[0].message.find("eager, lazy or random:SEED"), std::string::npos);
    }
    EXPECT_FALSE(parse_schedule_policy("lazy"));
}

TEST(Policy, RandomDependsOnTheSeedAlone) {
    Random a(5), b(5), c(6);
    const uint64_t first = a.next();
    EXPECT_EQ(first, b.next());
    EXPECT_NE(first, c.next());
}

}  // namespace
}  // namespace ww

// SPDX-License-Identifier: Apache-2.0
#include "exectest/recorded_log.hpp"

#include <gtest/gtest.h>

namespace ww::exectest {
namespace {

TEST(RecordedLog, NamesTheDeviceAndWhatRanThere) {
    const auto log = parse_recorded_log("NVIDIA H200, driver 13.0\n01 a/b passed\n00 a/c skipped\n02 a/d failed\n", "x.log");
    ASSERT_TRUE(log) << format(log.error());
    EXPECT_EQ(log->device, "NVIDIA H200, driver 13.0");
    EXPECT_EQ(log->executed, std::set<std::string>{"a/b"});
}

TEST(RecordedLog, AnotherLineIsNamed) {
    const auto log = parse_recorded_log("NVIDIA H200\n01 a/b passed\n01 a/b\n", "x.log");
    ASSERT_FALSE(log);
    EXPECT_EQ(log.error().front().line, 3);
}

}  // namespace
}  // namespace ww::exectest

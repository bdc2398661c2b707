// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/diagnostic.hpp"
#include "base/files.hpp"

TEST(Text, NearestSuggestsOnlyWhatIsNear) {
    const std::vector<std::string> keys{"dtype", "shape", "strides"};
    EXPECT_EQ(ww::nearest("dtyp", keys), "dtype");
    EXPECT_EQ(ww::nearest("zzzzzz", keys), "");
}

TEST(Text, NeighboursThatChangedPlacesAreOneEdit) {
    EXPECT_EQ(ww::edit_distance("shpae", "shape"), 1);
    EXPECT_EQ(ww::edit_distance("ba", "ab"), 1);
    EXPECT_EQ(ww::edit_distance("", "abc"), 3);
    EXPECT_EQ(ww::edit_distance("kitten", "sitting"), 3);
    EXPECT_EQ(ww::edit_distance("same", "same"), 0);
    EXPECT_EQ(ww::nearest("frm", std::vector<std::string>{"xxm", "form"}), "form");
    EXPECT_EQ(ww::nearest("abdc", std::vector<std::string>{"abyz", "abcd"}), "abcd");
}

TEST(Text, NearestFirstKeepsAll) {
    EXPECT_EQ(ww::nearest_first("softmax_plian", {"zero", "softmax_cp_async", "softmax_plain"}),
              (std::vector<std::string>{"softmax_plain", "softmax_cp_async", "zero"}));
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

TEST(Files, DisplayPathIsRelativeBelowTheCurrentFolder) {
    const std::filesystem::path here = std::filesystem::current_path();
    EXPECT_EQ(ww::display_path(here / "a" / ".." / "b.cu"), "b.cu");
    EXPECT_EQ(ww::display_path("/nowhere/x/../b.cu"), "/nowhere/b.cu");
}

TEST(Files, AMissingFileIsNamed) {
    const ww::Result<std::string> text = ww::read_file("no/such/file");
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error()[0].file, "no/such/file");
}

TEST(Files, WritingThroughALinkKeepsTheLink) {
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "ww_links";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    ASSERT_TRUE(ww::write_file(folder / "real", "old"));
    std::filesystem::create_symlink("real", folder / "link");
    ASSERT_TRUE(ww::write_file(folder / "link", "new"));
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
    EXPECT_EQ(ww::read_file(folder / "real").value(), "new");
    std::filesystem::remove_all(folder);
}

TEST(Files, APipeIsWrittenNotReplaced) {
    const std::filesystem::path pipe = std::filesystem::path(testing::TempDir()) / "ww_pipe";
    std::filesystem::remove(pipe);
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const int fd = ::open(pipe.c_str(), O_RDWR | O_NONBLOCK);
    ASSERT_GE(fd, 0);
    EXPECT_TRUE(ww::write_file(pipe, "text"));
    EXPECT_TRUE(std::filesystem::is_fifo(pipe));
    char got[8] = {};
    EXPECT_EQ(::read(fd, got, sizeof got), 4);
    EXPECT_STREQ(got, "text");
    ::close(fd);
    std::filesystem::remove(pipe);
}

// SPDX-License-Identifier: Apache-2.0
// The archive of recorded answers: round trip, and files that are damaged.
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.hpp"
#include "exectest/archive.hpp"

namespace ww::exectest {
namespace {

class ArchiveFile : public testing::Test {
  protected:
    void TearDown() override { std::filesystem::remove(path); }
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 ("archive_test." + std::to_string(getpid()));
};

Archive sample() {
    Archive archive;
    archive.runs = {{"Old", "1", "2026-01-01", "x", 90, 5}, {"GPU", "13.0", "2026-11-29", "ptxas", 90, 7}};
    archive.tests["a/b"] = {1, 0x123456789abcdef0, {std::byte{1}, std::byte{2}}};
    archive.tests["a/c"] = {1, 3, {}};
    return archive;
}

TEST_F(ArchiveFile, RoundTripDropsUnusedRuns) {
    ASSERT_TRUE(save_archive(path, sample()));
    auto loaded = load_archive(path);
    ASSERT_TRUE(loaded) << format(loaded.error());
    ASSERT_EQ(loaded->runs.size(), 1u);
    EXPECT_EQ(loaded->runs[0].device, "GPU");
    EXPECT_EQ(loaded->runs[0].log_hash, 7u);
    ASSERT_EQ(loaded->tests.size(), 2u);
    EXPECT_EQ(loaded->tests["a/b"].run, 0u);
    EXPECT_EQ(loaded->tests["a/b"].hash, 0x123456789abcdef0u);
    EXPECT_EQ(loaded->tests["a/b"].outputs, sample().tests["a/b"].outputs);
}

TEST_F(ArchiveFile, ThatIsNotThereIsEmpty) {
    auto loaded = load_archive(path);
    ASSERT_TRUE(loaded);
    EXPECT_TRUE(loaded->tests.empty());
}

TEST_F(ArchiveFile, CutAnywhereIsRefused) {
    ASSERT_TRUE(save_archive(path, sample()));
    std::string bytes = *read_file(path);
    for (size_t length = 0; length < bytes.size(); ++length) {
        ASSERT_TRUE(write_file(path, bytes.substr(0, length)));
        auto loaded = load_archive(path);
        ASSERT_FALSE(loaded) << length;
        EXPECT_NE(loaded.error()[0].message.find("damaged record"), std::string::npos);
    }
}

TEST_F(ArchiveFile, WithAFlippedByteIsRefused) {
    ASSERT_TRUE(save_archive(path, sample()));
    std::string bytes = *read_file(path);
    for (size_t i = 0; i < bytes.size(); ++i) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x15);
        ASSERT_TRUE(write_file(path, damaged));
        const auto loaded = load_archive(path);
        ASSERT_FALSE(loaded) << i;
        EXPECT_NE(loaded.error()[0].message.find("damaged record"), std::string::npos);
    }
}

}  // namespace
}  // namespace ww::exectest

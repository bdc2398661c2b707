// SPDX-License-Identifier: Apache-2.0
#include "toolchain/process.hpp"

#include <gtest/gtest.h>

namespace ww::toolchain {
namespace {

TEST(Process, CapturesBothStreamsAndTheExitCode) {
    const auto done = run_process({.argv = {"sh", "-c", "echo out; echo err >&2; exit 3"}});
    ASSERT_TRUE(done);
    EXPECT_EQ(done->out, "out\n");
    EXPECT_EQ(done->err, "err\n");
    EXPECT_EQ(done->exit_code, 3);
}

TEST(Process, ArgumentsAreNotReadByAShell) {
    const auto done = run_process({.argv = {"printf", "%s", "$HOME; `id` 'x'"}});
    ASSERT_TRUE(done);
    EXPECT_EQ(done->out, "$HOME; `id` 'x'");
}

TEST(Process, PassesInputFolderAndEnvironment) {
    const auto done = run_process({.argv = {"sh", "-c", "cat; pwd; echo $WW_TEST_VALUE"},
                                   .input = std::string(300000, 'x') + "\n",
                                   .folder = "/",
                                   .environment = {{"WW_TEST_VALUE", "seven"}}});
    ASSERT_TRUE(done);
    EXPECT_EQ(done->out, std::string(300000, 'x') + "\n/\nseven\n");
}

TEST(Process, StopsWhatRunsTooLongTogetherWithItsChildren) {
    const auto start = std::chrono::steady_clock::now();
    const auto done = run_process(
        {.argv = {"sh", "-c", "sleep 30 & sleep 30"}, .timeout = std::chrono::milliseconds(200)});
    ASSERT_FALSE(done);
    EXPECT_NE(done.error()[0].message.find("did not end within 0.2 s"), std::string::npos);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(Process, StopsAProgramThatClosedItsOutputAndStaysAlive) {
    const auto done = run_process({.argv = {"sh", "-c", "exec >&- 2>&-; sleep 30"},
                                   .timeout = std::chrono::milliseconds(200)});
    EXPECT_FALSE(done);
}

TEST(Process, StopsWhatWritesTooMuch) {
    const auto done = run_process({.argv = {"yes"}, .output_limit = size_t{1} << 20});
    ASSERT_FALSE(done);
    EXPECT_NE(done.error()[0].message.find("more than 1 MiB"), std::string::npos);
}

TEST(Process, NamesAProgramThatIsNotThere) {
    const auto done = run_process({.argv = {"/nowhere/tool"}});
    ASSERT_FALSE(done);
    EXPECT_NE(done.error()[0].message.find("/nowhere/tool"), std::string::npos);
}

TEST(Process, ReportsTheSignal) {
    const auto done = run_process({.argv = {"sh", "-c", "kill -9 $$"}});
    ASSERT_TRUE(done);
    EXPECT_EQ(done->exit_code, 128 + 9);
}

TEST(Process, TemporaryFolderGoesAway) {
    std::filesystem::path path;
    {
        const TemporaryFolder folder = TemporaryFolder::make().value();
        path = folder.path();
        EXPECT_TRUE(std::filesystem::is_directory(path));
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace ww::toolchain

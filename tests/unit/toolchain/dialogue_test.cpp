// SPDX-License-Identifier: Apache-2.0
// Programs that answer, hang, die and babble; the message says which.
#include "toolchain/dialogue.hpp"

#include <gtest/gtest.h>

namespace ww::toolchain {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<Dialogue> shell(const std::string& script) {
    Command command;
    command.argv = {"/bin/sh", "-c", script};
    auto out = Dialogue::start(command);
    EXPECT_TRUE(out) << format(out.error());
    return std::move(*out);
}

std::string why(const Result<std::string>& answer) { return answer ? "answered " + *answer : answer.error().front().message; }

TEST(Dialogue, AsksAndHears) {
    const auto it = shell("while read line; do echo \"got $line\"; echo noise >&2; done");
    for (int i = 0; i < 50; ++i) EXPECT_EQ(why(it->ask(std::to_string(i), 5s)), "answered got " + std::to_string(i));
}

TEST(Dialogue, AFullStderrStopsNobody) {
    const auto it = shell("while read line; do head -c 300000 /dev/zero >&2; echo $line; done");
    EXPECT_EQ(why(it->ask("a", 10s)), "answered a");
    EXPECT_EQ(why(it->ask("b", 10s)), "answered b");
}

TEST(Dialogue, AProgramThatHangsCostsItsLimit) {
    const auto it = shell("echo 'loading' >&2; sleep 60");
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(why(it->ask("a", 300ms)), "/bin/sh did not answer within 0.3 s and was stopped; its last words: loading");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
    EXPECT_EQ(why(it->ask("b", 5s)), "/bin/sh did not answer within 0.3 s and was stopped; its last words: loading");
}

TEST(Dialogue, AProgramThatEndsLeavesItsLastWords) {
    EXPECT_EQ(why(shell("read line; echo 'Traceback' >&2; echo 'ValueError: no' >&2; exit 3")->ask("a", 5s)),
              "/bin/sh ended with code 3; its last words: ValueError: no");
    EXPECT_EQ(why(shell("read line; kill -9 $$")->ask("a", 5s)), "/bin/sh ended with code 137");
    const auto gone = shell("exit 0");
    EXPECT_EQ(why(gone->ask("a", 5s)), "/bin/sh ended with code 0");
}

TEST(Dialogue, AProgramThatBabblesIsStopped) {
    EXPECT_EQ(why(shell("read line; head -c 3000000 /dev/zero; sleep 60")->ask("a", 20s)),
              "/bin/sh wrote a line of more than 1048576 bytes and was stopped");
    const auto it = shell("read line; printf 'one\\ntwo\\n'; sleep 60");
    EXPECT_EQ(why(it->ask("a", 5s)), "answered one");
    EXPECT_EQ(why(it->ask("b", 5s)), "/bin/sh wrote 'two' without being asked and was stopped");
}

TEST(Dialogue, WhatDoesNotStartSaysSo) {
    Command command;
    command.argv = {"/no/such/program"};
    const auto none = Dialogue::start(command);
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().front().message, "cannot run /no/such/program: No such file or directory");
}

}  // namespace
}  // namespace ww::toolchain

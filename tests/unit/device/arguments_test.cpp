// SPDX-License-Identifier: Apache-2.0
// check_arguments: which argument the message names.
#include <gtest/gtest.h>

#include "device/device.hpp"

namespace ww::device {
namespace {

const std::vector<Param> kParams = {{"in", 0, 8, 8}, {"count", 8, 4, 4}, {"", 12, 1, 1}};

std::string message(std::vector<Argument> arguments) {
    Status status = check_arguments("scale", kParams, arguments);
    return status ? "" : status.error().at(0).message;
}

TEST(Arguments, ThatFitAreAccepted) {
    EXPECT_EQ(message({Argument::of(uint64_t{1}), Argument::of(2), Argument::of('c')}), "");
    EXPECT_TRUE(check_arguments("empty", {}, {}));
}

TEST(Arguments, OfTheWrongSizeAreNamed) {
    EXPECT_EQ(message({Argument::of(uint64_t{1}), Argument::of(2.0), Argument::of('c')}),
              "kernel scale: argument 1 (count) has 8 bytes, its .param takes 4");
    EXPECT_EQ(message({Argument::of(uint64_t{1}), Argument::of(2), Argument::of(3)}),
              "kernel scale: argument 2 has 4 bytes, its .param takes 1");
}

TEST(Arguments, OfAnotherAlignmentAreNamed) {
    const Param two_floats{"pair", 8, 8, 4}, unknown{"", 12, 8, 0}, known_enough{"", 16, 8, 0};
    const auto check = [](const Param& param, const Argument& argument) {
        const Status status = check_argument("scale", param, 1, argument);
        return status ? "" : status.error().at(0).message;
    };
    EXPECT_EQ(check(two_floats, Argument::of(std::array<float, 2>{1, 2})), "");
    EXPECT_EQ(check(two_floats, Argument::of(2.0)),
              "kernel scale: argument 1 (pair) is aligned to 8 bytes, its .param to 4");
    EXPECT_EQ(check(unknown, Argument::of(2.0)),
              "kernel scale: argument 1 is aligned to 8 bytes, its .param lies at byte 12");
    EXPECT_EQ(check(known_enough, Argument::of(2.0)), "");
    // A pointer is a 64-bit integer to the kernel.
    EXPECT_EQ(check(Param{"p", 0, 8, 8}, Argument::of(Address{512})), "");
}

TEST(Arguments, AreCounted) {
    EXPECT_EQ(message({Argument::of(uint64_t{1})}),
              "kernel scale takes 3 arguments, 1 given; argument 1 (count) is missing");
    EXPECT_EQ(message({Argument::of(uint64_t{1}), Argument::of(2), Argument::of('c'),
                       Argument::of(4)}),
              "kernel scale takes 3 arguments, 4 given");
}

}  // namespace
}  // namespace ww::device

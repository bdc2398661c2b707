// SPDX-License-Identifier: Apache-2.0
// Generators: the same bytes each time, and the cases that a test counts on.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "exectest/operands.hpp"

namespace ww::exectest {
namespace {

struct Made {
    TestFile test;
    Layout layout;
    Operands operands;

    uint64_t at(uint32_t slot, uint64_t i) const {
        const Field& field = test.fields[layout.in[slot].field];
        uint32_t bytes = field.type.bytes();
        return read_unit(&operands.in[layout.in[slot].offset + i * bytes], bytes);
    }
};

Made make(const std::string& inputs, const std::string& name = "c/n") {
    Made made;
    made.test = *parse_test(name, "// t\n// in " + inputs + "\n// out d b32\n    mov.b32 d, 0;\n", "");
    made.layout = make_layout(made.test);
    made.operands = make_operands(made.test, made.layout);
    return made;
}

TEST(Operands, DependOnTheNamesOnly) {
    EXPECT_EQ(make("a f32, b s64").operands.in, make("a f32, b s64").operands.in);
    EXPECT_NE(make("a f32").operands.in, make("a f32", "c/m").operands.in);
    EXPECT_NE(make("a f32").operands.in, make("b f32").operands.in);
    // Records made on one machine serve on every other: these values must never change.
    EXPECT_EQ(make("a b64 bits").at(0, 0), 0x8f2326f7ce7d5589u);
}

TEST(Operands, EdgeHasEverySpecialValue) {
    Made made = make("a f32 edge");
    int zeros = 0, infinities = 0, quiet = 0, signalling = 0, subnormal = 0;
    for (int i = 0; i < 512; ++i) {
        uint64_t magnitude = made.at(0, i) & 0x7fffffff;
        zeros += magnitude == 0;
        infinities += magnitude == 0x7f800000;
        quiet += magnitude > 0x7fc00000;
        signalling += magnitude > 0x7f800000 && magnitude < 0x7fc00000;
        subnormal += magnitude > 0 && magnitude < 0x00800000;
    }
    for (int count : {zeros, infinities, quiet, signalling, subnormal}) EXPECT_GT(count, 10);
}

TEST(Operands, StayInTheirRange) {
    Made made = make("a s32 -3..5, f f32 -2.5..2.5, n f32 normal, s f16 subnormal, h f64 halfway, "
                     "k f16 integers");
    std::set<int32_t> seen;
    for (int i = 0; i < 512; ++i) {
        seen.insert(static_cast<int32_t>(made.at(0, i)));
        EXPECT_LE(std::fabs(to_double(*find_type("f32"), made.at(1, i))), 2.5);
        double normal = std::fabs(to_double(*find_type("f32"), made.at(2, i)));
        EXPECT_TRUE(normal >= 0.125 && normal < 16) << normal;
        EXPECT_LT(made.at(3, i) & 0x7fff, 0x400u);
        EXPECT_TRUE(std::isfinite(to_double(*find_type("f64"), made.at(4, i))));
        double integer = to_double(*find_type("f16"), made.at(5, i));
        EXPECT_EQ(integer, std::nearbyint(integer));
        EXPECT_LE(std::fabs(integer), 16);
    }
    EXPECT_EQ(seen.size(), 9u);
    EXPECT_EQ(*seen.begin(), -3);
}

TEST(Operands, NearIsOftenEqual) {
    Made made = make("a u32, b u32 near a");
    int equal = 0, close = 0;
    for (int i = 0; i < 512; ++i) {
        auto difference = static_cast<int32_t>(made.at(0, i) - made.at(1, i));
        equal += difference == 0;
        close += difference != 0 && std::abs(static_cast<int64_t>(difference)) <= 3;
    }
    EXPECT_GT(equal, 200);
    EXPECT_LT(equal, 320);
    EXPECT_GT(close, 60);
}

TEST(Operands, PackedElementsAreEachMade) {
    Made made = make("a f16x2 normal, l b32 lane, e e2m1x8");
    for (int i = 0; i < 512; ++i) {
        for (int half = 0; half < 2; ++half) {
            uint64_t exponent = made.at(0, i) >> (16 * half + 10) & 31;
            EXPECT_TRUE(exponent >= 12 && exponent <= 18);
        }
        EXPECT_EQ(made.at(1, i), static_cast<uint64_t>(i % 32));
    }
}

TEST(Operands, ListsRepeat) {
    TestFile test = *parse_test("c/n",
                                "// t\n// threads 4\n// trials 1\n// in a b32\n// out d b32\n"
                                "// values a 1 2\n    mov.b32 d, a;\n", "");
    Layout layout = make_layout(test);
    Operands operands = make_operands(test, layout);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(read_unit(&operands.in[i * 4], 4), 1u + i % 2);
}

}  // namespace
}  // namespace ww::exectest

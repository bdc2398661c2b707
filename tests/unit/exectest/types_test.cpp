// SPDX-License-Identifier: Apache-2.0
// Operand types: names, registers, and the values of their codes.
#include <gtest/gtest.h>

#include <cmath>

#include "exectest/types.hpp"

namespace ww::exectest {
namespace {

TEST(Types, PackedNamesGiveTheWholeRegister) {
    EXPECT_EQ(find_type("f16x2")->bits(), 32u);
    EXPECT_EQ(find_type("e2m1x8")->bits(), 32u);
    EXPECT_EQ(find_type("b1x32")->bits(), 32u);
    EXPECT_EQ(find_type("b128")->bytes(), 16u);
    EXPECT_EQ(find_type("pred")->bytes(), 1u);
    for (const char* wrong : {"f17", "f16x3", "s4", "x2", "f16x", "f16x0", "predx2", "", "f64x64"})
        EXPECT_FALSE(find_type(wrong)) << wrong;
}

TEST(Types, RegisterClasses) {
    auto both = [](const char* name) {
        return register_type(*find_type(name)) + " " + memory_type(*find_type(name));
    };
    EXPECT_EQ(both("s8"), ".s16 s8");
    EXPECT_EQ(both("b8"), ".b8 b8");
    EXPECT_EQ(both("bf16"), ".b16 b16");
    EXPECT_EQ(both("f32"), ".f32 f32");
    EXPECT_EQ(both("tf32"), ".b32 b32");
    EXPECT_EQ(both("e4m3x4"), ".b32 b32");
    EXPECT_EQ(both("u64"), ".u64 u64");
}

TEST(Types, DecodeKnownValues) {
    auto value = [](const char* type, uint64_t bits) { return to_double(*find_type(type), bits); };
    EXPECT_EQ(value("f32", 0x3fc00000), 1.5);
    EXPECT_EQ(value("f32", 0x80000001), -std::ldexp(1.0, -149));
    EXPECT_EQ(value("f16", 0x7bff), 65504.0);
    EXPECT_EQ(value("bf16", 0xc000), -2.0);
    EXPECT_EQ(value("f64", 0x400921fb54442d18), 3.141592653589793);
    EXPECT_EQ(value("e4m3", 0x7e), 448.0);
    EXPECT_EQ(value("e5m2", 0x7b), 57344.0);
    EXPECT_TRUE(std::isinf(value("e5m2", 0x7c)));
    EXPECT_EQ(value("ue8m0", 0x80), 2.0);
    EXPECT_EQ(value("ue8m0", 0), std::ldexp(1.0, -127));
}

TEST(Types, NanCodes) {
    auto nan = [](const char* type, uint64_t bits) { return is_nan(*find_type(type), bits); };
    EXPECT_TRUE(nan("f32", 0x7f800001));
    EXPECT_FALSE(nan("f32", 0x7f800000));
    EXPECT_TRUE(nan("e4m3", 0xff));
    EXPECT_FALSE(nan("e4m3", 0x7e));
    EXPECT_FALSE(nan("b32", 0x7fffffff));
}

TEST(Types, EncodeRoundsTowardZero) {
    auto code = [](const char* type, double value) { return from_double(*find_type(type), value); };
    EXPECT_EQ(code("f32", 1.5), 0x3fc00000u);
    EXPECT_EQ(code("f32", -0.1), 0xbdccccccu);
    EXPECT_EQ(code("f16", 1e9), 0x7c00u - 1);
    EXPECT_EQ(code("e4m3", 1000), 0x7eu);
    EXPECT_EQ(code("f64", -2.5), 0xc004000000000000u);
    EXPECT_EQ(code("f32", 0), 0u);
}

TEST(Types, ValuesInMessages) {
    EXPECT_EQ(show_value(*find_type("s16"), 0xffff), "-1");
    EXPECT_EQ(show_value(*find_type("u16"), 0xffff), "65535");
    EXPECT_EQ(show_value(*find_type("f32"), 0x7f800000), "inf");
}

}  // namespace
}  // namespace ww::exectest

// SPDX-License-Identifier: Apache-2.0
// The operands tell every F from every other, and the emulator has the F that its model says.
#include "silicon/sums.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace ww::silicon {
namespace {

std::vector<Outputs> answers(int fraction_bits) {
    std::vector<Outputs> out{expected(graded_product(), fraction_bits)};
    for (const Product& each : random_products()) out.push_back(expected(each, fraction_bits));
    return out;
}

TEST(Sums, EveryFractionIsToldFromTheOthers) {
    for (int f = kLeastBits; f <= 37; ++f)
        EXPECT_EQ(judge_sums(answers(f)).fitting(), std::vector{f});
}

TEST(Sums, TheTermVanishesWhereTheFractionEnds) {
    const Outputs wide = expected(graded_product(), 35), narrow = expected(graded_product(), 25);
    for (int row = 0; row < kRows; ++row) {
        const int j = 23 + row;
        const auto first = [row](const Outputs& of) {
            return std::bit_cast<float>(of[static_cast<size_t>(row) * kColumns]);
        };
        EXPECT_EQ(first(wide), j <= 35 ? std::ldexp(1.0F, 20 - j) : 0.0F) << j;
        EXPECT_EQ(first(narrow), j <= 25 ? std::ldexp(1.0F, 20 - j) : 0.0F) << j;
    }
}

TEST(Sums, AnotherRuleFitsNoFraction) {
    std::vector<Outputs> measured = answers(35);
    measured[3][7] ^= 1;
    const SumsReport report = judge_sums(measured);
    EXPECT_TRUE(report.fitting().empty());
    EXPECT_NE(report.conclusion().find("no F from"), std::string::npos) << report.conclusion();
}

TEST(Sums, TheEmulatorSumsAsItsModel) {
    const auto device = device::open_emulated({.target = "sm_120a"});
    const auto measured = run_products(*device);
    ASSERT_TRUE(measured) << format(measured.error());
    const SumsReport report = judge_sums(*measured);
    EXPECT_EQ(report.fitting(), std::vector{35}) << report.conclusion();
    EXPECT_EQ(report.measured, expected(graded_product(), 35));
    EXPECT_GT(report.differing[25], 100U);
}

}  // namespace
}  // namespace ww::silicon

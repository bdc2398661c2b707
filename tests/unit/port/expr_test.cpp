// SPDX-License-Identifier: Apache-2.0
#include "port/expr.hpp"

#include <cmath>
#include <limits>

#include "port_text.hpp"

namespace ww::port {
namespace {

const Axes kNames = {
    {"B", 2}, {"L", 13}, {"N", -7}, {"max_int", INT64_MAX}, {"min_int", INT64_MIN}};

int64_t value(std::string_view text) { return must(must(Expr::parse(text)).eval(kNames)); }

std::string fault(std::string_view text) {
    auto expr = Expr::parse(text);
    return expr ? error_of(expr->eval(kNames)) : error_of(expr);
}

TEST(expr, arithmetic) {
    EXPECT_EQ(value("1 + 2 * 3 - 4"), 3);
    EXPECT_EQ(value("(1 + 2) * 3"), 9);
    EXPECT_EQ(value("20 - 5 - 3"), 12);
    EXPECT_EQ(value("100 / 7 / 2"), 7);
    EXPECT_EQ(value("-L + - -B"), -11);
    EXPECT_EQ(value("ceil_div(L, 4) * 4"), 16);
    EXPECT_EQ(value("ceil_div(12, 4)"), 3);
    EXPECT_EQ(value("min(L, B, 5) + max(L, B, 3)"), 15);
}

TEST(expr, division_rounds_down) {
    EXPECT_EQ(value("N / 2"), -4);
    EXPECT_EQ(value("N % 4"), 1);
    EXPECT_EQ(value("7 / (0 - 2)"), -4);
    EXPECT_EQ(value("7 % (0 - 4)"), -1);
    EXPECT_EQ(value("ceil_div(N, 2)"), -3);
}

TEST(expr, conditions) {
    EXPECT_EQ(value("L % 2 == 1 && B < L || 0"), 1);
    EXPECT_EQ(value("!(B >= 3) + (L != 13)"), 1);
    EXPECT_EQ(value("1 <= 0"), 0);
    EXPECT_EQ(value("1 > 0"), 1);
}

TEST(expr, limits_of_64_bits) {
    EXPECT_EQ(value("max_int - 0"), INT64_MAX);
    EXPECT_EQ(value("min_int / 1"), INT64_MIN);
    EXPECT_EQ(value("ceil_div(max_int, 2)"), int64_t{1} << 62);
    for (const char* text : {"max_int + 1", "min_int - 1", "-min_int", "max_int * 2",
                             "min_int / (0 - 1)", "min_int % (0 - 1)", "ceil_div(min_int, -1)"})
        EXPECT_NE(fault(text).find("overflow of a 64-bit integer"), std::string::npos) << text;
}

TEST(expr, faults) {
    EXPECT_EQ(fault("L / (B - 2)"), "division by zero in 'L / (B - 2)'");
    EXPECT_EQ(fault("L % 0"), "division by zero in 'L % 0'");
    EXPECT_EQ(fault("max_itn"), "unknown name 'max_itn'; did you mean 'max_int'? in 'max_itn'");
    EXPECT_EQ(fault(""), "an empty expression");
    EXPECT_EQ(fault("1 +"), "the expression ends too early");
    EXPECT_EQ(fault("(1"), "a '(' without its ')'");
    EXPECT_EQ(fault("1)"), "a ')' that closes nothing");
    EXPECT_EQ(fault("2B"), "a letter right behind a number; write '*' to multiply");
    EXPECT_EQ(fault("1 < 2 < 3"), "comparisons do not chain; join two with &&");
    EXPECT_EQ(fault("99999999999999999999"), "a number outside the range of its type");
    EXPECT_EQ(fault(std::string(100, '(') + "1"), "an expression nested more than 64 deep");
    EXPECT_EQ(fault(std::string(5000, ' ')), "an expression of more than 4096 characters");
}

TEST(expr, points_at_the_byte) {
    const auto source = std::make_shared<const SourceText>("f.toml", "x = \"L + B\"");
    const auto expr = must(Expr::parse("L + B", Expr::Kind::integer, Place{source, 1, 6}));
    const auto result = expr.eval(Axes{{"L", 1}});
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().front().col, 10);
    EXPECT_EQ(result.error().front().file, "f.toml");
    EXPECT_EQ(result.error().front().source_line, "x = \"L + B\"");
}

TEST(expr, real) {
    const Scope scope{.integers = {{"D", 64}}, .reals = {{"s", 0.25}}};
    const auto real = [&](std::string_view text) {
        return must(must(Expr::parse(text, Expr::Kind::real)).eval_real(scope));
    };
    EXPECT_EQ(real("1 / sqrt(D)"), 0.125);
    EXPECT_EQ(real("-s * 2.5e1 + 1"), -5.25);
    EXPECT_EQ(real("max(s, 1, .5)"), 1);
    EXPECT_EQ(real("log2e"), 0x1.71547652b82fep0);
    EXPECT_EQ(error_of(must(Expr::parse("sqrt(0 - D)", Expr::Kind::real)).eval_real(scope)),
              "'sqrt(0 - D)' has no finite value here");
    EXPECT_EQ(error_of(Expr::parse("D % 2", Expr::Kind::real)),
              "'%' has no meaning in a real expression");
}

TEST(expr, bounds) {
    EXPECT_EQ(error_of(must(Expr::parse("B - 3")).eval_between(kNames, 1, 9, "an extent")),
              "an extent must be at least 1, not 'B - 3' = -1");
    EXPECT_EQ(error_of(Expr::constant(12).eval_between(kNames, 1, 9, "an extent")),
              "an extent must be at most 9, not 12");
}

}  // namespace
}  // namespace ww::port

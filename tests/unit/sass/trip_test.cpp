// SPDX-License-Identifier: Apache-2.0
// Trip hints: loops whose count is known, against running them, and loops that may only get part of
// a hint, or none.
#include "sass/trip.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/policy.hpp"
#include "code.hpp"

namespace ww::sass {
namespace {

using test::read_code;

// Of the loop that starts with label "a".
TripHint hint(std::string_view code) {
    const Listing read = read_code(code);
    const Function& function = read.functions[0];
    const Graph graph = graph_of(function);
    const auto at = std::find_if(function.labels.begin(), function.labels.end(),
                                 [](const Label& label) { return label.name == "a"; });
    for (const Loop& loop : graph.loops)
        if (graph.blocks[loop.header].first == at->instruction)
            return TripHints(function, graph).of(loop);
    ADD_FAILURE() << "no loop a in\n" << code;
    return {};
}

TEST(trip, a_counter_with_a_constant_bound) {
    const TripHint found = hint(
        "MOV R0, 0x2\na:\nNOP\nIADD3 R0, R0, 0x4, RZ\nISETP.NE.AND P0, PT, R0, 0x22, PT\n@P0 BRA "
        "`(a)\nEXIT");
    EXPECT_EQ(found.counter, "R0");
    EXPECT_EQ(found.step, 4);
    EXPECT_EQ(found.comparison, "ISETP.NE.AND");
    EXPECT_EQ(found.bound, "0x22");
    EXPECT_EQ(found.count, 8);
}

TEST(trip, a_bound_in_a_register_has_no_count) {
    const TripHint found = hint(
        "MOV R0, RZ\na:\nVIADD R0, R0, 0xffffffff\nISETP.GT.AND P2, PT, R0, UR4, PT\n@P2 BRA "
        "`(a)\nEXIT");
    EXPECT_EQ(found.counter, "R0");
    EXPECT_EQ(found.step, -1);
    EXPECT_EQ(found.bound, "UR4");
    EXPECT_FALSE(found.count);
}

TEST(trip, uniform_counters_and_spellings_of_constants) {
    const std::string_view starts[] = {"UMOV UR4, URZ", "UMOV UR4, 0x0"};
    for (const std::string_view start : starts)
        EXPECT_EQ(hint(fmt::format("{}\na:\nUIADD3 UR4, UPT, UPT, UR4, 0x1, URZ\n"
                                   "UISETP.GE.AND UP0, UPT, UR4, 0x10, UPT\n@!UP0 BRA `(a)\nEXIT",
                                   start))
                      .count,
                  16)
            << start;
    for (const std::string_view start :
         {"MOV R0, RZ", "IMAD.MOV.U32 R0, RZ, RZ, 0x0", "CS2R R0, SRZ",
          "HFMA2.MMA R0, -RZ, RZ, 0, 0", "HFMA2 R0, -RZ, RZ, 0, 0"})
        EXPECT_EQ(
            hint(fmt::format("{}\na:\nIADD3 R0, R0, 0x1, RZ\nISETP.NE.AND P0, PT, R0, 0x3, PT\n"
                             "@P0 BRA `(a)\nEXIT",
                             start))
                .count,
            3)
            << start;
}

// The loop run step by step; nothing within the limit: nothing.
std::optional<int64_t> run(uint32_t start, uint32_t step, std::string_view comparison,
                           bool is_unsigned, uint32_t bound, bool negated, bool swapped,
                           bool updated_first, int64_t limit) {
    const auto compare = [&](auto a, auto b) {
        return comparison == "NE"   ? a != b
               : comparison == "EQ" ? a == b
               : comparison == "LT" ? a < b
               : comparison == "LE" ? a <= b
               : comparison == "GT" ? a > b
                                    : a >= b;
    };
    uint32_t counter = start;
    for (int64_t i = 1; i <= limit; ++i) {
        if (updated_first) counter += step;
        const uint32_t a = swapped ? bound : counter, b = swapped ? counter : bound;
        const bool holds =
            is_unsigned ? compare(a, b) : compare(static_cast<int32_t>(a), static_cast<int32_t>(b));
        if (holds == negated) return i;
        if (!updated_first) counter += step;
    }
    return std::nullopt;
}

// All comparisons, both signednesses, small and wrapping steps and bounds.
TEST(trip, counts_are_those_of_running_the_loop) {
    Random random(7);
    constexpr std::string_view kComparisons[] = {"NE", "EQ", "LT", "LE", "GT", "GE"};
    constexpr int64_t kLimit = 1 << 12;
    int known = 0, above_one = 0;
    for (int i = 0; i < 20000; ++i) {
        const auto near = [&] {
            constexpr uint32_t kAround[] = {0, 0x80000000u, 0x7fffff00u, 100, 0xffffff00u};
            return kAround[random.below(5)] + static_cast<uint32_t>(random.below(200));
        };
        const uint32_t start = near(), bound = near();
        uint32_t step =
            1 + static_cast<uint32_t>(random.below(random.below(4) == 0 ? 0x80000000u : 9));
        if (random.below(2) != 0) step = 0 - step;
        const std::string_view comparison = kComparisons[random.below(6)];
        const bool is_unsigned = random.below(2) != 0, negated = random.below(2) != 0,
                   swapped = random.below(2) != 0, first = random.below(2) != 0;
        const std::string test = fmt::format(
            "ISETP.{}{}.AND P0, PT, {}, PT\n", comparison, is_unsigned ? ".U32" : "",
            swapped ? fmt::format("0x{:x}, R0", bound) : fmt::format("R0, 0x{:x}", bound));
        const std::string update = fmt::format("IADD3 R0, R0, 0x{:x}, RZ\n", step);
        const std::string code =
            fmt::format("MOV R0, 0x{:x}\na:\n{}{}@{}P0 BRA `(a)\nEXIT", start,
                        first ? update : test, first ? test : update, negated ? "!" : "");
        const auto expected =
            run(start, step, comparison, is_unsigned, bound, negated, swapped, first, kLimit);
        const TripHint found = hint(code);
        if (expected) {
            ASSERT_EQ(found.count, expected) << code;
            ++known;
            above_one += *expected > 1;
        } else {
            ASSERT_TRUE(!found.count || *found.count > kLimit) << code << *found.count;
        }
    }
    EXPECT_GT(known, 5000);
    EXPECT_GT(above_one, 2000);
}

TEST(trip, many_iterations_are_counted_too) {
    const auto count = [](std::string_view step, std::string_view test) {
        return hint(fmt::format(
                        "MOV R0, RZ\na:\nIADD3 R0, R0, {}, RZ\nISETP.{}, PT\n@P0 BRA `(a)\nEXIT",
                        step, test))
            .count;
    };
    EXPECT_EQ(count("0x1", "LT.AND P0, PT, R0, 0x7fffffff"), 0x7fffffff);
    EXPECT_EQ(count("0x3", "NE.AND P0, PT, R0, 0x1"), 2863311531);  // 3 * that is 2^33 + 1
    EXPECT_EQ(count("0x1", "NE.AND P0, PT, R0, RZ"), int64_t{1} << 32);
    EXPECT_FALSE(count("0x2", "NE.AND P0, PT, R0, 0x1"));          // never
    EXPECT_FALSE(count("0x1", "GE.U32.AND P0, PT, R0, RZ"));       // always holds
    EXPECT_EQ(count("0x1", "GE.AND P0, PT, R0, RZ"), 0x80000000);  // until it wraps
}

struct Near {
    std::string_view why, code;
};

TEST(trip, no_hint_at_all) {
    const Near rows[] = {
        {"no comparison", "a:\nNOP\n@P0 BRA `(a)\nEXIT"},
        {"endless", "a:\nNOP\nBRA `(a)"},
        {"two latches",
         "MOV R0, RZ\na:\nIADD3 R0, R0, 0x1, RZ\nISETP.NE.AND P0, PT, R0, 0x8, PT\n@P0 BRA "
         "`(a)\n@P0 BRA `(a)\nEXIT"},
        {"another kind of comparison",
         "a:\nFADD R0, R0, 1\nFSETP.NEU.AND P0, PT, R0, 8, PT\n@P0 BRA `(a)\nEXIT"},
        {"a guarded comparison",
         "a:\nIADD3 R0, R0, 0x1, RZ\n@P1 ISETP.NE.AND P0, PT, R0, 0x8, PT\n@P0 BRA `(a)\nEXIT"},
        {"the predicate comes from two places",
         "a:\nIADD3 R0, R0, 0x1, RZ\nISETP.NE.AND P0, PT, R0, 0x8, PT\n@P1 BRA `(m)\n"
         "ISETP.NE.AND P0, PT, R5, RZ, PT\nm:\n@P0 BRA `(a)\nEXIT"},
        {"the predicate is written after the comparison, all of them at once",
         "a:\nIADD3 R0, R0, 0x1, RZ\nISETP.NE.AND P0, PT, R0, 0x8, PT\nR2P PR, R5, 0x7f\n@P0 BRA "
         "`(a)\nEXIT"},
        {"the counter is no register that is added to",
         "a:\nSHF.L.U32 R0, R0, 0x1, RZ\nISETP.NE.AND P0, PT, R0, 0x8, PT\n@P0 BRA `(a)\nEXIT"},
        {"a step in a register",
         "a:\nIADD3 R0, R0, R1, RZ\nISETP.NE.AND P0, PT, R0, 0x8, PT\n@P0 BRA `(a)\nEXIT"},
        {"counted twice",
         "a:\nIADD3 R0, R0, 0x1, RZ\nIADD3 R0, R0, 0x1, RZ\nISETP.NE.AND P0, PT, R0, 0x8, PT\n@P0 "
         "BRA `(a)\nEXIT"},
        {"counted only sometimes",
         "a:\n@P1 IADD3 R0, R0, 0x1, RZ\nISETP.NE.AND P0, PT, R0, 0x8, PT\n@P0 BRA `(a)\nEXIT"},
        {"counted on one of two ways",
         "a:\n@P1 BRA `(m)\nIADD3 R0, R0, 0x1, RZ\nm:\nISETP.NE.AND P0, PT, R0, 0x8, PT\n@P0 BRA "
         "`(a)\nEXIT"},
        {"counted in an inner loop",
         "a:\nNOP\nb:\nIADD3 R0, R0, 0x1, RZ\n@P1 BRA `(b)\nISETP.NE.AND P0, PT, R0, 0x8, PT\n@P0 "
         "BRA `(a)\nEXIT"},
        {"the upper half of something wide",
         "a:\nIADD3 R1, R1, 0x1, RZ\nF2F.F64.F32 R0, R4\nISETP.NE.AND P0, PT, R1, 0x8, PT\n@P0 BRA "
         "`(a)\nEXIT"},
    };
    for (const Near& row : rows) EXPECT_EQ(hint(row.code).counter, "") << row.why;
}

TEST(trip, a_hint_without_a_count) {
    const Near rows[] = {
        {"another exit",
         "MOV R0, RZ\na:\n@P1 BRA `(out)\nIADD3 R0, R0, 0x1, RZ\nISETP.NE.AND P0, PT, R0, 0x8, "
         "PT\n@P0 BRA `(a)\n"
         "out:\nEXIT"},
        {"it may exit",
         "MOV R0, RZ\na:\n@P1 EXIT\nIADD3 R0, R0, 0x1, RZ\nISETP.NE.AND P0, PT, R0, 0x8, PT\n@P0 "
         "BRA `(a)\nEXIT"},
        {"another condition besides",
         "MOV R0, RZ\na:\nIADD3 R0, R0, 0x1, RZ\nISETP.NE.AND P0, PT, R0, 0x8, P1\n@P0 BRA "
         "`(a)\nEXIT"},
        {"no start",
         "a:\nIADD3 R0, R0, 0x1, RZ\nISETP.NE.AND P0, PT, R0, 0x8, PT\n@P0 BRA `(a)\nEXIT"},
        {"a start from memory",
         "LDC R0, c[0x0][0x210]\na:\nIADD3 R0, R0, 0x1, RZ\nISETP.NE.AND P0, PT, R0, 0x8, PT\n@P0 "
         "BRA `(a)\nEXIT"},
        {"a start that may be left out",
         "@P1 MOV R0, RZ\na:\nIADD3 R0, R0, 0x1, RZ\nISETP.NE.AND P0, PT, R0, 0x8, PT\n@P0 BRA "
         "`(a)\nEXIT"},
        {"two starts",
         "MOV R0, RZ\n@P1 BRA `(a)\nMOV R0, 0x4\na:\nIADD3 R0, R0, 0x1, RZ\nISETP.NE.AND P0, PT, "
         "R0, 0x8, PT\n"
         "@P0 BRA `(a)\nEXIT"},
        {"the second start lies behind",
         "MOV R0, RZ\n@P1 BRA `(c)\na:\nIADD3 R0, R0, 0x1, RZ\nISETP.NE.AND P0, PT, R0, 0x8, "
         "PT\n@P0 BRA `(a)\n"
         "EXIT\nc:\nMOV R0, 0x4\nBRA `(a)"},
        {"without the branch it goes on in the loop",
         "MOV R0, RZ\na:\nIADD3 R0, R0, 0x1, RZ\nc:\nISETP.NE.AND P0, PT, R0, 0x8, PT\n@P0 BRA "
         "`(a)\nNOP\nBRA `(c)"},
        {"a cycle that is no natural loop",
         "MOV R0, RZ\na:\n@P1 BRA `(d)\nc:\nNOP\nd:\nNOP\n@P2 BRA `(c)\nIADD3 R0, R0, 0x1, RZ\n"
         "ISETP.NE.AND P0, PT, R0, 0x8, PT\n@P0 BRA `(a)\nEXIT"},
        {"the outer loop does not start it again",
         "MOV R0, RZ\no:\nNOP\na:\nIADD3 R0, R0, 0x1, RZ\nISETP.NE.AND P0, PT, R0, 0x8, PT\n@P0 "
         "BRA `(a)\n"
         "@P1 BRA `(o)\nEXIT"},
        {"a comparison of 64 bits",
         "MOV R0, RZ\na:\nIADD3 R0, R0, 0x1, RZ\nISETP.NE.AND.EX P0, PT, R0, 0x8, PT, P1\n@P0 BRA "
         "`(a)\nEXIT"},
        {"a comparison of 64 bits in one",
         "MOV R0, RZ\na:\nIADD3 R0, R0, 0x1, RZ\nISETP.NE.S64.AND P0, PT, R0, 0x8, PT\n@P0 BRA "
         "`(a)\nEXIT"},
    };
    for (const Near& row : rows) {
        const TripHint found = hint(row.code);
        EXPECT_EQ(found.step, 1) << row.why;
        EXPECT_FALSE(found.count) << row.why;
    }
}

TEST(trip, each_outer_iteration_starts_it_again) {
    EXPECT_EQ(hint("o:\nMOV R0, RZ\n@P2 BRA `(s)\nNOP\ns:\nNOP\na:\nIADD3 R0, R0, 0x1, RZ\n"
                   "ISETP.NE.AND P0, PT, R0, 0x8, PT\n@P0 BRA `(a)\n@P1 BRA `(o)\nEXIT")
                  .count,
              8);
}

}  // namespace
}  // namespace ww::sass

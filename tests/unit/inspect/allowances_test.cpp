// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "inspect/gate.hpp"

namespace ww::inspect {
namespace {

Allowances two_kernels() {
    Allowances out;
    out.made_with = "nvrtc 13.0, ptxas 13.0.88";
    out.kernels["a.sm_90a a"] = {.registers = 40, .spill_bytes = 8, .main_loop = Allowance::MainLoop{70, 8}, .loops = {{1, 100}, {2, 60}}};
    out.kernels["b.sm_90a _Z1bv"] = {.registers = 20};
    return out;
}

TEST(Allowances, AreReadAsTheyAreWritten) {
    const auto read = read_allowances(to_text(two_kernels()), "resources.txt");
    ASSERT_TRUE(read) << format(read.error());
    EXPECT_EQ(to_text(*read), to_text(two_kernels()));
    EXPECT_EQ(read->kernels.at("a.sm_90a a").loops, two_kernels().kernels.at("a.sm_90a a").loops);
}

TEST(Allowances, EachFigureAloneFails) {
    Allowances recorded = two_kernels();
    recorded.kernels["a.sm_90a a"].loops = {{1, 49}, {2, 30}};
    EXPECT_TRUE(judge(recorded, recorded).ok());
    Allowances now = recorded;
    Allowance& a = now.kernels["a.sm_90a a"];
    for (int64_t* figure : {&a.registers, &a.spill_bytes, &a.main_loop->instructions, &a.main_loop->mufu, &a.loops[0].instructions, &a.loops[1].instructions}) {
        ++*figure;
        EXPECT_FALSE(judge(recorded, now).ok());
        EXPECT_EQ(judge(recorded, now).kernels[0].exceeded.size(), 1u);
        *figure -= 2;
        EXPECT_TRUE(judge(recorded, now).ok());
        EXPECT_EQ(judge(recorded, now).kernels[0].notes.size(), 1u);
        ++*figure;
    }
}

TEST(Allowances, TheFigureOfTensorCoresMustBeRecorded) {
    Allowances recorded = two_kernels();
    recorded.kernels["a.sm_90a a"].main_loop.reset();
    EXPECT_FALSE(judge(recorded, two_kernels()).ok());
    EXPECT_TRUE(judge(two_kernels(), recorded).ok());
    EXPECT_EQ(judge(two_kernels(), recorded).kernels[0].notes.size(), 1u);
    const auto twice = read_allowances("kernel a b\n registers 1\n spill_bytes 0\n main_loop 1 1\n main_loop 1 1\n", "resources.txt");
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().front().line, 5);
}

TEST(Allowances, OtherLoopsAreJudgedByTheOutermostSum) {
    const Allowances recorded = two_kernels();
    Allowances now = recorded;
    now.kernels["a.sm_90a a"].loops = {{1, 50}, {1, 50}};
    EXPECT_TRUE(judge(recorded, now).ok());
    now.kernels["a.sm_90a a"].loops = {{1, 50}, {1, 53}, {2, 1}};
    EXPECT_FALSE(judge(recorded, now).ok());
}

TEST(Allowances, LoopsMayVaryByTwoPerCent) {
    Allowances recorded = two_kernels();
    recorded.kernels["a.sm_90a a"].loops = {{1, 1000}, {2, 49}};
    Allowances now = recorded;
    std::vector<Allowance::Loop>& loops = now.kernels["a.sm_90a a"].loops;
    loops[0].instructions = 1020;
    EXPECT_TRUE(judge(recorded, now).ok());
    EXPECT_EQ(judge(recorded, now).kernels[0].notes.size(), 1u);
    loops[0].instructions = 1021;
    EXPECT_FALSE(judge(recorded, now).ok());
    loops = {{1, 1000}, {2, 50}};
    EXPECT_FALSE(judge(recorded, now).ok());
}

TEST(Allowances, AKernelThatIsNotRecordedFailsAndOneThatWentIsTold) {
    Allowances recorded = two_kernels();
    recorded.kernels.erase("a.sm_90a a");
    EXPECT_FALSE(judge(recorded, two_kernels()).ok());
    const GateReport report = judge(two_kernels(), recorded);
    EXPECT_TRUE(report.ok());
    ASSERT_EQ(report.notes.size(), 1u);
    EXPECT_NE(report.notes[0].find("a.sm_90a a"), std::string::npos);
}

}  // namespace
}  // namespace ww::inspect

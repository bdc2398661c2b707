// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

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

TEST(Allowances, AKernelThatIsNotRecordedFailsAndOneThatWentIsTold) {
    Allowances recorded = two_kernels();
    recorded.kernels.erase("a.sm_90a a");
    EXPECT_FALSE(judge(recorded, two_kernels()).ok());
    const GateReport report = judge(two_kernels(), recorded);
    EXPECT_TRUE(report.ok());
    ASSERT_EQ(report.notes.size(), 1u);
    EXPECT_NE(report.notes[0].find("a.sm_90a a"), std::string::npos);
}

// Compilations in order, the last again and again; asked holds what each was asked for.
struct Compilations {
    std::vector<Allowances> made;
    std::vector<std::set<std::string>> asked = {};
    Build build() {
        return [this](int trial, const std::set<std::string>& files) -> Result<Allowances> {
            EXPECT_EQ(trial, static_cast<int>(asked.size()));
            asked.push_back(files);
            Allowances out = made[std::min<size_t>(trial, made.size() - 1)];
            if (!files.empty())
                std::erase_if(out.kernels, [&](const auto& each) { return files.count(each.first.substr(0, each.first.find(' '))) == 0; });
            return out;
        };
    }
};

Allowances with_registers(int64_t a, int64_t b) {
    Allowances out = two_kernels();
    out.kernels["a.sm_90a a"].registers = a;
    out.kernels["b.sm_90a _Z1bv"].registers = b;
    return out;
}

TEST(Trials, AKernelFailsThatExceedsInAllOfThem) {
    Compilations now{{with_registers(41, 20)}};
    const auto report = judge_trials(two_kernels(), now.build());
    ASSERT_TRUE(report);
    EXPECT_FALSE(report->ok());
    ASSERT_EQ(now.asked.size(), static_cast<size_t>(kTrials));
    EXPECT_EQ(now.asked[1], std::set<std::string>{"a.sm_90a"});
    Compilations none{{two_kernels()}};
    ASSERT_TRUE(judge_trials(two_kernels(), none.build()));
    EXPECT_EQ(none.asked.size(), 1u);
}

TEST(Trials, OneCompilationWithinTheFiguresIsEnoughAndIsTold) {
    Compilations now{{with_registers(41, 21), with_registers(41, 20), with_registers(40, 21)}};
    const auto report = judge_trials(two_kernels(), now.build());
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->ok());
    ASSERT_EQ(now.asked.size(), 3u);
    EXPECT_EQ(now.asked[2], std::set<std::string>{"a.sm_90a"});
    ASSERT_EQ(report->kernels[0].notes.size(), 1u);
    EXPECT_EQ(report->kernels[0].notes[0].substr(0, 16), "compiled 3 times");
    EXPECT_EQ(report->kernels[1].notes[0].substr(0, 16), "compiled 2 times");
}

TEST(Trials, WhatIsNotRecordedIsNotCompiledAgain) {
    Allowances recorded = two_kernels();
    recorded.kernels.erase("a.sm_90a a");
    Compilations now{{two_kernels()}};
    const auto report = judge_trials(recorded, now.build());
    ASSERT_TRUE(report);
    EXPECT_FALSE(report->ok());
    EXPECT_EQ(now.asked.size(), 1u);
}

TEST(Trials, WhatTwoAgreeOnIsRecorded) {
    Compilations now{{with_registers(41, 20), with_registers(40, 20), with_registers(39, 20), with_registers(40, 19)}};
    const auto out = agreed(now.build());
    ASSERT_TRUE(out);
    EXPECT_EQ(to_text(*out), to_text(with_registers(40, 20)));
    ASSERT_EQ(now.asked.size(), 4u);
    EXPECT_EQ(now.asked[1], (std::set<std::string>{"a.sm_90a", "b.sm_90a"}));
    EXPECT_EQ(now.asked[3], std::set<std::string>{"a.sm_90a"});
    Compilations never{{with_registers(1, 20), with_registers(2, 20), with_registers(3, 20), with_registers(4, 20), with_registers(5, 20), with_registers(6, 20)}};
    const auto first = agreed(never.build());
    ASSERT_TRUE(first);
    EXPECT_EQ(to_text(*first), to_text(with_registers(1, 20)));
    EXPECT_EQ(never.asked.size(), static_cast<size_t>(kTrials));
}

}  // namespace
}  // namespace ww::inspect

// SPDX-License-Identifier: Apache-2.0
// Predictions, the lines of probes, and the files of gotchas and the log. What compiles and runs is
// tested end to end in tests/journal.
#include <gtest/gtest.h>

#include "journal/log_file.hpp"
#include "journal/prediction.hpp"
#include "journal/probe_file.hpp"

namespace ww::journal {
namespace {

std::string error_of(const std::string& text) {
    const auto made = parse_predictions(text);
    return made ? "none" : made.error().front().message;
}

bool missed(const std::string& prediction, double before, double after) {
    const auto made = parse_predictions(prediction);
    EXPECT_TRUE(made) << prediction;
    return judge(made->front(), "k", {{made->front().metric, before}}, {{made->front().metric, after}}).missed;
}

TEST(Prediction, EveryForm) {
    const auto made = parse_predictions("registers -10%, spill_bytes 456->0 , instructions same,issue_slots +8.5");
    ASSERT_TRUE(made);
    ASSERT_EQ(made->size(), 4u);
    EXPECT_DOUBLE_EQ((*made)[0].value, -0.1);
    EXPECT_EQ((*made)[1].kind, Prediction::Kind::result);
    EXPECT_DOUBLE_EQ(*(*made)[1].from, 456);
    EXPECT_DOUBLE_EQ((*made)[2].value, 0);
    EXPECT_DOUBLE_EQ((*made)[3].value, 8.5);
}

TEST(Prediction, MistakesSayWhatToWrite) {
    EXPECT_EQ(error_of("regsters -1"), "'regsters' is no metric; did you mean 'registers'?");
    for (const char* text : {"registers", "registers less", "registers 10", "registers 1->", "registers ->1", "registers -x%", "registers +inf"})
        EXPECT_NE(error_of(text).find("is no prediction: write METRIC -10%"), std::string::npos) << text;
    EXPECT_NE(error_of("  ").find("say what moves"), std::string::npos);
    EXPECT_EQ(error_of("registers -1, registers -2"), "'registers' is predicted twice");
}

TEST(Prediction, HalfOfTheChangeIsTheLimit) {
    EXPECT_FALSE(missed("registers -10%", 100, 95));
    EXPECT_TRUE(missed("registers -10%", 100, 96));
    EXPECT_FALSE(missed("registers -10%", 100, 85));
    EXPECT_TRUE(missed("registers -10%", 100, 84));
    EXPECT_TRUE(missed("registers -8", 100, 108));
    EXPECT_FALSE(missed("spill_bytes 456->0", 400, 200));
    EXPECT_TRUE(missed("spill_bytes 456->0", 400, 201));
    EXPECT_FALSE(missed("instructions same", 7, 7));
    EXPECT_TRUE(missed("instructions same", 7, 8));
}

TEST(Prediction, WhatWasNotMeasuredMissesNothing) {
    const auto made = parse_predictions("time_us -5%");
    ASSERT_TRUE(made);
    const Judged judged = judge(made->front(), "k", {}, {});
    EXPECT_FALSE(judged.measured);
    EXPECT_FALSE(judged.missed);
    EXPECT_EQ(judged.text(), "time_us not measured");
}

TEST(Probe, LinesSayHowToLook) {
    const auto probe = parse_probe("// probe: target sm_120a\n// probe: launch 2x3 32 1\n// probe: in a s16 -1 0x7f\n"
                                   "// probe: out b f32 3\n// probe: option --fmad=false\n// probe: shared 64\n",
                                   "x.cu");
    ASSERT_TRUE(probe) << format(probe.error());
    EXPECT_EQ(probe->target, "sm_120a");
    EXPECT_EQ(probe->grid, (std::array<uint32_t, 3>{2, 3, 1}));
    EXPECT_EQ(probe->buffers[0].bytes, (std::vector<std::byte>{std::byte{0xff}, std::byte{0xff}, std::byte{0x7f}, std::byte{0}}));
    EXPECT_EQ(probe->buffers[1].bytes.size(), 12u);
    EXPECT_EQ(buffer_text(probe->buffers[0]), "a[0] -1 127\n");
    EXPECT_EQ(buffer_text(probe->buffers[1]), "b[0] 0 0 0\n");
}

TEST(Probe, MistakesNameTheirLine) {
    for (const char* line : {"launch 0 1", "launch 1", "in a u8 256", "in a u32 -1", "in a f32 x", "out b f32 0", "out b f16 1", "targt sm_90",
                             "target sm_9o", "sass", "", "in a s8 128", "out b f32 1 2"}) {
        const auto probe = parse_probe(std::string("\n// probe: ") + line + "\n", "x.cu");
        ASSERT_FALSE(probe) << line;
        EXPECT_EQ(probe.error().front().line, 2) << line;
    }
}

Result<Log> log_of_text(const std::string& text) {
    const auto file = records::File::parse(text, "log.txt", log_schema());
    if (!file) return file.failure();
    return log_of(*file);
}

constexpr const char* kStart =
    "0a idea one\n0a started 2026-11-30T10:00:00Z\n0a predict registers -1\n0a commit_was abc\n0a before k.sm_90a registers=32\n";

TEST(LogFile, EntriesAreOrderedByTheirStart) {
    const auto log = log_of_text(std::string(kStart) + "0b started 2026-11-29T10:00:00Z\n0b idea two\n0b predict registers -1\n"
                                                       "0b commit_was abc\n0b before k.sm_90a registers=32\n");
    ASSERT_TRUE(log) << format(log.error());
    EXPECT_EQ(log->entries[0].idea, "two");
    EXPECT_TRUE(log->entries[0].open());
    EXPECT_DOUBLE_EQ(log->entries[1].before[0].metrics.at("registers"), 32);
}

TEST(LogFile, MistakesNameTheirLine) {
    for (const auto& [text, line] : {std::pair{"0a verdict kept\n", 6}, std::pair{"0a finished x\n0a verdict perhaps\n", 7},
                                     std::pair{"0a after k registers=x\n", 6}, std::pair{"0a idea two\n", 6}}) {
        const auto log = log_of_text(std::string(kStart) + text);
        ASSERT_FALSE(log) << text;
        EXPECT_EQ(log.error().front().line, line) << text << format(log.error());
    }
}

TEST(LogFile, WhatIsWrittenIsReadBack) {
    Entry entry{.key = "0c", .idea = "x", .predict = "registers same", .started = "2026-11-30T10:00:00Z", .commit_before = "none",
                .toolchain_before = "t", .before = {{"k.sm_90a", {{"registers", 32}, {"issue_slots", 1.5}}}}};
    auto file = records::File::parse("", "log.txt", log_schema());
    ASSERT_TRUE(file);
    file->append(start_record(entry));
    entry.finished = "later";
    entry.verdict = "reverted";
    entry.check = entry.device = entry.bench = entry.commit = entry.toolchain = "y";
    entry.after = entry.before;
    entry.measured = {"registers 32 -> 32 (same)"};
    file->append(finish_record(entry));
    const auto log = log_of_text(file->text());
    ASSERT_TRUE(log) << format(log.error());
    EXPECT_EQ(log->entries[0].verdict, "reverted");
    EXPECT_DOUBLE_EQ(log->entries[0].after[0].metrics.at("issue_slots"), 1.5);
    EXPECT_EQ(log->entries[0].measured, entry.measured);
}

}  // namespace
}  // namespace ww::journal

// SPDX-License-Identifier: Apache-2.0
// shfl, vote, match, redux, elect, matrix loads and prmt against the manual's formulae.
#include <gtest/gtest.h>

#include <random>

#include "warp_bench.hpp"

namespace ww::isa {
namespace {

void count_lanes(Bench& bench, const TestOperand& operand, uint32_t times, uint32_t plus) {
    for (uint32_t lane = 0; lane < kLanes; ++lane)
        bench.values<uint32_t>(operand)[lane] = times * lane + plus;
}

TEST(Shuffle, DownWithinSegmentsOf8) {
    Bench bench;
    const TestOperand d = bench.reg(4), p = bench.predicate(), a = bench.reg(4);
    count_lanes(bench, a, 1, 100);
    // c: segment mask 0x18 (width 8), clamp 0x1f.
    ASSERT_TRUE(bench.run("shfl.sync.down.b32", {d, Bench::second(p), a, bench.immediate(3),
                                                 bench.immediate(0x181f), bench.immediate(~0u)}));
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const bool inside = lane % 8 + 3 < 8;
        EXPECT_EQ(bench.values<uint32_t>(d)[lane], 100 + (inside ? lane + 3 : lane));
        EXPECT_EQ(*bench.values<uint32_t>(p) >> lane & 1, inside ? 1u : 0u);
    }
}

TEST(Shuffle, UpIdxBfly) {
    Bench bench;
    const TestOperand d = bench.reg(4), a = bench.reg(4), all = bench.immediate(~0u);
    count_lanes(bench, a, 1, 0);
    ASSERT_TRUE(bench.run("shfl.sync.up.b32", {d, a, bench.immediate(2), bench.immediate(0), all}));
    for (uint32_t lane = 0; lane < kLanes; ++lane)
        EXPECT_EQ(bench.values<uint32_t>(d)[lane], lane < 2 ? lane : lane - 2);
    ASSERT_TRUE(
        bench.run("shfl.sync.idx.b32", {d, a, bench.immediate(5), bench.immediate(0x1f), all}));
    for (uint32_t lane = 0; lane < kLanes; ++lane) EXPECT_EQ(bench.values<uint32_t>(d)[lane], 5u);
    ASSERT_TRUE(
        bench.run("shfl.sync.bfly.b32", {d, a, bench.immediate(16), bench.immediate(0x1f), all}));
    for (uint32_t lane = 0; lane < kLanes; ++lane)
        EXPECT_EQ(bench.values<uint32_t>(d)[lane], lane ^ 16);
}

TEST(Members, LanesOfOneSplitMayNameDifferentMasks) {
    Bench bench;
    const TestOperand d = bench.reg(4), a = bench.reg(4), mask = bench.reg(4);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        bench.values<uint32_t>(a)[lane] = lane;
        bench.values<uint32_t>(mask)[lane] = lane % 2 ? 0xaaaaaaaa : 0x55555555;
    }
    ASSERT_EQ(bench.bind("redux.sync.add.u32", {d, a, mask}), "");
    bench.step();
    EXPECT_EQ(bench.values<uint32_t>(d)[0], 240u);  // 0 + 2 + ... + 30
    ASSERT_EQ(bench.warp().parked.size(), 1u);      // the odd lanes run the instruction again
    EXPECT_EQ(bench.warp().parked[0].mask, 0xaaaaaaaau);
    EXPECT_EQ(bench.warp().parked[0].pc, bench.warp().pc);
}

TEST(Members, AStrangerIsAFault) {
    Bench bench;
    const TestOperand d = bench.reg(4), a = bench.reg(4);
    EXPECT_THROW(bench.run("redux.sync.add.u32", {d, a, bench.immediate(0xffff)}),
                 machine::GuestTrap);
}

TEST(Members, WaitsForAbsentLanes) {
    Bench bench;
    const TestOperand d = bench.reg(4), a = bench.reg(4);
    EXPECT_FALSE(bench.run("redux.sync.add.u32", {d, a, bench.immediate(~0u)}, 0xffff));
    EXPECT_EQ(bench.warp().wait.kind, machine::Wait::Kind::lanes);
}

TEST(Vote, AllAnyUniBallot) {
    Bench bench;
    const TestOperand q = bench.predicate(), p = bench.predicate(), d = bench.reg(4),
                      all = bench.immediate(~0u);
    for (const uint32_t bits : {0u, ~0u, 0x10u}) {
        *bench.values<uint32_t>(q) = bits;
        ASSERT_TRUE(bench.run("vote.sync.all.pred", {p, q, all}));
        EXPECT_EQ(*bench.values<uint32_t>(p), bits == ~0u ? ~0u : 0u);
        ASSERT_TRUE(bench.run("vote.sync.any.pred", {p, q, all}));
        EXPECT_EQ(*bench.values<uint32_t>(p), bits ? ~0u : 0u);
        ASSERT_TRUE(bench.run("vote.sync.uni.pred", {p, q, all}));
        EXPECT_EQ(*bench.values<uint32_t>(p), bits == 0x10 ? 0u : ~0u);
        ASSERT_TRUE(bench.run("vote.sync.ballot.b32", {d, q, all}));
        EXPECT_EQ(bench.values<uint32_t>(d)[9], bits);
    }
}

TEST(Match, AnyAndAll) {
    Bench bench;
    const TestOperand d = bench.reg(4), p = bench.predicate(), a = bench.reg(8),
                      all = bench.immediate(~0u);
    for (uint64_t lane = 0; lane < kLanes; ++lane) bench.values<uint64_t>(a)[lane] = lane % 3 << 40;
    ASSERT_TRUE(bench.run("match.any.sync.b64", {d, a, all}));
    EXPECT_EQ(bench.values<uint32_t>(d)[0], 0x49249249u);
    EXPECT_EQ(bench.values<uint32_t>(d)[4], 0x92492492u);
    ASSERT_TRUE(bench.run("match.all.sync.b64", {d, Bench::second(p), a, all}));
    EXPECT_EQ(bench.values<uint32_t>(d)[3], 0u);
    EXPECT_EQ(*bench.values<uint32_t>(p), 0u);
    for (uint64_t lane = 0; lane < kLanes; ++lane) bench.values<uint64_t>(a)[lane] = 7;
    ASSERT_TRUE(bench.run("match.all.sync.b64", {d, Bench::second(p), a, all}));
    EXPECT_EQ(bench.values<uint32_t>(d)[3], ~0u);
    EXPECT_EQ(*bench.values<uint32_t>(p), ~0u);
}

TEST(Redux, IntegersAndFloats) {
    Bench bench(32, 100);
    const TestOperand d = bench.reg(4), a = bench.reg(4), all = bench.immediate(~0u);
    count_lanes(bench, a, 1, 0xfffffff0);  // -16 .. 15
    ASSERT_TRUE(bench.run("redux.sync.min.s32", {d, a, all}));
    EXPECT_EQ(bench.values<uint32_t>(d)[31], 0xfffffff0u);
    ASSERT_TRUE(bench.run("redux.sync.min.u32", {d, a, all}));
    EXPECT_EQ(bench.values<uint32_t>(d)[0], 0u);
    ASSERT_TRUE(bench.run("redux.sync.xor.b32", {d, a, all}));
    EXPECT_EQ(bench.values<uint32_t>(d)[0], 0u);
    for (int lane = 0; lane < kLanes; ++lane) bench.values<uint32_t>(a)[lane] = 0x7fc12345;  // NaN
    ASSERT_TRUE(bench.run("redux.sync.max.f32", {d, a, all}));
    EXPECT_EQ(bench.values<uint32_t>(d)[0], 0x7fffffffu);
    bench.values<uint32_t>(a)[3] = 0x80000000;
    bench.values<uint32_t>(a)[4] = 0;
    ASSERT_TRUE(bench.run("redux.sync.max.f32", {d, a, all}));
    EXPECT_EQ(bench.values<uint32_t>(d)[0], 0u);
    ASSERT_TRUE(bench.run("redux.sync.min.NaN.f32", {d, a, all}));
    EXPECT_EQ(bench.values<uint32_t>(d)[0], 0x7fffffffu);
}

TEST(Elect, LowestMemberLeads) {
    Bench bench;
    const TestOperand d = bench.reg(4), p = bench.predicate();
    ASSERT_TRUE(bench.run("elect.sync", {d, Bench::second(p), bench.immediate(0xf0)}, 0xf0));
    EXPECT_EQ(bench.values<uint32_t>(d)[6], 4u);
    EXPECT_EQ(*bench.values<uint32_t>(p), 0x10u);
}

// Row addresses are shuffled: matrix i, row r at byte 16 * ((8 * i + r) * 5 % 32).
TEST(MatrixLoad, RowsPlainAndTransposedAndBack) {
    Bench bench;
    const TestOperand d = bench.reg(4, 4), address = bench.reg(4);
    machine::Block& block = bench.block();
    std::mt19937 random(11);
    for (int i = 0; i < 512; ++i)
        block.shared.data[i] = static_cast<uint8_t>(random()), block.shared.valid[i] = 1;
    for (uint32_t lane = 0; lane < kLanes; ++lane)
        bench.values<uint32_t>(address)[lane] = 16 * (lane * 5 % 32);
    const auto element = [&](uint32_t matrix, uint32_t row, uint32_t col) {
        uint16_t value;
        std::memcpy(&value, block.shared.data + 16 * ((8 * matrix + row) * 5 % 32) + 2 * col, 2);
        return static_cast<uint32_t>(value);
    };
    for (const bool transposed : {false, true}) {
        ASSERT_TRUE(bench.run(transposed ? "ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16"
                                         : "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
                              {d, Bench::address(address)}));
        for (uint32_t m = 0; m < 4; ++m)
            for (uint32_t lane = 0; lane < kLanes; ++lane) {
                const uint32_t row = lane / 4, col = 2 * (lane % 4);
                const uint32_t want = transposed
                                          ? element(m, col, row) | element(m, col + 1, row) << 16
                                          : element(m, row, col) | element(m, row, col + 1) << 16;
                EXPECT_EQ(bench.values<uint32_t>(d, m)[lane], want);
            }
        const std::vector<uint8_t> before(block.shared.data, block.shared.data + 512);
        std::memset(block.shared.data, 0, 512);
        ASSERT_TRUE(bench.run(transposed ? "stmatrix.sync.aligned.x4.trans.m8n8.shared.b16"
                                         : "stmatrix.sync.aligned.x4.m8n8.shared.b16",
                              {Bench::address(address), d}));
        EXPECT_EQ(std::vector<uint8_t>(block.shared.data, block.shared.data + 512), before);
    }
}

TEST(MoveMatrix, Transposes) {
    Bench bench;
    const TestOperand d = bench.reg(4), a = bench.reg(4);
    for (uint32_t lane = 0; lane < kLanes; ++lane)
        bench.values<uint32_t>(a)[lane] = 2 * lane | (2 * lane + 1) << 16;
    ASSERT_TRUE(bench.run("movmatrix.sync.aligned.m8n8.trans.b16", {d, a}));
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const uint32_t row = lane / 4, col = 2 * (lane % 4);  // element (r, c) was 8r + c
        EXPECT_EQ(bench.values<uint32_t>(d)[lane], (8 * col + row) | (8 * (col + 1) + row) << 16);
    }
}

TEST(Permute, ModesOfTheManual) {
    Bench bench;
    const TestOperand d = bench.reg(4), a = bench.immediate(0x33221100),
                      b = bench.immediate(0xf7665544);
    const auto result = [&](const char* opcode, uint32_t c) {
        EXPECT_TRUE(bench.run(opcode, {d, a, b, bench.immediate(c)}));
        return bench.values<uint32_t>(d)[0];
    };
    EXPECT_EQ(result("prmt.b32", 0x7410), 0xf7441100u);
    EXPECT_EQ(result("prmt.b32", 0xf8e9), 0xff000000u);
    EXPECT_EQ(result("prmt.b32.f4e", 1), 0x44332211u);
    EXPECT_EQ(result("prmt.b32.b4e", 1), 0x66f70011u);
    EXPECT_EQ(result("prmt.b32.rc8", 2), 0x22222222u);
    EXPECT_EQ(result("prmt.b32.ecl", 1), 0x33221111u);
    EXPECT_EQ(result("prmt.b32.ecr", 2), 0x22221100u);
    EXPECT_EQ(result("prmt.b32.rc16", 1), 0x33223322u);
}

}  // namespace
}  // namespace ww::isa

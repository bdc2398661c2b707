// SPDX-License-Identifier: Apache-2.0
// Loads, stores, atomics, cp.async, barriers and packing moves on one block.
#include <gtest/gtest.h>

#include <cmath>

#include "warp_bench.hpp"

namespace ww::isa {
namespace {

struct GlobalBench : Bench {
    explicit GlobalBench(uint32_t threads = 32) : Bench(threads) {
        base = *global().allocate(4096, {"buffer"}, true);
        region = global().find(base, 4096);
        address_register = reg(8);
        spread(0);
    }
    void spread(uint64_t step) {
        for (uint64_t lane = 0; lane < kLanes; ++lane)
            values<uint64_t>(address_register)[lane] = base + step * lane;
    }
    template <class T>
    T& at(size_t index) {
        return reinterpret_cast<T*>(region->data)[index];
    }
    TestOperand memory(int64_t displacement = 0) const {
        return address(address_register, displacement);
    }

    uint64_t base = 0;
    const machine::Region* region = nullptr;
    TestOperand address_register;
};

TEST(Load, SignsAndWidths) {
    GlobalBench bench;
    bench.spread(1);
    for (size_t i = 0; i < 64; ++i) bench.at<uint8_t>(i) = static_cast<uint8_t>(0xf0 + i);
    const TestOperand wide = bench.reg(8), narrow = bench.reg(2);
    ASSERT_TRUE(bench.run("ld.global.s8", {wide, bench.memory(1)}));
    EXPECT_EQ(bench.values<uint64_t>(wide)[0], 0xfffffffffffffff1u);
    EXPECT_EQ(bench.values<uint64_t>(wide)[20], 0x05u);
    ASSERT_TRUE(bench.run("ld.relaxed.gpu.global.L1::no_allocate.u8", {narrow, bench.memory()}));
    EXPECT_EQ(bench.values<uint16_t>(narrow)[3], 0xf3u);
    EXPECT_EQ(bench.bind("ld.global.u32", {narrow, bench.memory()}).find("operand 1"), 0u);
}

TEST(LoadStore, VectorsUnderAPartialMask) {
    GlobalBench bench;
    bench.spread(16);
    const TestOperand v = bench.reg(4, 4), x = bench.reg(4, 4);
    for (size_t e = 0; e < 4; ++e)
        for (uint32_t lane = 0; lane < kLanes; ++lane)
            bench.values<uint32_t>(v, e)[lane] = 100 * lane + static_cast<uint32_t>(e);
    ASSERT_TRUE(bench.run("st.global.v4.b32", {bench.memory(), v}, 0x0000fff0));
    EXPECT_EQ(bench.at<uint32_t>(4 * 5 + 2), 502u);
    EXPECT_EQ(bench.at<uint32_t>(4 * 3 + 2), 0u);
    ASSERT_TRUE(bench.run("ld.global.nc.v4.u32", {x, bench.memory()}, 0x0000fff0));
    EXPECT_EQ(bench.values<uint32_t>(x, 3)[15], 1503u);
    EXPECT_EQ(bench.values<uint32_t>(x, 3)[16], 0u);
}

TEST(LoadStore, SinksOf256BitsTouchNothing) {
    GlobalBench bench;
    bench.spread(32);
    TestOperand v = bench.reg(4, 8);
    v.elements[1] = {};
    for (uint32_t lane = 0; lane < kLanes; ++lane) bench.values<uint32_t>(v, 7)[lane] = lane + 1;
    bench.at<uint32_t>(8 * 2 + 1) = 77;
    ASSERT_TRUE(bench.run("st.global.L2::evict_last.v8.b32", {bench.memory(), v}));
    EXPECT_EQ(bench.at<uint32_t>(8 * 2 + 7), 3u);
    EXPECT_EQ(bench.at<uint32_t>(8 * 2 + 1), 77u);
}

TEST(Atomics, LanesTakeTurns) {
    GlobalBench bench;
    const TestOperand d = bench.reg(4);
    ASSERT_TRUE(bench.run("atom.global.add.u32", {d, bench.memory(), bench.immediate(2)}));
    EXPECT_EQ(bench.at<uint32_t>(0), 64u);
    EXPECT_EQ(bench.values<uint32_t>(d)[10], 20u);
    bench.at<uint32_t>(0) = 5;
    ASSERT_TRUE(
        bench.run("atom.relaxed.gpu.global.inc.u32", {d, bench.memory(), bench.immediate(6)}, 0xf));
    EXPECT_EQ(bench.values<uint32_t>(d)[3], 1u);  // 5, 6, 0, 1
    ASSERT_TRUE(bench.run("atom.global.dec.u32", {d, bench.memory(), bench.immediate(6)}, 0xf));
    EXPECT_EQ(bench.values<uint32_t>(d)[3], 6u);  // 2, 1, 0, 6
    bench.at<uint32_t>(0) = 0;
    ASSERT_TRUE(bench.run("atom.global.cas.b32",
                          {d, bench.memory(), bench.immediate(0), bench.immediate(9)}));
    EXPECT_EQ(bench.values<uint32_t>(d)[0], 0u);
    EXPECT_EQ(bench.values<uint32_t>(d)[1], 9u);
    EXPECT_NE(bench.bind("atom.global.add.b32", {d, bench.memory(), bench.immediate(1)}), "");
}

TEST(Atomics, FloatAdditionFlushesInGlobalMemoryOnly) {
    GlobalBench bench;
    const TestOperand b = bench.reg(4), shared_address = bench.reg(4);
    bench.values<uint32_t>(b)[0] = 1;  // the least subnormal
    ASSERT_TRUE(bench.run("red.global.add.f32", {bench.memory(), b}, 1));
    EXPECT_EQ(bench.at<uint32_t>(0), 0u);
    std::memset(bench.block().shared.valid, 1, 4);
    ASSERT_TRUE(bench.run("red.shared.add.f32", {Bench::address(shared_address), b}, 1));
    EXPECT_EQ(*reinterpret_cast<uint32_t*>(bench.block().shared.data), 1u);
}

TEST(Atomics, PackedVectorsAnd128Bits) {
    GlobalBench bench;
    TestOperand b = bench.reg(4, 2), d = bench.reg(4, 2);
    bench.at<uint32_t>(0) = 0x3c003c00;  // 1, 1
    bench.at<uint32_t>(1) = 0x7e00bc00;  // -1, NaN
    bench.values<uint32_t>(b, 0)[0] = 0x40003c00;
    bench.values<uint32_t>(b, 1)[0] = 0xc0003c00;  // 1, -2
    ASSERT_TRUE(bench.run("atom.global.v2.f16x2.max.noftz", {d, bench.memory(), b}, 1));
    EXPECT_EQ(bench.at<uint32_t>(0), 0x40003c00u);
    EXPECT_EQ(bench.at<uint32_t>(1), 0xc0003c00u);
    EXPECT_EQ(bench.values<uint32_t>(d, 1)[0], 0x7e00bc00u);
    const TestOperand wide = bench.reg(16), old = bench.reg(16);
    bench.values<uint64_t>(wide)[0] = 11, bench.values<uint64_t>(wide)[1] = 12;
    ASSERT_TRUE(bench.run("atom.global.exch.b128", {old, bench.memory(), wide}, 1));
    EXPECT_EQ(bench.at<uint64_t>(1), 12u);
    EXPECT_EQ(bench.values<uint64_t>(old)[1], 0u);
}

TEST(CopyAsync, WholeSizedIgnored) {
    GlobalBench bench;
    bench.spread(16);
    for (size_t i = 0; i < 512; ++i) bench.at<uint8_t>(i) = static_cast<uint8_t>(i + 1);
    const TestOperand to = bench.reg(4), size = bench.reg(4), ignore = bench.predicate();
    for (uint32_t lane = 0; lane < kLanes; ++lane)
        bench.values<uint32_t>(to)[lane] = 16 * lane,
        bench.values<uint32_t>(size)[lane] = lane % 17;
    const uint8_t* shared = bench.block().shared.data;
    ASSERT_TRUE(bench.run("cp.async.cg.shared.global.L2::128B",
                          {Bench::address(to), bench.memory(), bench.immediate(16)}));
    EXPECT_EQ(std::memcmp(shared, bench.region->data, 512), 0);
    ASSERT_TRUE(bench.run("cp.async.cg.shared.global",
                          {Bench::address(to), bench.memory(), bench.immediate(16), size}));
    EXPECT_EQ(shared[16 * 3 + 2], 16 * 3 + 3);
    EXPECT_EQ(shared[16 * 3 + 3], 0);
    *bench.values<uint32_t>(ignore) = 0x2;
    ASSERT_TRUE(bench.run("cp.async.ca.shared.global",
                          {Bench::address(to), bench.memory(), bench.immediate(4), ignore}));
    EXPECT_EQ(shared[0], 1);
    EXPECT_EQ(shared[16], 0);
    EXPECT_NE(bench.bind("cp.async.cg.shared.global",
                         {Bench::address(to), bench.memory(), bench.immediate(8)}),
              "");
    bench.values<uint32_t>(size)[0] = 17;
    EXPECT_THROW(bench.run("cp.async.cg.shared.global",
                           {Bench::address(to), bench.memory(), bench.immediate(16), size}),
                 machine::GuestTrap);
}

TEST(Barrier, TwoWarpsMeetAndVote) {
    Bench bench(64);
    const TestOperand q = bench.predicate(), d = bench.reg(4);
    *bench.values<uint32_t>(q, 0, 0) = 0xff;
    *bench.values<uint32_t>(q, 0, 1) = 0x1;
    const std::vector<TestOperand> operands = {d, bench.immediate(3), q};
    EXPECT_FALSE(bench.run("bar.red.popc.u32", operands, kAllLanes, 0));
    EXPECT_EQ(bench.warp(0).wait.barrier, 3u);
    EXPECT_TRUE(bench.run("bar.red.popc.u32", operands, kAllLanes, 1));
    EXPECT_TRUE(bench.block().barriers[3].released(bench.warp(0).wait.generation));
    bench.warp(0).resumed = true;
    EXPECT_TRUE(bench.run("bar.red.popc.u32", operands, kAllLanes, 0));
    EXPECT_EQ(bench.values<uint32_t>(d, 0, 0)[5], 9u);
    EXPECT_EQ(bench.values<uint32_t>(d, 0, 1)[5], 9u);
    EXPECT_THROW(bench.run("bar.sync", {bench.immediate(16)}, kAllLanes, 1), machine::GuestTrap);
}

TEST(Move, PackAndUnpack) {
    Bench bench;
    const TestOperand d = bench.reg(8), parts = bench.reg(2, 4), wide = bench.reg(16),
                      two = bench.reg(8, 2);
    for (size_t e = 0; e < 4; ++e)
        for (int lane = 0; lane < kLanes; ++lane)
            bench.values<uint16_t>(parts, e)[lane] = static_cast<uint16_t>(0x1111 * (e + 1));
    ASSERT_TRUE(bench.run("mov.b64", {d, parts}));
    EXPECT_EQ(bench.values<uint64_t>(d)[31], 0x4444333322221111u);
    TestOperand high = bench.reg(4, 2);
    high.elements[0] = {};
    ASSERT_TRUE(bench.run("mov.b64", {high, d}));
    EXPECT_EQ(bench.values<uint32_t>(high, 1)[0], 0x44443333u);
    bench.values<uint64_t>(two, 0)[7] = 1, bench.values<uint64_t>(two, 1)[7] = 2;
    ASSERT_TRUE(bench.run("mov.b128", {wide, two}));
    EXPECT_EQ(bench.values<uint64_t>(wide)[14], 1u);
    EXPECT_EQ(bench.values<uint64_t>(wide)[15], 2u);
    EXPECT_NE(bench.bind("mov.b64", {d, bench.reg(4, 3)}), "");
}

TEST(Address, WindowsAndBack) {
    Bench bench;
    const TestOperand shared = bench.reg(8), generic = bench.reg(8), back = bench.reg(8),
                      p = bench.predicate();
    for (uint64_t lane = 0; lane < kLanes; ++lane) bench.values<uint64_t>(shared)[lane] = 8 * lane;
    ASSERT_TRUE(bench.run("cvta.shared.u64", {generic, shared}));
    ASSERT_TRUE(bench.run("isspacep.shared", {p, generic}));
    EXPECT_EQ(*bench.values<uint32_t>(p), ~0u);
    ASSERT_TRUE(bench.run("isspacep.global", {p, generic}));
    EXPECT_EQ(*bench.values<uint32_t>(p), 0u);
    ASSERT_TRUE(bench.run("cvta.to.shared.u64", {back, generic}));
    EXPECT_EQ(bench.values<uint64_t>(back)[9], 72u);
}

}  // namespace
}  // namespace ww::isa

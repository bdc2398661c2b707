// SPDX-License-Identifier: Apache-2.0
// Integer, logic, carry and comparison rows against the manual's loops.
#include <bit>

#include "arith_rows.hpp"

namespace ww::isa::arith_test {
namespace {

__extension__ typedef __int128 Wide;

TEST(ArithInteger, Products) {
    Rows rows;
    rows.check<int32_t, int32_t, int32_t>("mul.hi.s32", [](int32_t a, int32_t b) {
        return static_cast<int32_t>(int64_t{a} * b >> 32);
    });
    rows.check<int64_t, int64_t, int64_t>(
        "mul.hi.s64", [](int64_t a, int64_t b) { return static_cast<int64_t>(Wide{a} * b >> 64); });
    rows.check<uint16_t, uint16_t, uint16_t>("mul.hi.u16", [](uint16_t a, uint16_t b) {
        return static_cast<uint16_t>(uint32_t{a} * b >> 16);
    });
    rows.check<int64_t, int32_t, int32_t, int64_t>(
        "mad.wide.s32", [](int32_t a, int32_t b, int64_t c) {
            return static_cast<int64_t>(static_cast<uint64_t>(int64_t{a} * b) +
                                        static_cast<uint64_t>(c));
        });
    rows.check<int32_t, int32_t, int32_t, int32_t>(
        "mad.hi.sat.s32", [](int32_t a, int32_t b, int32_t c) {
            const int64_t sum = (int64_t{a} * b >> 32) + c;
            return static_cast<int32_t>(
                std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX));
        });
    rows.check<uint32_t, uint32_t, uint32_t>("mul24.hi.u32", [](uint32_t a, uint32_t b) {
        return static_cast<uint32_t>(uint64_t{a & 0xffffff} * (b & 0xffffff) >> 16);
    });
}

TEST(ArithInteger, DivisionNeverFaults) {
    Rows rows;
    rows.check<int32_t, int32_t, int32_t>("div.s32", [](int32_t a, int32_t b) {
        return b == 0 ? -1 : static_cast<int32_t>(int64_t{a} / b);
    });
    rows.check<int64_t, int64_t, int64_t>("rem.s64", [](int64_t a, int64_t b) {
        return b == 0 ? -1 : static_cast<int64_t>(Wide{a} % b);
    });
    rows.check<uint64_t, uint64_t, uint64_t>(
        "div.u64", [](uint64_t a, uint64_t b) { return b == 0 ? ~uint64_t{0} : a / b; });
    rows.check<int16_t, int16_t, int16_t>(
        "div.s16", [](int16_t a, int16_t b) { return static_cast<int16_t>(b == 0 ? -1 : a / b); });
}

// The semantics blocks of the manual, bit by bit.
uint32_t bfe_s32(uint32_t a, uint32_t b, uint32_t c) {
    const int position = static_cast<int>(b & 0xff), length = static_cast<int>(c & 0xff);
    const uint32_t sign = length == 0 ? 0 : a >> std::min(position + length - 1, 31) & 1;
    uint32_t d = 0;
    for (int i = 0; i < 32; ++i)
        d |= (i < length && position + i <= 31 ? a >> (position + i) & 1 : sign) << i;
    return d;
}
uint64_t bfi_b64(uint64_t a, uint64_t b, uint32_t c, uint32_t d) {
    const int position = static_cast<int>(c & 0xff), length = static_cast<int>(d & 0xff);
    for (int i = 0; i < length && position + i <= 63; ++i)
        b = (b & ~(uint64_t{1} << (position + i))) | (a >> i & 1) << (position + i);
    return b;
}

TEST(ArithInteger, BitFields) {
    Rows rows;
    rows.check<uint32_t, uint32_t, uint32_t, uint32_t>("bfe.s32", bfe_s32);
    rows.check<uint64_t, uint64_t, uint64_t, uint32_t, uint32_t>("bfi.b64", bfi_b64);
    rows.check<uint32_t, int64_t>("bfind.s64", [](int64_t a) {
        const uint64_t x = static_cast<uint64_t>(a < 0 ? ~a : a);
        return x == 0 ? 0xffffffffu : 63u - static_cast<uint32_t>(std::countl_zero(x));
    });
    rows.check<uint64_t, uint64_t>("brev.b64", [](uint64_t a) {
        uint64_t r = 0;
        for (int i = 0; i < 64; ++i) r |= (a >> i & 1) << (63 - i);
        return r;
    });
    rows.check<uint32_t, uint32_t, uint32_t>("bmsk.clamp.b32", [](uint32_t a, uint32_t b) {
        uint32_t d = 0;
        for (uint64_t i = a; i < uint64_t{a} + b && i < 32; ++i) d |= 1u << i;
        return d;
    });
}

TEST(ArithInteger, Shifts) {
    Rows rows;
    rows.check<uint32_t, uint32_t, uint32_t>(
        "shl.b32", [](uint32_t a, uint32_t b) { return b > 31 ? 0 : a << b; });
    rows.check<int64_t, int64_t, uint32_t>(
        "shr.s64", [](int64_t a, uint32_t b) { return a >> std::min(b, 63u); });
    rows.check<uint16_t, uint16_t, uint32_t>("shr.u16", [](uint16_t a, uint32_t b) {
        return static_cast<uint16_t>(b > 15 ? 0 : a >> b);
    });
    rows.check<uint32_t, uint32_t, uint32_t, uint32_t>(
        "shf.l.clamp.b32", [](uint32_t a, uint32_t b, uint32_t c) {
            const uint32_t n = std::min(c, 32u);
            return n == 0 ? b : n == 32 ? a : b << n | a >> (32 - n);
        });
    rows.check<uint32_t, uint32_t, uint32_t, uint32_t>(
        "shf.r.wrap.b32", [](uint32_t a, uint32_t b, uint32_t c) {
            const uint32_t n = c & 31;
            return n == 0 ? a : b << (32 - n) | a >> n;
        });
}

TEST(ArithInteger, PackedAndDot) {
    Rows rows;
    rows.check<uint32_t, uint32_t, uint32_t>("add.u16x2", [](uint32_t a, uint32_t b) {
        return ((a + b) & 0xffff) | ((a >> 16) + (b >> 16)) << 16;
    });
    rows.check<uint32_t, uint32_t, uint32_t>("max.relu.s16x2", [](uint32_t a, uint32_t b) {
        const auto half = [&](int s) {
            const int x = static_cast<int16_t>(a >> s), y = static_cast<int16_t>(b >> s);
            return static_cast<uint32_t>(std::max({x, y, 0})) << s;
        };
        return half(0) | half(16);
    });
    rows.check<int32_t, uint32_t, uint32_t, int32_t>(
        "dp4a.s32.u32", [](uint32_t a, uint32_t b, int32_t c) {
            uint32_t sum = static_cast<uint32_t>(c);
            for (int i = 0; i < 4; ++i)
                sum += static_cast<uint32_t>(static_cast<int8_t>(a >> 8 * i) *
                                             static_cast<int>(b >> 8 * i & 0xff));
            return static_cast<int32_t>(sum);
        });
}

TEST(ArithInteger, CarryGoesThroughAndStaysPutWithoutCc) {
    Bench bench;
    const TestOperand d = bench.reg(4), a = bench.reg(4), b = bench.reg(4);
    for (int lane = 0; lane < kLanes; ++lane) {
        bench.values<uint32_t>(a)[lane] = 0xffffffff;
        bench.values<uint32_t>(b)[lane] = static_cast<uint32_t>(lane);
    }
    bench.run("add.cc.u32", {d, a, b});
    EXPECT_EQ(bench.warp().carry, 0xfffffffeu);
    bench.run("addc.u32", {d, b, b});
    EXPECT_EQ(bench.values<uint32_t>(d)[0], 0u);
    EXPECT_EQ(bench.values<uint32_t>(d)[5], 11u);
    EXPECT_EQ(bench.warp().carry, 0xfffffffeu);
    bench.run("sub.cc.u32", {d, b, a},
              0x0000ffff);  // borrows wherever b < a; only active lanes write
    EXPECT_EQ(bench.warp().carry, 0xffffffffu);
    bench.run("subc.cc.s32", {d, a, b});
    EXPECT_EQ(bench.values<uint32_t>(d)[3], 0xffffffffu - 3 - 1);
    EXPECT_EQ(bench.warp().carry, 0u);
}

TEST(ArithInteger, ComparisonsToPredicates) {
    Bench bench;
    const TestOperand p = bench.predicate(), q = bench.predicate(), c = bench.predicate();
    const TestOperand a = bench.reg(4), b = bench.reg(4), d = bench.reg(4);
    for (int lane = 0; lane < kLanes; ++lane) {
        bench.values<int32_t>(a)[lane] = lane - 16;
        bench.values<int32_t>(b)[lane] = 0;
    }
    *bench.values<uint32_t>(c) = 0x0f0f0f0f;
    bench.run("setp.lt.s32", {p, Bench::second(q), a, b});
    EXPECT_EQ(*bench.values<uint32_t>(p), 0x0000ffffu);
    EXPECT_EQ(*bench.values<uint32_t>(q), 0xffff0000u);
    bench.run("setp.lo.and.u32", {p, a, b, c});
    EXPECT_EQ(*bench.values<uint32_t>(p), 0u);
    bench.run("setp.ge.and.s32", {p, Bench::second(q), a, b, c});
    EXPECT_EQ(*bench.values<uint32_t>(p), 0x0f0f0000u);
    EXPECT_EQ(*bench.values<uint32_t>(q), 0x00000f0fu);
    bench.run("set.gt.u32.s32", {d, a, b});
    EXPECT_EQ(bench.values<uint32_t>(d)[16], 0u);
    EXPECT_EQ(bench.values<uint32_t>(d)[17], 0xffffffffu);
    EXPECT_NE(bench.bind("setp.lo.s32", {p, a, b}), "");
    EXPECT_NE(bench.bind("setp.lt.b32", {p, a, b}), "");
    bench.run("selp.b32", {d, a, b, p});
    EXPECT_EQ(bench.values<int32_t>(d)[17], 1);
    EXPECT_EQ(bench.values<int32_t>(d)[20], 0);
    EXPECT_EQ(bench.values<int32_t>(d)[25], 9);
}

TEST(ArithInteger, Lop3EveryTable) {
    Bench bench;
    const TestOperand a = bench.reg(4), b = bench.reg(4), c = bench.reg(4), d = bench.reg(4),
                      p = bench.predicate(), q = bench.predicate();
    for (int lane = 0; lane < kLanes; ++lane) {
        bench.values<uint32_t>(a)[lane] = 0xf0f0f0f0;
        bench.values<uint32_t>(b)[lane] = 0xcccccccc;
        bench.values<uint32_t>(c)[lane] = 0xaaaaaaaa;
    }
    for (uint32_t table = 0; table < 256; ++table) {
        bench.run("lop3.b32", {d, a, b, c, bench.immediate(table)});
        ASSERT_EQ(bench.values<uint32_t>(d)[7], table * 0x01010101u);
    }
    *bench.values<uint32_t>(q) = 0xff;
    bench.run("lop3.or.b32", {d, Bench::second(p), a, b, c, bench.immediate(0), q});
    EXPECT_EQ(*bench.values<uint32_t>(p), 0xffu);
    EXPECT_NE(bench.bind("lop3.b32", {d, a, b, c, bench.immediate(256)}), "");
}

}  // namespace
}  // namespace ww::isa::arith_test

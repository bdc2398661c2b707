// SPDX-License-Identifier: Apache-2.0
// mma.sync: every shape and type against a plain matrix product, with the manual's fragment layouts
// written out as element formulae. Small integers, so that every summation rule gives the same.
#include <gtest/gtest.h>

#include <random>

#include "numerics/formats.hpp"
#include "warp_bench.hpp"

namespace ww::isa {
namespace {

using numerics::Format;

struct Place {
    int lane, reg, bit;  // bit: of the element's lowest bit in the register
};

// The manual's A fragment: element i of a thread, as (row, column) from lane and i. Inverted here
// by search over all lanes and elements.
struct Layout {
    int rows, k, bits, word_bits;
    int per_thread() const { return rows * k / 32; }
    int row_of(int lane, int i) const {
        const int e = word_bits / bits;  // elements in a register
        return rows == 16 ? lane / 4 + 8 * ((i / e) % 2) : lane / 4;
    }
    int col_of(int lane, int i) const {
        const int e = word_bits / bits, group = rows == 16 ? i / e / 2 : i / e;
        return (lane % 4) * e + i % e + group * 4 * e;
    }
};

struct Case {
    std::string opcode;
    int m, n, k;
    Format a, b, c;
    int sm;
    int container_bits = 0;  // of an element in a register, where it is not the format's
    int shift = 0;           // of the element in its container
};

void put(Bench& bench, const TestOperand& operand, int word_bits, int lane, int bit_index, int bits,
         uint64_t code) {
    const auto element = static_cast<size_t>(bit_index / word_bits);
    const int bit = bit_index % word_bits;
    if (word_bits == 64)
        bench.values<uint64_t>(operand, element)[lane] |= code << bit;
    else
        bench.values<uint32_t>(operand, element)[lane] |=
            static_cast<uint32_t>(code & ((uint64_t{1} << bits) - 1)) << bit;
}

class MmaLayout : public testing::TestWithParam<Case> {};

TEST_P(MmaLayout, EqualsThePlainProduct) {
    const Case& test = GetParam();
    Bench bench(32, test.sm);
    const int word_bits = test.a == Format::f64 ? 64 : 32;
    const int bits = test.container_bits ? test.container_bits : numerics::info(test.a).bits;
    const Layout la{test.m, test.k, bits, word_bits}, lb{test.n, test.k, bits, word_bits};
    const int c_bits = numerics::info(test.c).bits, c_word = c_bits == 64 ? 64 : 32;
    const auto registers = [&](int elements, int width, int word) {
        return elements * width / (32 * word);
    };
    const TestOperand a = bench.reg(word_bits / 8, registers(test.m * test.k, bits, word_bits));
    const TestOperand b = bench.reg(word_bits / 8, registers(test.n * test.k, bits, word_bits));
    const TestOperand c = bench.reg(c_word / 8, registers(test.m * test.n, c_bits, c_word));
    const TestOperand d = bench.reg(c_word / 8, registers(test.m * test.n, c_bits, c_word));

    std::mt19937 random(7);
    const auto draw = [&](Format format) {
        const bool binary = format == Format::b1,
                   unsigned_ = format == Format::u8 || format == Format::u4;
        return static_cast<double>(binary      ? random() % 2
                                   : unsigned_ ? random() % 5
                                               : random() % 5 - 2.0);
    };
    std::vector<double> am(static_cast<size_t>(test.m * test.k)),
        bm(static_cast<size_t>(test.n * test.k)), cm(static_cast<size_t>(test.m * test.n));
    const auto fill = [&](const Layout& layout, Format format, const TestOperand& operand,
                          std::vector<double>& matrix) {
        for (int lane = 0; lane < kLanes; ++lane)
            for (int i = 0; i < layout.per_thread(); ++i) {
                const double value = draw(format);
                matrix.at(static_cast<size_t>(layout.row_of(lane, i) * test.k +
                                              layout.col_of(lane, i))) = value;
                put(bench, operand, word_bits, lane, i * bits + test.shift,
                    numerics::info(format).bits, numerics::encode(format, value));
            }
    };
    fill(la, test.a, a, am);
    fill(lb, test.b, b, bm);
    // C: c_i is row lane/4 (+8 for i >= 2), column 2*(lane%4) + i%2.
    const int c_per_thread = test.m * test.n / 32;
    const auto c_at = [&](int lane, int i) {
        return static_cast<size_t>((lane / 4 + 8 * (i / 2)) * test.n + 2 * (lane % 4) + i % 2);
    };
    for (int lane = 0; lane < kLanes; ++lane)
        for (int i = 0; i < c_per_thread; ++i) {
            cm.at(c_at(lane, i)) = static_cast<double>(random() % 9) - 4;
            put(bench, c, c_word, lane, i * c_bits, c_bits,
                numerics::encode(test.c, cm[c_at(lane, i)]));
        }
    ASSERT_TRUE(bench.run(test.opcode, {d, a, b, c}));
    for (int lane = 0; lane < kLanes; ++lane)
        for (int i = 0; i < c_per_thread; ++i) {
            const size_t at = c_at(lane, i);
            const size_t row = at / static_cast<size_t>(test.n),
                         col = at % static_cast<size_t>(test.n);
            double sum = cm[at];
            for (size_t k = 0; k < static_cast<size_t>(test.k); ++k) {
                const double x = am[row * static_cast<size_t>(test.k) + k],
                             y = bm[col * static_cast<size_t>(test.k) + k];
                sum += test.opcode.find(".xor") != std::string::npos ? (x != y) : x * y;
            }
            const int bit = i * c_bits;
            const auto element = static_cast<size_t>(bit / c_word);
            const uint64_t got = c_word == 64
                                     ? bench.values<uint64_t>(d, element)[lane]
                                     : bench.values<uint32_t>(d, element)[lane] >> (bit % c_word);
            EXPECT_EQ(numerics::decode(test.c, got), sum)
                << test.opcode << " lane " << lane << " element " << i;
        }
}

const Case kCases[] = {
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 8, 16, Format::f16, Format::f16,
     Format::f32, 90},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 16, 8, 8, Format::f16, Format::f16,
     Format::f16, 90},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, 8, 16, Format::bf16, Format::bf16,
     Format::f32, 80},
    {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 8, Format::bf16, Format::bf16,
     Format::f32, 120},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 8, Format::tf32, Format::tf32,
     Format::f32, 90},
    {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 16, 8, 4, Format::tf32, Format::tf32,
     Format::f32, 90},
    {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 8, 8, 4, Format::f64, Format::f64,
     Format::f64, 90},
    {"mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64", 16, 8, 4, Format::f64, Format::f64,
     Format::f64, 90},
    {"mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", 16, 8, 8, Format::f64, Format::f64,
     Format::f64, 90},
    {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", 16, 8, 16, Format::f64, Format::f64,
     Format::f64, 90},
    {"mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32", 8, 8, 16, Format::s8, Format::u8,
     Format::s32, 90},
    {"mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.s8.s32", 16, 8, 16, Format::u8, Format::s8,
     Format::s32, 90},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 16, 8, 32, Format::s8, Format::s8,
     Format::s32, 90},
    {"mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32", 8, 8, 32, Format::s4, Format::s4,
     Format::s32, 90},
    {"mma.sync.aligned.m16n8k32.row.col.s32.u4.s4.s32", 16, 8, 32, Format::u4, Format::s4,
     Format::s32, 90},
    {"mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", 16, 8, 64, Format::s4, Format::u4,
     Format::s32, 90},
    {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 8, 8, 128, Format::b1, Format::b1,
     Format::s32, 90},
    {"mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc", 16, 8, 128, Format::b1,
     Format::b1, Format::s32, 90},
    {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 16, 8, 256, Format::b1,
     Format::b1, Format::s32, 90},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 16, 8, 32, Format::e4m3, Format::e5m2,
     Format::f32, 90},
    {"mma.sync.aligned.m16n8k16.row.col.f16.e5m2.e5m2.f16", 16, 8, 16, Format::e5m2, Format::e5m2,
     Format::f16, 90},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32", 16, 8, 32, Format::e3m2,
     Format::e2m3, Format::f32, 120, 8},
    {"mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e2m1.f32", 16, 8, 32, Format::e2m1,
     Format::e2m1, Format::f32, 120, 8, 2},
};
INSTANTIATE_TEST_SUITE_P(AllShapes, MmaLayout, testing::ValuesIn(kCases), [](const auto& info) {
    std::string name;
    for (const char c : info.param.opcode.substr(17)) name += isalnum(c) ? c : '_';
    return name;
});

// Codes of e2m1: 0, 0.5, 1, 1.5, 2, 3, 4, 6.
constexpr double kE2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6};

// mxf4nvf4 with the manual's selectors: byte-id must be 0 with 4X; any pair of thread ids.
TEST(MmaBlockScale, Nvfp4SelectsScales) {
    for (const unsigned thread_a : {0u, 1u})
        for (const unsigned thread_b : {0u, 1u, 2u, 3u}) {
            Bench bench(32, 120);
            const TestOperand a = bench.reg(4, 4), b = bench.reg(4, 2), c = bench.reg(4, 4),
                              d = bench.reg(4, 4);
            const TestOperand sa = bench.reg(4), sb = bench.reg(4), sel_a = bench.reg(2, 2),
                              sel_b = bench.reg(2, 2);
            std::mt19937 random(3);
            for (int lane = 0; lane < kLanes; ++lane) {
                for (size_t r = 0; r < 4; ++r)
                    bench.values<uint32_t>(a, r)[lane] = static_cast<uint32_t>(random());
                for (size_t r = 0; r < 2; ++r)
                    bench.values<uint32_t>(b, r)[lane] = static_cast<uint32_t>(random());
                for (size_t r = 0; r < 4; ++r) bench.values<float>(c, r)[lane] = 0;
                // ue4m3 powers of two: 0.5, 1, 2.
                for (unsigned byte = 0; byte < 4; ++byte) {
                    bench.values<uint32_t>(sa)[lane] |=
                        static_cast<uint32_t>(0x30 + 8 * (random() % 3)) << (8 * byte);
                    bench.values<uint32_t>(sb)[lane] |=
                        static_cast<uint32_t>(0x30 + 8 * (random() % 3)) << (8 * byte);
                }
                bench.values<uint16_t>(sel_a, 1)[lane] = static_cast<uint16_t>(thread_a);
                bench.values<uint16_t>(sel_b, 1)[lane] = static_cast<uint16_t>(thread_b);
            }
            ASSERT_TRUE(
                bench.run("mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row."
                          "col.f32.e2m1.e2m1.f32.ue4m3",
                          {d, a, b, c, sa, sel_a, sb, sel_b}));
            const auto element = [&](const TestOperand& operand, int lane, int reg, int nibble) {
                return kE2m1[bench.values<uint32_t>(operand, static_cast<size_t>(reg))[lane] >>
                                 (4 * nibble) &
                             15];
            };
            const auto scale = [&](const TestOperand& operand, int lane, int byte) {
                return numerics::decode(Format::ue4m3,
                                        bench.values<uint32_t>(operand)[lane] >> (8 * byte) & 0xff);
            };
            for (int row = 0; row < 16; ++row)
                for (int col = 0; col < 8; ++col) {
                    double sum = 0;
                    for (int k = 0; k < 64; ++k) {
                        const int quad_lane = k % 32 / 8, nibble = k % 8, upper = k / 32;
                        const double x =
                            element(a, 4 * (row % 8) + quad_lane, row / 8 + 2 * upper, nibble);
                        const double y = element(b, 4 * col + quad_lane, upper, nibble);
                        sum += x *
                               scale(sa, 4 * (row % 8) + 2 * static_cast<int>(thread_a) + row / 8,
                                     k / 16) *
                               y * scale(sb, 4 * col + static_cast<int>(thread_b), k / 16);
                    }
                    const int lane = 4 * (row % 8) + col / 2;
                    EXPECT_EQ(
                        bench.values<float>(d, static_cast<size_t>(2 * (row / 8) + col % 2))[lane],
                        sum)
                        << row << ' ' << col;
                }
        }
}

// Four products of 8 x 8 x 4 by quads of lanes; the manual's formulae for each layout.
TEST(MmaM8n8k4, EveryLayout) {
    for (const bool a_row : {true, false})
        for (const bool b_row : {true, false})
            for (const bool f32 : {true, false}) {
                Bench bench;
                const TestOperand a = bench.reg(4, 2), b = bench.reg(4, 2);
                const TestOperand c = bench.reg(4, f32 ? 8 : 4), d = bench.reg(4, f32 ? 8 : 4);
                double am[4][8][4], bm[4][4][8], cm[4][8][8];
                std::mt19937 random(5);
                const auto half = [&](const TestOperand& operand, int lane, int e, double value) {
                    bench.values<uint32_t>(operand, static_cast<size_t>(e / 2))[lane] |=
                        static_cast<uint32_t>(numerics::encode(Format::f16, value))
                        << (16 * (e % 2));
                };
                for (int lane = 0; lane < kLanes; ++lane) {
                    const int q = lane % 16 / 4, high = lane < 16 ? 0 : 4;
                    for (int i = 0; i < 4; ++i) {
                        const double x = static_cast<double>(random() % 7) - 3,
                                     y = static_cast<double>(random() % 7) - 3;
                        am[q][a_row ? lane % 4 + high : i + high][a_row ? i : lane % 4] = x;
                        bm[q][b_row ? lane % 4 : i][b_row ? i + high : lane % 4 + high] = y;
                        half(a, lane, i, x);
                        half(b, lane, i, y);
                    }
                    for (int i = 0; i < 8; ++i) {
                        const double z = static_cast<double>(random() % 7) - 3;
                        if (f32) {
                            cm[q][(lane & 1) + (i & 2) + high][(i & 4) + (lane & 2) + (i & 1)] = z;
                            bench.values<float>(c, static_cast<size_t>(i))[lane] =
                                static_cast<float>(z);
                        } else {
                            cm[q][lane % 4 + high][i] = z;
                            half(c, lane, i, z);
                        }
                    }
                }
                const std::string type = f32 ? ".f32" : ".f16";
                ASSERT_TRUE(bench.run(std::string("mma.sync.aligned.m8n8k4") +
                                          (a_row ? ".row" : ".col") + (b_row ? ".row" : ".col") +
                                          type + ".f16.f16" + type,
                                      {d, a, b, c}));
                for (int lane = 0; lane < kLanes; ++lane)
                    for (int i = 0; i < 8; ++i) {
                        const int q = lane % 16 / 4, high = lane < 16 ? 0 : 4;
                        const int row = f32 ? (lane & 1) + (i & 2) + high : lane % 4 + high;
                        const int col = f32 ? (i & 4) + (lane & 2) + (i & 1) : i;
                        double sum = cm[q][row][col];
                        for (int k = 0; k < 4; ++k) sum += am[q][row][k] * bm[q][k][col];
                        const double got =
                            f32 ? bench.values<float>(d, static_cast<size_t>(i))[lane]
                                : numerics::decode(
                                      Format::f16,
                                      bench.values<uint32_t>(d, static_cast<size_t>(i / 2))[lane] >>
                                          (16 * (i % 2)));
                        EXPECT_EQ(got, sum) << lane << ' ' << i;
                    }
            }
}

TEST(Mma, RefusesWhatTheChipLacks) {
    Bench hopper;
    const TestOperand a = hopper.reg(4, 4), b = hopper.reg(4, 2), c = hopper.reg(4, 4);
    EXPECT_NE(hopper.bind("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32",
                          {c, a, b, c}),
              "");
    EXPECT_NE(hopper.bind("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", {c, b, b, c}), "");
    Bench half_warp(16);
    const TestOperand d = half_warp.reg(4, 4), x = half_warp.reg(4, 4), y = half_warp.reg(4, 2);
    EXPECT_THROW(half_warp.run("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", {d, x, y, d}),
                 machine::GuestTrap);
}

}  // namespace
}  // namespace ww::isa

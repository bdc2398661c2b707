// SPDX-License-Identifier: Apache-2.0
// The edges of the quick tensor-core kernels, where a lane, a row or a whole tile must change over
// to the careful way: both ways against the scalar rule, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "numerics/arith.hpp"
#include "numerics/tensor_core.hpp"

namespace ww::numerics {
namespace {

using Random = std::mt19937_64;

struct Instruction {
    Model model;
    Shape shape;
};

Instruction instruction(int sm, Format a, Format b, Shape shape, Format accumulator = Format::f32,
                        Unit unit = Unit::mma_sync) {
    MmaKind kind;
    kind.sm = sm;
    kind.unit = unit;
    kind.a = a;
    kind.b = b;
    kind.accumulator = accumulator;
    return {find_model(kind).value(), shape};
}
Instruction scaled_instruction(Format a, Format scale, int block, bool packed, Shape shape) {
    MmaKind kind;
    kind.sm = 120;
    kind.a = kind.b = a;
    kind.scale = scale;
    kind.scale_block = block;
    kind.packed_fp4 = packed;
    return {find_model(kind).value(), shape};
}

std::vector<Instruction> halves_and_bytes() {
    const Format f16 = Format::f16, bf16 = Format::bf16, e4m3 = Format::e4m3, e5m2 = Format::e5m2;
    return {instruction(80, bf16, bf16, {16, 8, 16}),
            instruction(90, bf16, bf16, {16, 8, 16}),
            instruction(90, bf16, bf16, {20, 16, 32}, Format::f32, Unit::wgmma),
            instruction(80, f16, f16, {16, 8, 16}, f16),
            instruction(90, f16, f16, {16, 8, 16}),
            instruction(90, f16, f16, {16, 8, 16}, f16),
            instruction(90, e4m3, e5m2, {16, 8, 32}),
            instruction(90, e5m2, e4m3, {16, 8, 16}, f16),
            instruction(90, e4m3, e4m3, {7, 8, 12}),
            instruction(90, e4m3, e4m3, {16, 16, 32}, Format::f32, Unit::wgmma),
            instruction(120, e4m3, e5m2, {16, 8, 32}),
            instruction(120, Format::e2m1, Format::e3m2, {16, 8, 32}),
            instruction(120, Format::e2m3, e4m3, {16, 8, 32}),
            scaled_instruction(e4m3, Format::ue8m0, 32, false, {16, 8, 64})};
}

// Matrices with a code an element; what a test does not set is ordinary.
struct Problem {
    const Instruction& s;
    std::vector<std::uint8_t> a, b, c, scale_a, scale_b;

    Problem(const Instruction& of, Random& random) : s(of) {
        const Model& model = s.model;
        const auto fill = [&](std::vector<std::uint8_t>& bytes, Format format, int rows) {
            bytes.resize(static_cast<std::size_t>(rows) * row_bytes(model, format, s.shape.k));
            if (info(format).bits == 4 && row_bytes(model, format, 2) == 1) {
                for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
                return;
            }
            for (int i = 0; i < rows * s.shape.k; ++i) set(bytes, format, i, ordinary(random));
        };
        fill(a, model.a, s.shape.m);
        fill(b, model.b, s.shape.n);
        c.resize(static_cast<std::size_t>(outputs()) * info(model.accumulator).bits / 8);
        for (int i = 0; i < outputs(); ++i) set(c, model.accumulator, i, ordinary(random));
        const int scales = model.scale_block ? s.shape.k / model.scale_block : 0;
        const int middle = model.scale == Format::ue8m0 ? 127 : 56;
        for (auto* codes : {&scale_a, &scale_b}) {
            codes->resize((codes == &scale_a ? s.shape.m : s.shape.n) * scales);
            for (auto& code : *codes) code = static_cast<std::uint8_t>(middle - 8 + random() % 16);
        }
    }
    static double ordinary(Random& random) {
        const double size = 0.25 * static_cast<double>(1 + random() % 15);
        return random() % 2 ? size : -size;
    }
    int outputs() const { return s.shape.m * s.shape.n; }
    static void set_code(std::vector<std::uint8_t>& bytes, Format format, int i,
                         std::uint64_t code) {
        const std::size_t size = (info(format).bits + 7) / 8;
        std::memcpy(&bytes[i * size], &code, size);
    }
    static void set(std::vector<std::uint8_t>& bytes, Format format, int i, double value) {
        set_code(bytes, format, i, encode(format, value));
    }
    void set_a(int row, int k, double value) { set(a, s.model.a, row * s.shape.k + k, value); }
    void set_b(int column, int k, double value) {
        set(b, s.model.b, column * s.shape.k + k, value);
    }
    void set_c(int i, double value) { set(c, s.model.accumulator, i, value); }

    std::vector<std::uint8_t> run(bool fast, bool in_place, bool with_c) const {
        std::vector<std::uint8_t> d = c;
        const void* from = !with_c ? nullptr : in_place ? d.data() : c.data();
        (fast ? mma : mma_reference)(
            s.model, s.shape, {a.data(), b.data(), from, d.data(), scale_a.data(), scale_b.data()});
        return d;
    }
    void check() const {
        for (const bool with_c : {true, false}) {
            ASSERT_EQ(run(true, true, with_c), run(false, false, with_c)) << describe(s.model);
        }
    }
};

void for_each(const std::vector<Instruction>& instructions, int trials, int seed,
              const std::function<void(Problem&, Random&)>& change) {
    Random random(seed);
    for (const Instruction& s : instructions) {
        for (int trial = 0; trial < trials; ++trial) {
            Problem p(s, random);
            change(p, random);
            p.check();
            if (testing::Test::HasFatalFailure()) return;
        }
    }
}

TEST(QuickSums, ZeroRowsAndColumnsAreNotSpecial) {
    for_each(halves_and_bytes(), 40, 1, [](Problem& p, Random& random) {
        for (int row = 0; row < p.s.shape.m; ++row) {
            if (random() % 2) continue;
            for (int k = 0; k < p.s.shape.k; ++k) p.set_a(row, k, random() % 2 ? 0.0 : -0.0);
        }
        const int column = static_cast<int>(random() % p.s.shape.n);
        for (int k = 0; k < p.s.shape.k; ++k) p.set_b(column, k, 0.0);
        // Zeros of both signs and the least subnormals stand where only c is left.
        const int bits = info(p.s.model.accumulator).bits;
        for (int i = 0; i < p.outputs(); ++i) {
            const std::uint64_t code = random() % 4 ? 0 : random() % 64;
            if (random() % 4)
                Problem::set_code(p.c, p.s.model.accumulator, i,
                                  code | (random() % 2) << (bits - 1));
        }
    });
}

TEST(QuickSums, OneSpecialCodeAmongOrdinaryOnes) {
    for_each(halves_and_bytes(), 60, 2, [](Problem& p, Random& random) {
        const bool in_a = random() % 2;
        const Format format = in_a ? p.s.model.a : p.s.model.b;
        const int count = (in_a ? p.s.shape.m : p.s.shape.n) * p.s.shape.k;
        // Infinity or NaN where the format has them; the largest codes of either sign elsewhere.
        const int bits = info(format).bits, low = info(format).mantissa_bits;
        const std::uint64_t top = (std::uint64_t{1} << (bits - 1)) - 1;
        const std::uint64_t size = top - random() % (std::uint64_t{2} << low);
        Problem::set_code(in_a ? p.a : p.b, format, static_cast<int>(random() % count),
                          size | (random() % 2) << (bits - 1));
        if (random() % 4 == 0) p.set_c(static_cast<int>(random() % p.outputs()), HUGE_VAL);
    });
}

TEST(QuickSums, LargestExponentNextToItsLimits) {
    const std::vector<Instruction> instructions = {
        instruction(80, Format::bf16, Format::bf16, {16, 8, 16}),
        instruction(90, Format::bf16, Format::bf16, {16, 8, 16})};
    for_each(instructions, 400, 3, [](Problem& p, Random& random) {
        // Below 2^-100 and above 2^125 a tile changes over.
        const int middle = random() % 2 ? -100 : 125;
        const int sum = middle - 3 + static_cast<int>(random() % 7), part = sum / 2;
        for (int row = 0; row < p.s.shape.m; ++row)
            for (int k = 0; k < p.s.shape.k; ++k)
                p.set_a(row, k, std::ldexp(Problem::ordinary(random), part - 1));
        for (int column = 0; column < p.s.shape.n; ++column)
            for (int k = 0; k < p.s.shape.k; ++k)
                p.set_b(column, k, std::ldexp(Problem::ordinary(random), sum - part - 1));
        for (int i = 0; i < p.outputs(); ++i) {
            const int exponent = sum - static_cast<int>(random() % 30);
            p.set_c(i, random() % 3 ? std::ldexp(Problem::ordinary(random), exponent) : 0.0);
        }
    });
}

TEST(QuickSums, SumsNextTo32Bits) {
    const std::vector<Instruction> instructions = {
        instruction(90, Format::f16, Format::f16, {16, 8, 16}),
        instruction(90, Format::f16, Format::f16, {16, 8, 16}, Format::f16),
        instruction(120, Format::e4m3, Format::e4m3, {16, 8, 32}),
        instruction(120, Format::e2m3, Format::e4m3, {16, 8, 32}),
        scaled_instruction(Format::e4m3, Format::ue8m0, 32, false, {16, 8, 32})};
    for_each(instructions, 300, 4, [](Problem& p, Random& random) {
        // All products next to 4 times the largest exponent's power, of one sign in each half.
        const double near[2] = {info(p.s.model.a).mantissa_bits > 3 ? 1.9990234375 : 1.875, 1.75};
        const int k = p.s.shape.k;
        for (int row = 0; row < p.s.shape.m; ++row) {
            const double sign[2] = {random() % 2 ? 1.0 : -1.0, random() % 2 ? 1.0 : -1.0};
            for (int i = 0; i < k; ++i) p.set_a(row, i, sign[2 * i / k] * near[random() % 8 == 0]);
        }
        for (int column = 0; column < p.s.shape.n; ++column)
            for (int i = 0; i < k; ++i) p.set_b(column, i, near[random() % 8 == 0]);
        for (int i = 0; i < p.outputs(); ++i) {
            p.set_c(i, (random() % 2 ? 1.0 : -1.0) * (2.0 - std::ldexp(1.0 + random() % 7, -10)));
        }
        for (auto* scales : {&p.scale_a, &p.scale_b})
            std::fill(scales->begin(), scales->end(), 127);
    });
}

TEST(QuickSums, BlockScalesOfAnySize) {
    const std::vector<Instruction> instructions = {
        scaled_instruction(Format::e4m3, Format::ue8m0, 32, false, {16, 8, 64}),
        scaled_instruction(Format::e2m1, Format::ue8m0, 32, false, {16, 16, 32}),
        scaled_instruction(Format::e2m1, Format::ue8m0, 32, true, {16, 8, 64}),
        scaled_instruction(Format::e2m1, Format::ue8m0, 16, true, {16, 8, 128}),
        scaled_instruction(Format::e2m1, Format::ue4m3, 16, true, {16, 8, 64})};
    for_each(instructions, 240, 5, [](Problem& p, Random& random) {
        enum { any, extreme, some_tiny, one_nan, low, high_of_zeros, ordinary, kinds };
        const int kind = static_cast<int>(random() % kinds);
        const bool floating = p.s.model.scale == Format::ue4m3;
        const int base = floating                ? 56
                         : kind == high_of_zeros ? 254
                                                 : 82 - static_cast<int>(random() % 6);
        for (auto* scales : {&p.scale_a, &p.scale_b}) {
            for (auto& code : *scales) {
                if (kind == any) code = static_cast<std::uint8_t>(random());
                if (kind == extreme) code = static_cast<std::uint8_t>(random() % 2 ? 0 : 254);
                if (kind == some_tiny && random() % 16 == 0)
                    code = static_cast<std::uint8_t>(random() % 3);
                if (kind == low || kind == one_nan || kind == high_of_zeros)
                    code = static_cast<std::uint8_t>(base - random() % 4);
            }
            if (kind == one_nan && random() % 2) (*scales)[random() % scales->size()] = 0xff;
        }
        for (int i = 0; i < p.outputs(); ++i) {
            const int exponent = kind == low ? -140 : static_cast<int>(random() % 200) - 100;
            p.set_c(i, std::ldexp(Problem::ordinary(random), kind == one_nan ? 0 : exponent));
        }
        if (kind == high_of_zeros) std::fill(p.a.begin(), p.a.end(), std::uint8_t{0});
    });
}

TEST(QuickSums, GroupsNextToTheLastBitKept) {
    std::vector<Instruction> instructions = {
        scaled_instruction(Format::e2m1, Format::ue4m3, 16, true, {16, 8, 64}),
        scaled_instruction(Format::e2m1, Format::ue8m0, 32, true, {16, 8, 64})};
    for (const int fraction_bits : {25, 34, 38}) {
        instructions.push_back(instructions[0]);
        instructions.back().model.fraction_bits = fraction_bits;
    }
    for_each(instructions, 300, 6, [](Problem& p, Random& random) {
        // The smallest scales stand up to 37 exponents below c or other scales; or c stands as far
        // below the largest.
        const bool floating = p.s.model.scale == Format::ue4m3, small_c = random() % 2;
        const int spread = 14 + static_cast<int>(random() % 26);
        const auto code = [&](int exponent) {
            return static_cast<std::uint8_t>(floating ? (exponent + 7) << 3 | random() % 7
                                                      : exponent + 127);
        };
        const int top = small_c ? 8 : 0, bottom = small_c ? 7 : -6;
        for (auto* scales : {&p.scale_a, &p.scale_b})
            for (auto& x : *scales) x = code(random() % 4 ? top : bottom);
        for (int i = 0; i < p.outputs(); ++i) {
            const double odd = 1.0 + std::ldexp(static_cast<double>(random() >> 41), -23);
            p.set_c(i, std::ldexp(random() % 2 ? odd : -odd, small_c ? 16 - spread : spread - 12));
        }
        if (random() % 3 == 0) std::fill(p.c.begin(), p.c.end(), std::uint8_t{0});
        if (random() % 3 == 0)
            std::fill(p.a.begin(), p.a.begin() + 32 * (random() % 16), std::uint8_t{0});
    });
}

TEST(QuickSums, EveryFp8CodeByF16) {
    for (const Format a : {Format::e4m3, Format::e5m2}) {
        const std::vector<Instruction> instructions = {
            instruction(90, a, Format::e4m3, {16, 8, 32}),
            instruction(90, a, Format::e5m2, {16, 8, 16}, Format::f16)};
        for_each(instructions, 40, 7, [](Problem& p, Random& random) {
            // One code in each row, the rest zero or ordinary: exponents of subnormals count.
            const bool alone = random() % 2;
            for (int row = 0; row < p.s.shape.m; ++row) {
                for (int k = 0; k < p.s.shape.k && alone; ++k) p.set_a(row, k, 0.0);
                Problem::set_code(p.a, p.s.model.a,
                                  row * p.s.shape.k + static_cast<int>(random() % p.s.shape.k),
                                  random() % 256);
            }
        });
    }
}

}  // namespace
}  // namespace ww::numerics

// SPDX-License-Identifier: Apache-2.0
// The tensor-core rule against a second evaluation of it (values and __int128, not code fields),
// against hand-made cases, and the fast kernels against the scalar rule, bit for bit.
#include "numerics/tensor_core.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "numerics/arith.hpp"

namespace ww::numerics {
namespace {

MmaKind kind_of(int sm, Unit unit, Format a, Format b, Format accumulator) {
    MmaKind kind;
    kind.sm = sm;
    kind.unit = unit;
    kind.a = a;
    kind.b = b;
    kind.accumulator = accumulator;
    return kind;
}
Model plain(int sm, Format format, Format accumulator = Format::f32, Unit unit = Unit::mma_sync) {
    return find_model(kind_of(sm, unit, format, format, accumulator)).value();
}
Model scaled(Format a, Format b, Format scale, int block, bool packed) {
    MmaKind kind = kind_of(120, Unit::mma_sync, a, b, Format::f32);
    kind.scale = scale;
    kind.scale_block = block;
    kind.packed_fp4 = packed;
    return find_model(kind).value();
}

// Matrices of one mma, as bytes.
struct Problem {
    Shape shape;
    std::vector<std::uint8_t> a, b, c, scale_a, scale_b;
};

void put(std::vector<std::uint8_t>& bytes, int index, int bits, std::uint64_t code) {
    if (bits < 8) {
        const int per_byte = 8 / bits;
        auto& byte = bytes[index / per_byte];
        byte = static_cast<std::uint8_t>(byte | code << (index % per_byte * bits));
    } else {
        std::memcpy(&bytes[static_cast<std::size_t>(index) * bits / 8], &code, bits / 8);
    }
}

// Every second product becomes the negative of the one before it: what is left is the small terms.
void cancel(const Model& model, Problem& p, std::mt19937_64& random) {
    const int k = p.shape.k, a_size = row_bytes(model, model.a, k) / k,
              b_size = row_bytes(model, model.b, k) / k;
    const FormatInfo& b_format = info(model.b);
    if (a_size == 0 || b_size == 0 || b_format.exponent_bits == 0) return;
    for (int i = 0; i < p.shape.m * k; i += 2) {
        if (i % k < k - 4) std::memcpy(&p.a[(i + 1) * a_size], &p.a[i * a_size], a_size);
    }
    for (int i = 0; i < p.shape.n * k; i += 2) {
        if (i % k >= k - 4) continue;
        std::uint64_t code = 0;
        std::memcpy(&code, &p.b[i * b_size], b_size);
        code ^= std::uint64_t{1} << (b_format.bits - 1);
        std::memcpy(&p.b[(i + 1) * b_size], &code, b_size);
    }
    if (random() % 2) std::fill(p.c.begin(), p.c.end(), std::uint8_t{0});
}

enum class Style { narrow, wide, anything, tiny, zeros, count };

// A code whose exponent lies in a window that the style chooses; some zeros, subnormals and
// specials.
std::uint64_t draw_code(Format format, Style style, std::mt19937_64& random) {
    const FormatInfo& traits = info(format);
    const std::uint64_t all =
        traits.bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << traits.bits) - 1;
    std::uint64_t code = random() & all;
    if (traits.exponent_bits == 0 || style == Style::anything) return code;
    if (style == Style::zeros && random() % 4)
        return random() % 2 ? 0 : code & (std::uint64_t{1} << (traits.bits - 1));
    const int low_bits = format == Format::tf32 ? 13 : 0;
    const int exponent_at = traits.mantissa_bits + low_bits;
    const int top = (1 << traits.exponent_bits) - 1;
    int field = traits.bias;
    if (style == Style::narrow) field += static_cast<int>(random() % 4) - 2;
    if (style == Style::wide) field += static_cast<int>(random() % 40) - 20;
    if (style == Style::tiny) field = static_cast<int>(random() % (traits.bias / 2 + 4));
    if (random() % 16 == 0) field = 0;
    field = std::min(std::max(field, 0), top - 1);
    code &= ~(static_cast<std::uint64_t>(top) << exponent_at);
    code |= static_cast<std::uint64_t>(field) << exponent_at;
    if (random() % 16 == 0) code &= ~((std::uint64_t{1} << exponent_at) - 1);
    return code;
}

std::vector<std::uint8_t> draw_matrix(const Model& model, Format format, int rows, int k,
                                      Style style, std::mt19937_64& random) {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(rows) * row_bytes(model, format, k));
    const bool packed = static_cast<int>(bytes.size()) < rows * k;
    const int bits =
        packed ? info(format).bits : std::max(8, info(format).bits == 6 ? 8 : info(format).bits);
    for (int i = 0; i < rows * k; ++i) put(bytes, i, bits, draw_code(format, style, random));
    return bytes;
}

Problem draw_problem(const Model& model, Shape shape, std::mt19937_64& random) {
    const auto style = static_cast<Style>(random() % static_cast<int>(Style::count));
    Problem p;
    p.shape = shape;
    p.a = draw_matrix(model, model.a, shape.m, shape.k, style, random);
    p.b = draw_matrix(model, model.b, shape.n, shape.k, style, random);
    const auto c_style = random() % 3 ? style : Style::wide;
    const int bits = info(model.accumulator).bits;
    p.c.resize(static_cast<std::size_t>(shape.m) * shape.n * bits / 8);
    for (int i = 0; i < shape.m * shape.n; ++i)
        put(p.c, i, bits, draw_code(model.accumulator, c_style, random));
    if (random() % 3 == 0) cancel(model, p, random);
    const int scales = model.scale_block ? shape.k / model.scale_block : 0;
    const bool odd = random() % 3 == 0;
    for (auto* s : {&p.scale_a, &p.scale_b}) {
        s->resize(static_cast<std::size_t>(s == &p.scale_a ? shape.m : shape.n) * scales);
        const int middle = model.scale == Format::ue8m0 ? 127 : 56;
        for (auto& code : *s) {
            code = static_cast<std::uint8_t>(odd ? random() : middle - 12 + random() % 24);
        }
    }
    return p;
}

std::vector<std::uint8_t> run(const Model& model, const Problem& p, bool fast, bool with_c = true) {
    std::vector<std::uint8_t> d(p.c.size(), 0xa5);
    const MmaOperands operands{p.a.data(), p.b.data(),       with_c ? p.c.data() : nullptr,
                               d.data(),   p.scale_a.data(), p.scale_b.data()};
    (fast ? mma : mma_reference)(model, p.shape, operands);
    return d;
}

// ---- the rule a second time: from values, with exponents by frexp and sums in __int128 ----

int exponent_of(Format format, double value) {
    if (value == 0.0 || !std::isfinite(value)) return 0;
    return std::max(std::ilogb(value), format == Format::ue8m0 ? -127 : 1 - info(format).bias);
}

struct Part {
    double value;  // exact
    int exponent;
};

std::uint32_t sum_parts(const Model& model, const std::vector<Part>& parts, double exact_class) {
    const bool half = model.accumulator == Format::f16;
    if (std::isnan(exact_class)) return half ? 0x7fff : 0x7fffffff;
    if (std::isinf(exact_class))
        return static_cast<std::uint32_t>(encode(model.accumulator, exact_class));
    int largest = model.min_exponent;
    for (const Part& part : parts)
        largest = std::max(largest, part.value == 0.0 ? -126 : part.exponent);
    __int128 sum = 0;
    for (const Part& part : parts) {
        sum += static_cast<__int128>(
            std::trunc(std::ldexp(part.value, model.fraction_bits - largest)));
    }
    const double value = std::ldexp(static_cast<double>(sum), largest - model.fraction_bits);
    if (half) return static_cast<std::uint32_t>(encode(Format::f16, value + 0.0));
    if (std::fabs(value) >= 0x1p128) return value > 0 ? 0x7f800000 : 0xff800000;
    const auto cut =
        static_cast<std::uint32_t>(encode(Format::f32, value + 0.0, {.rounding = Rounding::rz}));
    const auto kept = cut & ~((1u << (23 - model.output_fraction_bits)) - 1);
    return (kept & 0x7fffffff) == 0 ? 0 : kept;
}

double value_at(const Model& model, Format format, const std::vector<std::uint8_t>& matrix, int row,
                int k, int row_k) {
    const int bytes = row_bytes(model, format, row_k);
    const std::uint8_t* line = matrix.data() + static_cast<std::size_t>(row) * bytes;
    if (bytes * 2 == row_k) return decode(format, line[k / 2] >> (k % 2 * 4));
    std::uint64_t code = 0;
    const int size = bytes / row_k;
    std::memcpy(&code, line + static_cast<std::size_t>(k) * size, size);
    return decode(format, code);
}

std::uint32_t rule(const Model& model, const Problem& p, int i, int j) {
    const int k = p.shape.k;
    std::uint64_t code = 0;
    const int size = info(model.accumulator).bits / 8;
    std::memcpy(&code, &p.c[(static_cast<std::size_t>(i) * p.shape.n + j) * size], size);
    for (int k0 = 0; k0 < k; k0 += model.chunk) {
        const double c = decode(model.accumulator, code);
        std::vector<Part> parts = {{std::isfinite(c) ? c : 0.0, exponent_of(model.accumulator, c)}};
        double exact_class = std::isfinite(c) ? 0.0 : c;
        double group = 0.0;
        for (int at = k0; at < std::min(k, k0 + model.chunk); ++at) {
            const double a = value_at(model, model.a, p.a, i, at, k),
                         b = value_at(model, model.b, p.b, j, at, k);
            const double product = a * b;
            if (!std::isfinite(product)) exact_class += product;
            int exponent = exponent_of(model.a, a) + exponent_of(model.b, b);
            double scale = 1.0;
            int scale_exponent = 0;
            if (model.scale_block) {
                const int per_row = k / model.scale_block, s = at / model.scale_block;
                const double sa = decode(model.scale, p.scale_a[i * per_row + s]);
                const double sb = decode(model.scale, p.scale_b[j * per_row + s]);
                if (std::isnan(sa) || std::isnan(sb)) exact_class = sa + sb;
                scale = sa * sb;
                scale_exponent = exponent_of(model.scale, sa) + exponent_of(model.scale, sb);
            }
            if (model.scheme != Scheme::scaled_groups) {
                parts.push_back({std::isfinite(product * scale) ? product * scale : 0.0,
                                 exponent + scale_exponent});
            } else {
                group += product;
                if (at % 16 == 15) {
                    parts.push_back({std::isfinite(scale) ? group * scale : 0.0, scale_exponent});
                    group = 0.0;
                }
            }
        }
        code = sum_parts(model, parts, exact_class);
    }
    return static_cast<std::uint32_t>(code);
}

struct Case {
    Model model;
    Shape shape;
};

std::vector<Case> fused_cases() {
    std::vector<Case> cases;
    for (int sm : {80, 89, 90, 100, 120}) {
        for (Format format : {Format::f16, Format::bf16})
            cases.push_back({plain(sm, format), {16, 8, 16}});
        cases.push_back({plain(sm, Format::f16, Format::f16), {16, 8, 16}});
        cases.push_back({plain(sm, Format::f16), {16, 8, 8}});
        cases.push_back({plain(sm, Format::tf32), {16, 8, 8}});
        cases.push_back({plain(sm, Format::tf32), {16, 8, 4}});
    }
    for (Format format : {Format::e4m3, Format::e5m2}) {
        for (Format accumulator : {Format::f32, Format::f16}) {
            cases.push_back({plain(89, format, accumulator), {16, 8, 32}});
            cases.push_back({plain(90, format, accumulator, Unit::wgmma), {64, 24, 32}});
            cases.push_back({plain(100, format, accumulator, Unit::tcgen05), {5, 11, 64}});
        }
    }
    cases.push_back({plain(90, Format::bf16, Format::f32, Unit::wgmma), {64, 40, 16}});
    cases.push_back({plain(90, Format::f16, Format::f16, Unit::wgmma), {7, 13, 48}});
    for (Format a : {Format::e4m3, Format::e3m2, Format::e2m3, Format::e2m1}) {
        cases.push_back(
            {find_model(kind_of(120, Unit::mma_sync, a, Format::e5m2, Format::f32)).value(),
             {16, 8, 32}});
        cases.push_back({scaled(a, Format::e5m2, Format::ue8m0, 32, false), {16, 8, 32}});
        cases.push_back({scaled(Format::e4m3, a, Format::ue8m0, 32, false), {3, 9, 64}});
    }
    cases.push_back({scaled(Format::e2m1, Format::e2m1, Format::ue4m3, 16, true), {16, 8, 64}});
    cases.push_back({scaled(Format::e2m1, Format::e2m1, Format::ue4m3, 16, true), {3, 13, 128}});
    cases.push_back({scaled(Format::e2m1, Format::e2m1, Format::ue8m0, 32, true), {16, 8, 64}});
    cases.push_back({scaled(Format::e2m1, Format::e2m1, Format::ue8m0, 16, true), {16, 8, 96}});
    Model other = scaled(Format::e2m1, Format::e2m1, Format::ue4m3, 16, true);
    other.fraction_bits = 25;
    cases.push_back({other, {16, 8, 64}});
    return cases;
}

TEST(TensorCore, ScalarRuleMatchesASecondEvaluation) {
    std::mt19937_64 random(21);
    for (const Case& test : fused_cases()) {
        for (int trial = 0; trial < 12; ++trial) {
            const Problem p = draw_problem(test.model, test.shape, random);
            const auto d = run(test.model, p, false);
            const int size = info(test.model.accumulator).bits / 8;
            for (int i = 0; i < test.shape.m; ++i) {
                for (int j = 0; j < test.shape.n; ++j) {
                    std::uint32_t got = 0;
                    std::memcpy(&got, &d[(static_cast<std::size_t>(i) * test.shape.n + j) * size],
                                size);
                    ASSERT_EQ(got, rule(test.model, p, i, j))
                        << describe(test.model) << " trial " << trial << " (" << i << "," << j
                        << ")";
                }
            }
        }
    }
}

std::vector<Case> all_cases() {
    std::vector<Case> cases = fused_cases();
    for (int k : {16, 32}) {
        for (Format accumulator : {Format::f32, Format::f16}) {
            cases.push_back(
                {find_model(kind_of(90, Unit::mma_sync, Format::e4m3, Format::e5m2, accumulator))
                     .value(),
                 {16, 8, k}});
        }
    }
    for (bool saturate : {false, true}) {
        for (auto [a, b] : {std::pair{Format::s8, Format::u8},
                            {Format::u8, Format::u8},
                            {Format::s4, Format::u4},
                            {Format::s4, Format::s4}}) {
            MmaKind kind = kind_of(80, Unit::mma_sync, a, b, Format::s32);
            kind.saturate = saturate;
            cases.push_back({find_model(kind).value(), {16, 8, 64}});
        }
        MmaKind binary = kind_of(80, Unit::mma_sync, Format::b1, Format::b1, Format::s32);
        binary.binary_and = saturate;
        cases.push_back({find_model(binary).value(), {16, 8, 256}});
    }
    cases.push_back({plain(90, Format::f64, Format::f64), {16, 8, 16}});
    return cases;
}

TEST(TensorCore, FastKernelsMatchTheScalarRule) {
    std::mt19937_64 random(22);
    for (const Case& test : all_cases()) {
        for (int trial = 0; trial < 60; ++trial) {
            const Problem p = draw_problem(test.model, test.shape, random);
            const bool with_c = trial % 5 != 0;
            const auto want = run(test.model, p, false, with_c),
                       got = run(test.model, p, true, with_c);
            const int size = info(test.model.accumulator).bits / 8;
            for (std::size_t at = 0; at < want.size(); at += size) {
                ASSERT_EQ(std::memcmp(&want[at], &got[at], size), 0)
                    << describe(test.model) << " trial " << trial << " output " << at / size;
            }
        }
    }
}

// Both kernels on one problem.
void expect_same(const Model& model, const Problem& p) {
    const auto want = run(model, p, false), got = run(model, p, true);
    ASSERT_EQ(want, got) << describe(model);
}

TEST(TensorCore, SumsNextTo32Bits) {
    // Sixteen products of almost 4 leave no room for c in 32 bits: its sums end next to 2^31.
    std::mt19937_64 random(23);
    const Model model = plain(90, Format::f16);
    for (int trial = 0; trial < 300; ++trial) {
        Problem p = draw_problem(model, {4, 8, 16}, random);
        const std::uint64_t low = random() % 4 ? 1020 : 0;
        for (auto* matrix : {&p.a, &p.b}) {
            const int count = static_cast<int>(matrix->size()) / 2;
            const std::uint64_t sign = matrix == &p.a && trial % 2 ? 0x8000 : 0;
            for (int i = 0; i < count; ++i) {
                put(*matrix, i, 16, sign | 0x3c00 | (low + random() % (1024 - low)));
            }
        }
        const auto zero_c = run(model, p, false, false);
        for (int i = 0; i < 32; ++i) {
            float sum;
            std::memcpy(&sum, &zero_c[static_cast<std::size_t>(i) * 4], 4);
            const float rest = std::copysign(64.0f, sum) - sum;
            const int step = static_cast<int>(random() % 9) - 4;
            float c = rest + static_cast<float>(step) * 0x1p-24f;
            if (std::fabs(c) >= 2.0f) c = std::copysign(1.9999999f, c);
            put(p.c, i, 32, bits_of(c));
        }
        expect_same(model, p);
    }
}

TEST(TensorCore, ScaledSumsNextToSubnormals) {
    std::mt19937_64 random(24);
    for (const Model& model : {scaled(Format::e2m1, Format::e2m1, Format::ue8m0, 32, true),
                               scaled(Format::e4m3, Format::e2m1, Format::ue8m0, 32, false)}) {
        for (int trial = 0; trial < 300; ++trial) {
            Problem p = draw_problem(model, {16, 8, 64}, random);
            for (auto& code : p.scale_a) code = static_cast<std::uint8_t>(40 + random() % 40);
            for (auto& code : p.scale_b) code = static_cast<std::uint8_t>(40 + random() % 40);
            for (int i = 0; i < 128; ++i) {
                const bool tiny = random() % 3 == 0;
                const auto c = static_cast<std::uint32_t>(random()) & 0x80ffffff;
                std::memset(&p.c[static_cast<std::size_t>(i) * 4], 0, 4);
                if (tiny) put(p.c, i, 32, c);
            }
            expect_same(model, p);
        }
    }
}

// ---- cases by hand ----

float one_row(const Model& model, const std::vector<double>& a, const std::vector<double>& b,
              float c) {
    const int k = static_cast<int>(a.size());
    Problem p;
    p.shape = {1, 1, k};
    p.a.resize(row_bytes(model, model.a, k));
    p.b.resize(row_bytes(model, model.b, k));
    p.c.resize(4);
    std::memcpy(p.c.data(), &c, 4);
    for (int i = 0; i < k; ++i) {
        put(p.a, i, std::max(8, info(model.a).bits), encode(model.a, a[i]));
        put(p.b, i, std::max(8, info(model.b).bits), encode(model.b, b[i]));
    }
    const auto d = run(model, p, true);
    EXPECT_EQ(d, run(model, p, false));
    float out;
    std::memcpy(&out, d.data(), 4);
    return out;
}

std::vector<double> head(int k, std::vector<double> values) {
    values.resize(k);
    return values;
}

TEST(TensorCore, HandMadeCases) {
    const Model hopper = plain(90, Format::bf16), ampere = plain(80, Format::bf16);
    const auto ones = std::vector<double>(16, 1.0);
    // 2^25 below the largest term is the last bit kept by sm_90; sm_80 keeps one bit less.
    const auto far = [](double x) { return head(16, {1.0, -1.0, x}); };
    EXPECT_EQ(one_row(hopper, far(0x1p-25), ones, 0.0f), 0x1p-25f);
    EXPECT_EQ(one_row(hopper, far(0x1p-26), ones, 0.0f), 0.0f);
    EXPECT_EQ(one_row(ampere, far(0x1p-24), ones, 0.0f), 0x1p-24f);
    EXPECT_EQ(one_row(ampere, far(0x1p-25), ones, 0.0f), 0.0f);
    // Toward zero, not to nearest: 1 + 3 * 2^-25 stays 1; and the same below zero.
    EXPECT_EQ(one_row(hopper, head(16, {1.0, 0x1p-24, 0x1p-25}), ones, 0.0f), 1.0f);
    EXPECT_EQ(one_row(hopper, head(16, {-1.0, -0x1p-24, -0x1p-25}), ones, 0.0f), -1.0f);
    // Two chained halves on sm_80: a large k >= 8 does not hide a small k < 8 from c's sum.
    auto split = std::vector<double>(16, 0.0);
    split[0] = 0x1p-25;
    split[8] = 1.0;
    split[9] = -1.0;
    EXPECT_EQ(one_row(hopper, split, ones, 0.0f), 0x1p-25f);
    EXPECT_EQ(one_row(ampere, split, ones, 0.0f), 0.0f);
    // The largest exponent is of unnormalised products: 1.5 * 1.5 = 2.25 still counts as exponent
    // 0.
    auto b = ones;
    b[0] = b[1] = 1.5;
    EXPECT_EQ(one_row(hopper, head(16, {1.5, -1.5, 0x1p-25}), b, 0.0f), 0x1p-25f);
    // FP8 wgmma: 13 bits inside and in the result.
    const Model fp8 = plain(90, Format::e4m3, Format::f32, Unit::wgmma);
    const auto ones32 = std::vector<double>(32, 1.0);
    EXPECT_EQ(one_row(fp8, head(32, {0x1p-6}), ones32, 0x1p7f), 0x1p7f + 0x1p-6f);
    EXPECT_EQ(one_row(fp8, head(32, {0x1p-7}), ones32, 0x1p7f), 0x1p7f);
    EXPECT_EQ(one_row(fp8, head(32, {}), ones32, 1.0f + 0x1p-20f), 1.0f);
    // sm_90 mma.sync fp8: c is added afterwards, to nearest even.
    const Model emulated = plain(90, Format::e4m3);
    EXPECT_EQ(one_row(emulated, head(32, {1.0}), ones32, 0x1p24f + 2.0f), 0x1p24f + 4.0f);
    // Infinity and NaN; a negative sum that vanishes is +0.
    const double inf = HUGE_VAL;
    EXPECT_EQ(one_row(hopper, head(16, {inf}), ones, 1.0f), HUGE_VALF);
    EXPECT_EQ(bits_of(one_row(hopper, head(16, {inf, -inf}), ones, 1.0f)), kNanF32);
    EXPECT_EQ(bits_of(one_row(hopper, head(16, {1.0, 0.0}), head(16, {0.0, inf}), 1.0f)), kNanF32);
    EXPECT_EQ(bits_of(one_row(hopper, head(16, {}), ones, -0.0f)), 0u);
    EXPECT_EQ(bits_of(one_row(fp8, head(32, {}), ones32, -0x1p-149f)), 0u);
    EXPECT_EQ(one_row(hopper, head(16, {0x1p127, 0x1p127}), ones, 0.0f), HUGE_VALF);
}

TEST(TensorCore, QuadF16InSoftware) {
    MmaKind kind = kind_of(90, Unit::mma_sync, Format::f16, Format::f16, Format::f32);
    kind.quad = true;
    const Model model = find_model(kind).value();
    // fma chain to nearest, then one add: 2^24 + 1 + 1 + 1 loses each 1 in turn, 1 + 1 + 1 + c does
    // not.
    EXPECT_EQ(one_row(model, {1.0, 1.0, 1.0, 0.0}, {1.0, 1.0, 1.0, 0.0}, 0x1p24f), 0x1p24f + 4.0f);
    EXPECT_EQ(one_row(model, {4096.0, 1.0, 1.0, 1.0}, {4096.0, 1.0, 1.0, 1.0}, 0.0f), 0x1p24f);
}

TEST(TensorCore, WhatHasNoModelSaysSo) {
    const auto missing = [](MmaKind kind) { return !find_model(kind).has_value(); };
    EXPECT_TRUE(missing(kind_of(75, Unit::mma_sync, Format::f16, Format::f16, Format::f32)));
    EXPECT_TRUE(missing(kind_of(80, Unit::mma_sync, Format::e4m3, Format::e4m3, Format::f32)));
    EXPECT_TRUE(missing(kind_of(100, Unit::wgmma, Format::f16, Format::f16, Format::f32)));
    EXPECT_TRUE(missing(kind_of(90, Unit::mma_sync, Format::f16, Format::bf16, Format::f32)));
    EXPECT_TRUE(missing(kind_of(90, Unit::mma_sync, Format::bf16, Format::bf16, Format::f16)));
    const auto result =
        find_model(kind_of(90, Unit::tcgen05, Format::f16, Format::f16, Format::f32));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().front().severity, Severity::unsupported);
    EXPECT_NE(result.error().front().message.find("sm_90"), std::string::npos);
}

}  // namespace
}  // namespace ww::numerics

// SPDX-License-Identifier: Apache-2.0
#include "port/distribution.hpp"

#include <cmath>
#include <set>

#include "port/random.hpp"
#include "port/safetensors.hpp"
#include "port_text.hpp"

namespace ww::port {
namespace {

using Kind = Distribution::Kind;

Tensor make(const Distribution& d, Dtype dtype, std::vector<int64_t> shape, uint64_t seed = 1) {
    return must(generate(d, "x", must(make_layout(dtype, std::move(shape))), seed));
}

// Vectors of the Random123 distribution (kat_vectors, philox 4x32 with 10 rounds).
TEST(random, philox_known_answers) {
    EXPECT_EQ(philox(0, 0, 0),
              (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    EXPECT_EQ(philox(~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}),
              (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(random, normal_has_its_distribution_function) {
    // Phi(quantile(u)) = u, for every u that the generator drew.
    for (uint64_t i = 0; i < 20000; ++i) {
        const double u = (static_cast<double>(random_bits(3, 5, i) >> 12) * 2 + 1) * 0x1p-53;
        const double x = random_normal(3, 5, i);
        ASSERT_NEAR(0.5 * std::erfc(-x / std::sqrt(2.0)) / u, 1, 1e-12) << i;
    }
}

TEST(random, normal_moments) {
    double sum = 0, squares = 0, fourth = 0;
    constexpr int kCount = 200000;
    for (uint64_t i = 0; i < kCount; ++i) {
        const double x = random_normal(9, 1, i);
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
    }
    EXPECT_NEAR(sum / kCount, 0, 0.01);
    EXPECT_NEAR(squares / kCount, 1, 0.02);
    EXPECT_NEAR(fourth / kCount, 3, 0.15);
}

TEST(random, below_covers_its_range_evenly) {
    std::vector<int> counts(7);
    for (uint64_t i = 0; i < 70000; ++i) ++counts[random_below(1, 2, i, 7)];
    for (const int count : counts) EXPECT_NEAR(count, 10000, 500);
}

// The bits of a case must never change: they are what recorded results belong to.
TEST(distribution, bits_are_pinned) {
    const Tensor x = make({.kind = Kind::normal, .std = 3}, Dtype::f32, {4}, 42);
    std::string codes;
    for (int64_t i = 0; i < 4; ++i) codes += code_text(Dtype::f32, x.code(i)) + " ";
    EXPECT_EQ(codes, "0xbfc779c3 0xc0368dd1 0xc07f3009 0xbfda6849 ");
}

TEST(distribution, seed_and_name_matter) {
    const Layout layout = must(make_layout(Dtype::f32, {64}));
    const Distribution d{};
    EXPECT_EQ(must(generate(d, "x", layout, 1)).bytes, must(generate(d, "x", layout, 1)).bytes);
    EXPECT_NE(must(generate(d, "x", layout, 1)).bytes, must(generate(d, "x", layout, 2)).bytes);
    EXPECT_NE(must(generate(d, "x", layout, 1)).bytes, must(generate(d, "y", layout, 1)).bytes);
}

// Large tensors are made by several threads: of two 4-bit elements a byte, of a byte each, and where strides leave gaps.
TEST(distribution, threads_make_the_same_bits) {
    Distribution d;
    d.mean = 0.25;
    for (const Layout& layout : {must(make_layout(Dtype::e2m1, {1001, 1002})), must(make_layout(Dtype::bf16, {7, 150'001})),
                                 must(make_layout(Dtype::f32, {1000, 1001}, std::vector<int64_t>{1003, 1}))}) {
        const Tensor made = must(generate(d, "x", layout, 5));
        Tensor due = must(Tensor::zeros("x", layout));
        for (int64_t i = 0; i < layout.elements; ++i)
            due.set(i, 0.25 + random_normal(5, stream_of("x"), static_cast<uint64_t>(i)));
        EXPECT_EQ(made.bytes, due.bytes) << layout.text();
    }
}

TEST(distribution, one_hot_has_one_in_each_line) {
    const Tensor x = make({.kind = Kind::one_hot, .value = 3, .axis = 1}, Dtype::f16, {2, 5, 3});
    for (int64_t b = 0; b < 2; ++b)
        for (int64_t c = 0; c < 3; ++c) {
            double sum = 0;
            for (int64_t l = 0; l < 5; ++l) {
                const int64_t at[] = {b, l, c};
                const double value = x.get(at);
                EXPECT_TRUE(value == 0 || value == 3);
                sum += value;
            }
            EXPECT_EQ(sum, 3);
        }
}

TEST(distribution, shapes_of_the_others) {
    const Tensor rows = make({.kind = Kind::equal_rows}, Dtype::f32, {3, 8});
    for (int64_t i = 8; i < 24; ++i) EXPECT_EQ(rows.code(i), rows.code(i - 8));
    EXPECT_NE(rows.code(0), rows.code(1));

    const Tensor ramp = make({.kind = Kind::ramp, .value = 1, .step = 2}, Dtype::i32, {2, 3});
    EXPECT_EQ(ramp.get(5), 11);
    const Tensor along =
        make({.kind = Kind::ramp, .step = 1, .axis = 0, .axis_given = true}, Dtype::i32, {2, 3});
    EXPECT_EQ(along.get(2), 0);
    EXPECT_EQ(along.get(3), 1);

    const Tensor sinks = make({.kind = Kind::sinks, .std = 0.1, .value = 50, .axis = 0, .count = 2},
                              Dtype::f32, {4, 8});
    for (int64_t i = 0; i < 32; ++i) EXPECT_EQ(sinks.get(i) > 25, i < 16);

    const Tensor loud =
        make({.kind = Kind::outliers, .scale = 1e6, .fraction = 0.25}, Dtype::f32, {16, 8});
    std::set<int64_t> channels;
    for (int64_t i = 0; i < 128; ++i)
        if (std::fabs(loud.get(i)) > 1e3) channels.insert(i % 8);
    EXPECT_EQ(channels.size(), 2u);

    const Tensor uniform = make({.kind = Kind::uniform, .low = -2, .high = 2}, Dtype::i8, {1000});
    std::set<double> values;
    for (int64_t i = 0; i < 1000; ++i) values.insert(uniform.get(i));
    EXPECT_EQ(values, (std::set<double>{-2, -1, 0, 1, 2}));

    const Tensor special = make({.kind = Kind::special, .fraction = 1}, Dtype::bf16, {1000});
    std::set<uint64_t> codes;
    for (int64_t i = 0; i < 1000; ++i) codes.insert(special.code(i));
    EXPECT_EQ(codes, (std::set<uint64_t>{0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x807f, 0x0080,
                                         0x8080, 0x7f7f, 0xff7f}));
}

TEST(distribution, wrong_axis) {
    EXPECT_EQ(error_of(generate({.kind = Kind::one_hot, .axis = 2}, "x",
                                must(make_layout(Dtype::f32, {2, 3})), 0)),
              "axis 2 of tensor 'x', which has 2 axes");
}

TEST(distribution, listed_values) {
    Distribution d{.kind = Kind::values, .values = {Expr::constant(0), Expr::constant(17), Expr::constant(-3)}};
    const Tensor x = make(d, Dtype::i32, {3});
    EXPECT_EQ(x.get(0), 0);
    EXPECT_EQ(x.get(1), 17);
    EXPECT_EQ(x.get(2), -3);
    const auto few = generate(d, "x", must(make_layout(Dtype::i32, {4})), 1);
    ASSERT_FALSE(few);
    EXPECT_NE(few.error()[0].message.find("3 values; tensor 'x'"), std::string::npos) << few.error()[0].message;
}

TEST(distribution, from_a_file) {
    const auto path = std::filesystem::path(testing::TempDir()) / "distribution.safetensors";
    Tensor data = make({.kind = Kind::ramp}, Dtype::f32, {2, 3, 4});
    data.name = "q";
    must(write_safetensors(path, SafetensorsFile{.tensors = {data}}));
    Distribution d{.kind = Kind::file, .file = path, .tensor = "q"};
    d.slice = {must(Expr::parse("layer + 1"))};
    const Layout layout = must(make_layout(Dtype::bf16, {12}));
    const Scope scope{.integers = {{"layer", 0}}};
    const Tensor x = must(generate(d, "x", layout, 0, scope));
    for (int64_t i = 0; i < 12; ++i) EXPECT_EQ(x.get(i), 12 + static_cast<double>(i));
    EXPECT_EQ(error_of(generate(d, "x", layout, 0, Scope{.integers = {{"layer", 1}}})),
              "a slice index must be at most 1, not 'layer + 1' = 2");
    d.slice.clear();
    EXPECT_EQ(error_of(generate(d, "x", layout, 0)),
              "'q' of f32 [2, 3, 4] gives 24 elements after 0 slice indices; tensor 'x' is "
              "bf16 [12] and needs 12");
    d.tensor = "qq";
    EXPECT_NE(error_of(generate(d, "x", layout, 0)).find("no tensor 'qq'; did you mean 'q'?"),
              std::string::npos);
}

}  // namespace
}  // namespace ww::port

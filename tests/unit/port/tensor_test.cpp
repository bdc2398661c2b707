// SPDX-License-Identifier: Apache-2.0
#include "port/tensor.hpp"

#include <cmath>
#include <limits>

#include "port_text.hpp"

namespace ww::port {
namespace {

TEST(dtype, every_code_of_a_narrow_type_survives) {
    for (const std::string& spelled : dtype_names()) {
        const Dtype dtype = *dtype_named(spelled);
        if (info(dtype).bits > 16) continue;
        for (uint64_t code = 0; code < uint64_t{1} << info(dtype).bits; ++code) {
            const double value = decode(dtype, code);
            if (std::isnan(value)) continue;
            ASSERT_EQ(decode(dtype, encode(dtype, value)), value) << spelled << " " << code;
        }
    }
}

TEST(dtype, rounds_and_saturates) {
    EXPECT_EQ(decode(Dtype::e2m1, encode(Dtype::e2m1, 2.5)), 2);
    EXPECT_EQ(decode(Dtype::e2m1, encode(Dtype::e2m1, -100)), -6);
    EXPECT_EQ(decode(Dtype::e4m3, encode(Dtype::e4m3, 1e9)), 448);
    EXPECT_EQ(decode(Dtype::i8, encode(Dtype::i8, -300)), -128);
    EXPECT_EQ(decode(Dtype::i64, encode(Dtype::i64, 1e30)), 0x1p63);
    EXPECT_EQ(encode(Dtype::u64, -3), 0u);
    EXPECT_EQ(encode(Dtype::i64, -3), ~uint64_t{2});
    EXPECT_EQ(encode(Dtype::bf16, 1), 0x3f80u);
    EXPECT_TRUE(std::isinf(decode(Dtype::f16, encode(Dtype::f16, 1e9))));
    EXPECT_TRUE(std::isnan(decode(Dtype::e4m3, encode(Dtype::e4m3, NAN))));
    EXPECT_EQ(encode(Dtype::e2m1, NAN), 0u);
    EXPECT_EQ(decode(Dtype::ue8m0, encode(Dtype::ue8m0, 4)), 4);
}

TEST(dtype, ulp) {
    EXPECT_EQ(ulp(Dtype::f32, 1), 0x1p-23);
    EXPECT_EQ(ulp(Dtype::f32, -3), 0x1p-22);
    EXPECT_EQ(ulp(Dtype::f32, 0), 0x1p-149);
    EXPECT_EQ(ulp(Dtype::bf16, 1), 0x1p-7);
    EXPECT_EQ(ulp(Dtype::f64, 1), 0x1p-52);
    EXPECT_EQ(ulp(Dtype::f16, INFINITY), 32);
    EXPECT_EQ(ulp(Dtype::i32, 1000), 1);
}

TEST(tensor, strides_and_coordinates) {
    const Layout dense = must(make_layout(Dtype::f32, {2, 3, 4}));
    EXPECT_EQ(dense.strides, (std::vector<int64_t>{12, 4, 1}));
    EXPECT_EQ(dense.bytes, 96);
    EXPECT_EQ(dense.text(), "f32 [2, 3, 4]");
    const Layout padded = must(make_layout(Dtype::f32, {2, 3}, std::vector<int64_t>{8, 2}));
    EXPECT_EQ(padded.bytes, (8 + 4 + 1) * 4);
    EXPECT_FALSE(padded.dense);
    EXPECT_EQ(padded.offset_of(5), 12);
    EXPECT_EQ(padded.coordinates(5), (std::vector<int64_t>{1, 2}));
    EXPECT_EQ(byte_range(padded, 5).first, 48);
    EXPECT_FALSE(padded.may_overlap());
    EXPECT_TRUE(must(make_layout(Dtype::f32, {2, 3}, std::vector<int64_t>{2, 1})).may_overlap());
}

TEST(tensor, the_element_of_a_byte) {
    using Coordinates = std::vector<int64_t>;
    const Layout dense = must(make_layout(Dtype::f32, {2, 3}));
    EXPECT_EQ(coordinates_at(dense, 0), (Coordinates{0, 0}));
    EXPECT_EQ(coordinates_at(dense, 15), (Coordinates{1, 0}));
    EXPECT_EQ(coordinates_at(dense, 23), (Coordinates{1, 2}));
    EXPECT_EQ(coordinates_at(dense, 24), std::nullopt);
    // Columns lie together and have room behind them: three elements in four places.
    const Layout strided = must(make_layout(Dtype::f16, {3, 2}, {{1, 4}}));
    EXPECT_EQ(coordinates_at(strided, 5), (Coordinates{2, 0}));
    EXPECT_EQ(coordinates_at(strided, 6), std::nullopt);
    EXPECT_EQ(coordinates_at(strided, 8), (Coordinates{0, 1}));
    EXPECT_EQ(coordinates_at(must(make_layout(Dtype::e2m1, {5})), 1), (Coordinates{2}));
    EXPECT_EQ(coordinates_at(must(make_layout(Dtype::f32, {4, 2}, {{0, 1}})), 4), (Coordinates{0, 1}));
}

TEST(tensor, two_codes_a_byte) {
    Tensor t = must(Tensor::zeros("t", must(make_layout(Dtype::e2m1, {3, 5}))));
    EXPECT_EQ(t.bytes.size(), 8u);
    for (int64_t i = 0; i < 15; ++i) t.set_code(i, static_cast<uint64_t>(i));
    for (int64_t i = 0; i < 15; ++i) EXPECT_EQ(t.code(i), static_cast<uint64_t>(i));
    EXPECT_EQ(std::to_integer<int>(t.bytes[1]), 0x32);  // the first element in the low nibble
    t.set(2, -1.5);
    const int64_t at[] = {0, 2};
    EXPECT_EQ(t.get(at), -1.5);
    EXPECT_EQ(t.code(3), 3u);
}

TEST(tensor, bounds) {
    EXPECT_EQ(error_of(make_layout(Dtype::f32, {4, 0})), "an extent of 0; it must be at least 1");
    EXPECT_EQ(error_of(make_layout(Dtype::u8, {int64_t{1} << 40, 4})), "more than 2^41 elements");
    EXPECT_EQ(error_of(make_layout(Dtype::f32, {int64_t{1} << 39})),
              "a tensor of more than 2^40 bytes: f32 [549755813888]");
    EXPECT_EQ(error_of(make_layout(Dtype::u8, {2}, std::vector<int64_t>{INT64_MAX})),
              "a tensor of more than 2^40 bytes: u8 [2]");
    EXPECT_EQ(error_of(make_layout(Dtype::u8, {2}, std::vector<int64_t>{-1})),
              "a stride of -1; it must be at least 0");
    EXPECT_EQ(error_of(make_layout(Dtype::u8, std::vector<int64_t>(9, 1))),
              "9 dimensions; at most 8 are supported");
}

}  // namespace
}  // namespace ww::port

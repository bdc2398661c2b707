// SPDX-License-Identifier: Apache-2.0
// Operands, models and the verdict; no device here (sums_run.cpp).
#include "silicon/sums.hpp"

#include <fmt/format.h>

#include <bit>
#include <random>

#include "base/check.hpp"
#include "numerics/tensor_core.hpp"

namespace ww::silicon {
namespace {

// Codes of e2m1, of ue4m3.
constexpr uint8_t kHalf = 1, kOneAndHalf = 3, kTwo = 4, kFour = 6, kSix = 7, kMinus = 8;
constexpr uint8_t kScaleOne = 0x38, kScale256 = 0x78, kScaleLeast = 0x01;  // 1, 2^8, 2^-9

void set(uint8_t* row, int k, uint8_t code) {
    const int shift = k % 2 * 4;
    row[k / 2] = static_cast<uint8_t>((row[k / 2] & ~(15 << shift)) | code << shift);
}

// ue4m3 of 2^exponent, -9 to 8.
uint8_t power(int exponent) {
    return static_cast<uint8_t>(exponent >= -6 ? (exponent + 7) << 3 : 1 << (exponent + 9));
}

uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }

// Group 0 and 2 hold the large terms, groups 1 and 3 the small one.
void fill_row(Product& product, int row) {
    uint8_t* a = product.a.data() + row * kDepth / 2;
    uint8_t* scale = product.scale_a.data() + row * kDepth / kGroup;
    set(a, 0, kFour);
    set(a, 1, kHalf);
    set(a, 2 * kGroup, kFour);
    const uint8_t small[] = {kHalf, kSix, kSix, kFour, kTwo, kHalf};
    for (int k = 0; k < 6; ++k) {
        set(a, kGroup + k, small[k]);
        set(a, 3 * kGroup + k, small[k]);
    }
    scale[0] = scale[2] = kScale256;
    scale[1] = scale[3] = power(8 - row);
}

struct Column {
    std::string_view way;
    float c;
    uint8_t minuend;  // b at k = 0 and at k = 1: times 4 and 0.5
    uint8_t small_minuend;
    uint8_t second;                                    // b at the start of group 2, times 4
    std::array<uint8_t, 6> first_small, second_small;  // of groups 1 and 3
    uint8_t small_scale;
};

constexpr std::array<uint8_t, 6> kNone{}, kOneSmall{kHalf}, kMinusSmall{kHalf | kMinus};
constexpr float kLarge = 1 << 20;
constexpr uint8_t kMinusFour = kFour | kMinus;

constexpr std::array<Column, kColumns> kWays{{
    {"c = 2^20, a group of -2^20, a term of 2^(20 - j)", kLarge, kMinusFour, 0, 0, kOneSmall, kNone,
     kScaleLeast},
    {"the same with a negative term", kLarge, kMinusFour, 0, 0, kMinusSmall, kNone, kScaleLeast},
    {"two groups of 2^20 and -2^20, c = 0", 0, kMinusFour, 0, kFour, kOneSmall, kNone, kScaleLeast},
    {"c = 2^14, a group of -2^14 whose scales are 2^16", 1 << 14, 0, kHalf | kMinus, 0, kOneSmall,
     kNone, kScaleLeast},
    {"as the first, the term in two groups", kLarge, kMinusFour, 0, 0, kOneSmall, kOneSmall,
     kScaleLeast},
    {"as the first, the term left over inside its group",
     kLarge,
     kMinusFour,
     0,
     0,
     {0, kSix, kMinusFour, kTwo | kMinus, kOneAndHalf | kMinus, kOneAndHalf | kMinus},
     kNone,
     kScaleLeast},
    {"c = 2^20, a negative term, nothing cancels", kLarge, 0, 0, 0, kMinusSmall, kNone,
     kScaleLeast},
    {"as the first, 7 times the term", kLarge, kMinusFour, 0, 0, kOneSmall, kNone, 7 * kScaleLeast},
}};

void fill_column(Product& product, int column) {
    const Column& way = kWays[static_cast<size_t>(column)];
    uint8_t* b = product.b.data() + column * kDepth / 2;
    uint8_t* scale = product.scale_b.data() + column * kDepth / kGroup;
    set(b, 0, way.minuend);
    set(b, 1, way.small_minuend);
    set(b, 2 * kGroup, way.second);
    for (size_t k = 0; k < way.first_small.size(); ++k) {
        set(b, kGroup + static_cast<int>(k), way.first_small[k]);
        set(b, 3 * kGroup + static_cast<int>(k), way.second_small[k]);
    }
    scale[0] = scale[2] = kScale256;
    scale[1] = scale[3] = way.small_scale;
    for (int row = 0; row < kRows; ++row)
        product.c[static_cast<size_t>(row * kColumns + column)] = bits(way.c);
}

Product random_product(std::mt19937_64& random) {
    Product out;
    for (uint8_t& byte : out.a) byte = static_cast<uint8_t>(random());
    for (uint8_t& byte : out.b) byte = static_cast<uint8_t>(random());
    // Half of the scales near 1, the others anywhere: sums of like and of unlike terms.
    const auto scale = [&] {
        const uint64_t drawn = random();
        const uint64_t code = drawn % 2 ? kScaleOne - 8 + drawn / 2 % 16 : drawn / 2 % 0x7f;
        return static_cast<uint8_t>(code);
    };
    for (uint8_t& each : out.scale_a) each = scale();
    for (uint8_t& each : out.scale_b) each = scale();
    for (uint32_t& each : out.c) {
        const uint64_t drawn = random();
        // A sign, an exponent from -10 to 21, and any significand.
        each = static_cast<uint32_t>((drawn & 1) << 31 | (117 + (drawn >> 1) % 32) << 23 |
                                     (drawn >> 32 & 0x7fffff));
    }
    return out;
}

}  // namespace

std::string_view way_of_column(int column) { return kWays[static_cast<size_t>(column)].way; }

Product graded_product() {
    Product out;
    for (int row = 0; row < kRows; ++row) fill_row(out, row);
    for (int column = 0; column < kColumns; ++column) fill_column(out, column);
    return out;
}

std::vector<Product> random_products() {
    std::mt19937_64 random(120);
    std::vector<Product> out;
    for (int i = 0; i < 64; ++i) out.push_back(random_product(random));
    return out;
}

Outputs expected(const Product& product, int fraction_bits) {
    using numerics::Format;
    const auto found = numerics::find_model({.sm = 120,
                                             .a = Format::e2m1,
                                             .b = Format::e2m1,
                                             .scale = Format::ue4m3,
                                             .scale_block = kGroup,
                                             .packed_fp4 = true});
    WW_CHECK(found.has_value(), "the model of mxf4nvf4");
    numerics::Model model = *found;
    model.fraction_bits = fraction_bits;
    Outputs out{};
    numerics::mma(model, {kRows, kColumns, kDepth},
                  {product.a.data(), product.b.data(), product.c.data(), out.data(),
                   product.scale_a.data(), product.scale_b.data()});
    return out;
}

SumsReport judge_sums(const std::vector<Outputs>& measured) {
    std::vector<Product> products = random_products();
    products.insert(products.begin(), graded_product());
    WW_CHECK(measured.size() == products.size(), "an answer for each product");
    SumsReport out;
    out.measured = measured[0];
    out.outputs = products.size() * measured[0].size();
    for (int f = kLeastBits; f <= kMostBits; ++f)
        for (size_t i = 0; i < products.size(); ++i) {
            const Outputs wanted = expected(products[i], f);
            for (size_t k = 0; k < wanted.size(); ++k)
                out.differing[static_cast<size_t>(f)] += wanted[k] != measured[i][k];
        }
    return out;
}

std::vector<int> SumsReport::fitting() const {
    std::vector<int> out;
    for (int f = kLeastBits; f <= kMostBits; ++f)
        if (differing[static_cast<size_t>(f)] == 0) out.push_back(f);
    return out;
}

std::string SumsReport::conclusion() const {
    const std::vector<int> fits = fitting();
    if (fits.size() == 1)
        return fmt::format(
            "F = {}: all {} results are those of sums with {} fraction bits (with F = 25 {} "
            "differ, with "
            "F = 35 {})",
            fits[0], outputs, fits[0], differing[25], differing[35]);
    if (!fits.empty())
        return fmt::format("F is from {} to {}: these models give all {} results alike",
                           fits.front(), fits.back(), outputs);
    return fmt::format(
        "no F from {} to {} gives the results: of {}, {} differ with F = 25 and {} with F = 35; "
        "the rule of the "
        "sum is another one",
        kLeastBits, kMostBits, outputs, differing[25], differing[35]);
}

}  // namespace ww::silicon

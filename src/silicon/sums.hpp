// SPDX-License-Identifier: Apache-2.0
// How many fraction bits a tensor core keeps in the sums of block-scaled FP4 products (the F of
// numerics::Model): operands whose results differ for every F, and what a device makes of them.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"

namespace ww::silicon {

constexpr int kRows = 16, kColumns = 8, kDepth = 64,
              kGroup = 16;  // m, n, k; products with one scale
// The models that results are compared with: what is assumed and what is disputed lies between
// them.
constexpr int kLeastBits = 18, kMostBits = 40;

// One mma.sync m16n8k64 mxf4nvf4 with ue4m3 scales of 16; matrices as numerics::MmaOperands has
// them.
struct Product {
    std::array<uint8_t, size_t{kRows} * kDepth / 2> a{};
    std::array<uint8_t, size_t{kColumns} * kDepth / 2> b{};
    std::array<uint8_t, size_t{kRows} * kDepth / kGroup> scale_a{};
    std::array<uint8_t, size_t{kColumns} * kDepth / kGroup> scale_b{};
    std::array<uint32_t, size_t{kRows} * kColumns> c{};  // f32 bits
};
using Outputs = std::array<uint32_t, size_t{kRows} * kColumns>;

// A term of 2^(20 - j) beside terms that cancel, j = 23 + row; each column puts it another way.
Product graded_product();
std::string_view way_of_column(int column);
// Random codes, scales far apart, and c of the size of the sums. Always the same ones.
std::vector<Product> random_products();

// What a sum with so many fraction bits gives.
Outputs expected(const Product& product, int fraction_bits);

struct SumsReport {
    Outputs measured{};  // of the graded product
    std::array<size_t, kMostBits + 1>
        differing{};     // outputs that are not those of the model with F = index
    size_t outputs = 0;  // compared with each model
    // Those whose every output was measured.
    std::vector<int> fitting() const;
    std::string conclusion() const;  // one sentence
};
// measured: as run_products gives it.
SumsReport judge_sums(const std::vector<Outputs>& measured);
// What a device makes of the graded product, then of the random ones. It must have the instruction
// (sm_120a or its family).
Result<std::vector<Outputs>> run_products(device::Device& device);

}  // namespace ww::silicon

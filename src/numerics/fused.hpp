// SPDX-License-Identifier: Apache-2.0
// The truncated fused sum for one output, written as the rule reads. The fast kernels fall back on
// it for NaN, infinities and tiny sums, so it is the only place that knows those cases. Internal to
// numerics.
#pragma once
#include <cstdint>

#include "numerics/tensor_core.hpp"

namespace ww::numerics::detail {

constexpr int kZeroExponent = -126;  // of a term that is zero

// A number as the multiplier sees it: significand not normalised, subnormals keep the least
// exponent.
struct Operand {
    enum class Class : std::uint8_t { finite, infinite, nan } kind = Class::finite;
    bool negative = false;
    std::int64_t significand = 0;  // with fraction_bits bits below the point
    int fraction_bits = 0;
    int exponent = 0;
};
Operand unpack(Format format, std::uint64_t code);

// Collects the terms of one sum, then adds them.
class FusedSum {
  public:
    explicit FusedSum(const Model& model) : model_(model) {}
    void add_term(const Operand& a, const Operand& b, int scale_exponent = 0);
    void add_value(const Operand& c);
    void add_exact(std::int64_t significand, int fraction_bits, int exponent);
    void add_nan() { has_nan_ = true; }
    std::uint32_t result() const;  // code in the accumulator's format

  private:
    static constexpr int kMaxTerms = 65;
    struct Term {
        std::int64_t significand;  // signed
        int fraction_bits;
        int exponent;
    };
    const Model& model_;
    Term terms_[kMaxTerms];
    int count_ = 0;
    bool has_nan_ = false;
    bool has_positive_infinity_ = false;
    bool has_negative_infinity_ = false;
};

// S * 2^exponent as f32 bits, cut toward zero to that many fraction bits.
std::uint32_t cut_to_f32(std::int64_t sum, int exponent, int fraction_bits);

// Element i of a row in the layout of MmaOperands.
std::uint64_t load_code(const Model& model, Format format, const void* row, int index);
// d(i, j) of one sum over k0 <= k < k0 + model.chunk; accumulator codes in and out.
std::uint32_t fused_chunk(const Model& model, const void* a_row, const void* b_row, int k0,
                          int count, std::uint32_t c);
std::uint32_t scaled_chunk(const Model& model, const void* a_row, const void* b_row,
                           const std::uint8_t* scale_a, const std::uint8_t* scale_b, int k0,
                           int count, std::uint32_t c);
std::uint32_t grouped_chunk(const Model& model, const void* a_row, const void* b_row,
                            const std::uint8_t* scale_a, const std::uint8_t* scale_b, int k0,
                            int count, std::uint32_t c);

// fp8_as_f16: the same numbers as f16 codes, reordered so that the k of the first sum come first;
// and the fused model that sums each half.
void reorder_as_f16(Format format, const std::uint8_t* row, int k, std::uint16_t* out);
Model half_model(const Model& model, int k);
// c + s with one rounding to nearest, in the accumulator's format.
std::uint32_t nearest_sum(const Model& model, std::uint32_t c, std::uint32_t s);

void check_operands(const Model& model, Shape shape, const MmaOperands& operands);
// The kernels behind mma(): each handles any shape.
void fused_fast(const Model& model, Shape shape, const MmaOperands& operands);
void grouped_fast(const Model& model, Shape shape, const MmaOperands& operands);
void integer_fast(const Model& model, Shape shape, const MmaOperands& operands);

}  // namespace ww::numerics::detail

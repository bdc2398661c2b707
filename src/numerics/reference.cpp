// SPDX-License-Identifier: Apache-2.0
// mma_reference: every scheme, one output after the other, as the rule reads. Slow by intent.
#include <cmath>
#include <cstring>
#include <vector>

#include "base/check.hpp"
#include "numerics/arith.hpp"
#include "numerics/fused.hpp"
#include "numerics/half.hpp"

namespace ww::numerics {
namespace detail {

void check_operands(const Model& model, Shape shape, const MmaOperands& operands) {
    WW_CHECK(shape.m >= 0 && shape.n >= 0 && shape.k > 0, "shape of an mma");
    WW_CHECK(shape.m == 0 || shape.n == 0 || (operands.a && operands.b && operands.d),
             "matrices of an mma");
    WW_CHECK(model.fraction_bits >= 1 && model.fraction_bits <= 40,
             "fraction bits of an mma model");
    WW_CHECK(model.chunk >= 1 && model.chunk <= 64, "chunk of an mma model");
    if (model.scheme == Scheme::scaled_groups || model.scheme == Scheme::scaled_fused) {
        WW_CHECK(operands.scale_a && operands.scale_b && model.scale_block >= 16,
                 "scales of a block-scaled mma");
        WW_CHECK(shape.k % model.scale_block == 0, "K is a multiple of the scale block");
    }
    if (model.scheme == Scheme::fp8_as_f16)
        WW_CHECK(shape.k % 4 == 0 && shape.k <= 64, "K of fp8_as_f16");
    if (model.scheme == Scheme::quad_f16) WW_CHECK(shape.k == 4, "K of m8n8k4");
    if (info(model.a).bits < 8) WW_CHECK(shape.k % 8 == 0, "K of a packed mma");
}

}  // namespace detail

namespace {

using namespace detail;

int accumulator_bytes(const Model& model) { return info(model.accumulator).bits / 8; }

std::uint64_t read_c(const Model& model, const MmaOperands& operands, std::size_t index) {
    std::uint64_t code = 0;
    const int size = accumulator_bytes(model);
    if (operands.c)
        std::memcpy(&code, static_cast<const std::uint8_t*>(operands.c) + index * size, size);
    return code;
}

std::uint32_t integer_dot(const Model& model, const void* a, const void* b, int k,
                          std::uint32_t c) {
    std::int64_t sum = static_cast<std::int32_t>(c);
    for (int i = 0; i < k; ++i) {
        sum += static_cast<std::int64_t>(decode(model.a, load_code(model, model.a, a, i))) *
               static_cast<std::int64_t>(decode(model.b, load_code(model, model.b, b, i)));
    }
    if (model.saturate) {
        sum = std::min<std::int64_t>(std::max<std::int64_t>(sum, INT32_MIN), INT32_MAX);
    }
    return static_cast<std::uint32_t>(sum);
}

std::uint32_t binary_dot(const Model& model, const void* a, const void* b, int k, std::uint32_t c) {
    for (int i = 0; i < k; ++i) {
        const auto x = load_code(model, Format::b1, a, i), y = load_code(model, Format::b1, b, i);
        c += static_cast<std::uint32_t>(model.scheme == Scheme::binary_and ? x & y : x ^ y);
    }
    return c;
}

std::uint32_t quad_dot(const Model& model, const void* a_row, const void* b_row, std::uint32_t c) {
    std::uint16_t codes_a[4], codes_b[4];
    std::memcpy(codes_a, a_row, sizeof codes_a);
    std::memcpy(codes_b, b_row, sizeof codes_b);
    float a[4], b[4];
    for (int k = 0; k < 4; ++k) {
        a[k] = f16_to_f32(codes_a[k]);
        b[k] = f16_to_f32(codes_b[k]);
    }
    if (model.accumulator == Format::f16) {
        const float low = fma(a[1], b[1], mul(a[0], b[0]));
        const float high = fma(a[3], b[3], mul(a[2], b[2]));
        return f32_to_f16(add(add(f16_to_f32(static_cast<std::uint16_t>(c)), low), high));
    }
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) sum = fma(a[k], b[k], sum);
    return bits_of(add(float_of(c), sum));
}

std::uint32_t fp8_dot(const Model& model, const void* a_row, const void* b_row, int k,
                      std::uint32_t c) {
    std::uint16_t a[64], b[64];
    reorder_as_f16(model.a, static_cast<const std::uint8_t*>(a_row), k, a);
    reorder_as_f16(model.b, static_cast<const std::uint8_t*>(b_row), k, b);
    const Model half = half_model(model, k);
    const std::uint32_t first = fused_chunk(half, a, b, 0, k / 2, 0);
    return nearest_sum(model, c, fused_chunk(half, a, b, k / 2, k / 2, first));
}

std::uint64_t f64_dot(const void* a_row, const void* b_row, int k, std::uint64_t c) {
    double sum = double_of(c);
    for (int i = 0; i < k; ++i) {
        sum = std::fma(static_cast<const double*>(a_row)[i], static_cast<const double*>(b_row)[i],
                       sum);
    }
    return bits_of(sum);
}

// One output; a chain of sums over k in the fused schemes.
std::uint64_t output(const Model& model, int k, const void* a, const void* b,
                     const std::uint8_t* scale_a, const std::uint8_t* scale_b, std::uint64_t code) {
    auto c = static_cast<std::uint32_t>(code);
    switch (model.scheme) {
        case Scheme::f64_chain:
            return f64_dot(a, b, k, code);
        case Scheme::integer:
            return integer_dot(model, a, b, k, c);
        case Scheme::binary_xor:
        case Scheme::binary_and:
            return binary_dot(model, a, b, k, c);
        case Scheme::quad_f16:
            return quad_dot(model, a, b, c);
        case Scheme::fp8_as_f16:
            return fp8_dot(model, a, b, k, c);
        default:
            break;
    }
    for (int k0 = 0; k0 < k; k0 += model.chunk) {
        const int count = std::min(model.chunk, k - k0);
        if (model.scheme == Scheme::fused) {
            c = fused_chunk(model, a, b, k0, count, c);
        } else if (model.scheme == Scheme::scaled_fused) {
            c = scaled_chunk(model, a, b, scale_a, scale_b, k0, count, c);
        } else {
            c = grouped_chunk(model, a, b, scale_a, scale_b, k0, count, c);
        }
    }
    return c;
}

}  // namespace

void mma_reference(const Model& model, Shape shape, const MmaOperands& operands) {
    check_operands(model, shape, operands);
    const auto* a = static_cast<const std::uint8_t*>(operands.a);
    const auto* b = static_cast<const std::uint8_t*>(operands.b);
    const std::size_t a_bytes = row_bytes(model, model.a, shape.k),
                      b_bytes = row_bytes(model, model.b, shape.k);
    const std::size_t scales = model.scale_block ? shape.k / model.scale_block : 0;
    for (int i = 0; i < shape.m; ++i) {
        for (int j = 0; j < shape.n; ++j) {
            const std::size_t index = static_cast<std::size_t>(i) * shape.n + j;
            const std::uint64_t d = output(
                model, shape.k, a + i * a_bytes, b + j * b_bytes, operands.scale_a + i * scales,
                operands.scale_b + j * scales, read_c(model, operands, index));
            const int size = accumulator_bytes(model);
            std::memcpy(static_cast<std::uint8_t*>(operands.d) + index * size, &d, size);
        }
    }
}

}  // namespace ww::numerics

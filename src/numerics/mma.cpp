// SPDX-License-Identifier: Apache-2.0
// mma(): sends each scheme to its kernel; the integer kinds, the fp8-by-f16 kind and the chains are
// here.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "numerics/fused.hpp"
#include "numerics/simd.hpp"

namespace ww::numerics {
namespace detail {
namespace {

// Any of the 4- and 8-bit integers as 16-bit ones, which multiply in pairs.
void widen_row(const Model& model, Format format, const std::uint8_t* row, int k,
               std::int16_t* out) {
    switch (format) {
        case Format::s8:
            for (int i = 0; i < k; ++i) out[i] = static_cast<std::int8_t>(row[i]);
            break;
        case Format::u8:
            for (int i = 0; i < k; ++i) out[i] = row[i];
            break;
        default:
            for (int i = 0; i < k; ++i) {
                out[i] =
                    static_cast<std::int16_t>(decode(format, load_code(model, format, row, i)));
            }
    }
}

std::int64_t dot(const std::int16_t* a, const std::int16_t* b, int k) {
    // Up to 2^15 products of 8-bit numbers fit 32 bits.
    constexpr int kStep = 1 << 15;
    std::int64_t total = 0;
    for (int first = 0; first < k; first += kStep) {
        std::int32_t sum = 0;
        for (int i = first; i < std::min(k, first + kStep); ++i) {
            sum += static_cast<std::int32_t>(a[i]) * b[i];
        }
        total += sum;
    }
    return total;
}

void binary_fast(const Model& model, Shape shape, const MmaOperands& operands) {
    const std::size_t bytes = static_cast<std::size_t>(shape.k) / 8;
    const auto* a = static_cast<const std::uint8_t*>(operands.a);
    const auto* b = static_cast<const std::uint8_t*>(operands.b);
    for (int i = 0; i < shape.m; ++i) {
        for (int j = 0; j < shape.n; ++j) {
            const std::size_t index = static_cast<std::size_t>(i) * shape.n + j;
            std::uint32_t sum =
                operands.c ? static_cast<const std::uint32_t*>(operands.c)[index] : 0;
            for (std::size_t at = 0; at < bytes; ++at) {
                const unsigned x = a[i * bytes + at], y = b[j * bytes + at];
                sum += std::popcount(model.scheme == Scheme::binary_and ? x & y : x ^ y);
            }
            static_cast<std::uint32_t*>(operands.d)[index] = sum;
        }
    }
}

using F16Table = std::array<std::uint16_t, 256>;
F16Table make_f16_table(Format format) {
    F16Table table;
    for (unsigned code = 0; code < table.size(); ++code) {
        table[code] = static_cast<std::uint16_t>(encode(Format::f16, decode(format, code)));
    }
    return table;
}
const F16Table& f16_table(Format format) {
    static const F16Table e4m3 = make_f16_table(Format::e4m3), e5m2 = make_f16_table(Format::e5m2);
    return format == Format::e4m3 ? e4m3 : e5m2;
}

// The k of one half (k % 4 < 2, or not) of every row, as f16.
void take_half(Format format, const void* codes, int rows, int k, int half, std::uint16_t* out) {
    const F16Table& table = f16_table(format);
    const auto* source = static_cast<const std::uint8_t*>(codes) + 2 * half;
    for (int i = 0; i < rows * k; i += 4) {
        *out++ = table[source[i]];
        *out++ = table[source[i + 1]];
    }
}

void fp8_as_f16(const Model& model, Shape shape, const MmaOperands& operands) {
    static thread_local std::vector<std::uint16_t> a_codes, b_codes;
    static thread_local std::vector<std::uint32_t> sums;
    const Shape half_shape{shape.m, shape.n, shape.k / 2};
    const std::size_t outputs = static_cast<std::size_t>(shape.m) * shape.n;
    MmaOperands half;
    half.d = grow(sums, outputs);
    for (int part = 0; part < 2; ++part) {
        std::uint16_t* a = grow(a_codes, static_cast<std::size_t>(shape.m) * half_shape.k);
        std::uint16_t* b = grow(b_codes, static_cast<std::size_t>(shape.n) * half_shape.k);
        take_half(model.a, operands.a, shape.m, shape.k, part, a);
        take_half(model.b, operands.b, shape.n, shape.k, part, b);
        half.a = a;
        half.b = b;
        fused_fast(half_model(model, shape.k), half_shape, half);
        half.c = half.d;
    }
    for (std::size_t i = 0; i < outputs; ++i) {
        store_accumulator(model, operands.d, i,
                          nearest_sum(model, load_accumulator(model, operands.c, i),
                                      load_accumulator(model, half.d, i)));
    }
}

void f64_chain(Shape shape, const MmaOperands& operands) {
    const auto* a = static_cast<const double*>(operands.a);
    const auto* b = static_cast<const double*>(operands.b);
    for (int i = 0; i < shape.m; ++i) {
        for (int j = 0; j < shape.n; ++j) {
            const std::size_t index = static_cast<std::size_t>(i) * shape.n + j;
            double sum = operands.c ? static_cast<const double*>(operands.c)[index] : 0.0;
            for (int k = 0; k < shape.k; ++k) {
                sum = std::fma(a[static_cast<std::size_t>(i) * shape.k + k],
                               b[static_cast<std::size_t>(j) * shape.k + k], sum);
            }
            static_cast<double*>(operands.d)[index] = sum;
        }
    }
}

}  // namespace

void integer_fast(const Model& model, Shape shape, const MmaOperands& operands) {
    static thread_local std::vector<std::int16_t> a_rows, b_rows;
    const std::size_t k = shape.k;
    std::int16_t* a = grow(a_rows, shape.m * k);
    std::int16_t* b = grow(b_rows, shape.n * k);
    const auto widen = [&](Format format, const void* codes, int rows, std::int16_t* out) {
        const std::size_t bytes = row_bytes(model, format, shape.k);
        for (int row = 0; row < rows; ++row) {
            widen_row(model, format, static_cast<const std::uint8_t*>(codes) + row * bytes, shape.k,
                      out + row * k);
        }
    };
    widen(model.a, operands.a, shape.m, a);
    widen(model.b, operands.b, shape.n, b);
    for (int i = 0; i < shape.m; ++i) {
        for (int j = 0; j < shape.n; ++j) {
            const std::size_t index = static_cast<std::size_t>(i) * shape.n + j;
            std::int64_t sum = dot(a + i * k, b + j * k, shape.k);
            if (operands.c) sum += static_cast<const std::int32_t*>(operands.c)[index];
            if (model.saturate) {
                sum = std::clamp<std::int64_t>(sum, std::numeric_limits<std::int32_t>::min(),
                                               std::numeric_limits<std::int32_t>::max());
            }
            static_cast<std::uint32_t*>(operands.d)[index] = static_cast<std::uint32_t>(sum);
        }
    }
}

}  // namespace detail

void mma(const Model& model, Shape shape, const MmaOperands& operands) {
    detail::check_operands(model, shape, operands);
    switch (model.scheme) {
        case Scheme::fused:
        case Scheme::scaled_fused:
            return detail::fused_fast(model, shape, operands);
        case Scheme::scaled_groups:
            return detail::grouped_fast(model, shape, operands);
        case Scheme::fp8_as_f16:
            return detail::fp8_as_f16(model, shape, operands);
        case Scheme::integer:
            return detail::integer_fast(model, shape, operands);
        case Scheme::binary_xor:
        case Scheme::binary_and:
            return detail::binary_fast(model, shape, operands);
        case Scheme::f64_chain:
            return detail::f64_chain(shape, operands);
        case Scheme::quad_f16:
            return mma_reference(model, shape, operands);
    }
}

}  // namespace ww::numerics

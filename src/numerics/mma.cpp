// SPDX-License-Identifier: Apache-2.0
// mma(): sends each scheme to its kernel; the integer kinds, the fp8-by-f16 kind and the chains are
// here.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "numerics/arith.hpp"
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

// Sixteen fp8 codes as f16, exactly; a NaN as some NaN.
template <Format F>
inline __m256i f16_of(__m128i codes) {
    const __m256i words = _mm256_slli_epi16(_mm256_cvtepu8_epi16(codes), 8);
    if constexpr (F == Format::e5m2) return words;
    // The fields of e4m3 in those of f16, times 2^8; its one NaN is the largest code.
    const __m256i sign = _mm256_and_si256(words, _mm256_set1_epi16(static_cast<short>(0x8000)));
    const __m256i size = _mm256_and_si256(_mm256_srli_epi16(words, 1), _mm256_set1_epi16(0x3f80));
    const auto times = [](__m128i half) {
        return _mm256_cvtps_ph(_mm256_mul_ps(_mm256_cvtph_ps(half), _mm256_set1_ps(256.0f)),
                               _MM_FROUND_TO_NEAREST_INT);
    };
    const __m256i values = _mm256_set_m128i(times(high_half(size)), times(low_half(size)));
    const __m256i nan = _mm256_cmpeq_epi16(size, _mm256_set1_epi16(0x3f80));
    return _mm256_or_si256(_mm256_or_si256(values, nan), sign);
}

// Rows as f16, the k with k % 4 < 2 to halves[0], the others to halves[1]. k is a multiple of four.
template <Format F>
void split_halves(const void* codes, std::size_t count, std::uint16_t* const (&halves)[2]) {
    constexpr std::size_t kStep = 16;
    const auto* source = static_cast<const std::uint8_t*>(codes);
    const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
    for (std::size_t at = 0; at < count; at += kStep) {
        const std::size_t some = std::min(kStep, count - at);
        alignas(16) std::uint8_t part[kStep] = {};
        if (some < kStep) std::memcpy(part, source + at, some);
        const void* from = some < kStep ? part : source + at;
        const __m256i pairs = _mm256_permutevar8x32_epi32(
            f16_of<F>(_mm_loadu_si128(static_cast<const __m128i*>(from))), order);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(halves[0] + at / 2), low_half(pairs));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(halves[1] + at / 2), high_half(pairs));
    }
}

// One operand in both halves; room for a whole step more in each.
struct Halves {
    std::vector<std::uint16_t> part[2];
    void split(Format format, const void* codes, int rows, int k) {
        const std::size_t count = static_cast<std::size_t>(rows) * k;
        std::uint16_t* const to[2] = {grow(part[0], count / 2 + kLanes),
                                      grow(part[1], count / 2 + kLanes)};
        if (format == Format::e4m3) {
            split_halves<Format::e4m3>(codes, count, to);
        } else {
            split_halves<Format::e5m2>(codes, count, to);
        }
    }
};

// d = c + s, each with one rounding to nearest.
void add_nearest(const Model& model, const void* c, const std::uint32_t* s, void* d,
                 std::size_t count) {
    for (std::size_t i = 0; i < count; i += kLanes) {
        const int lanes = static_cast<int>(std::min<std::size_t>(kLanes, count - i));
        const __m256 sum = _mm256_add_ps(load_accumulators(model, c, i, lanes),
                                         load_accumulators(model, s, i, lanes));
        const __m256 nan = _mm256_cmp_ps(sum, sum, _CMP_UNORD_Q);
        store_results(model, d, i, lanes,
                      _mm256_blendv_ps(sum, _mm256_castsi256_ps(_mm256_set1_epi32(kNanF32)), nan));
    }
}

void fp8_as_f16(const Model& model, Shape shape, const MmaOperands& operands) {
    static thread_local Halves a, b;
    static thread_local std::vector<std::uint32_t> sums;
    const Shape half_shape{shape.m, shape.n, shape.k / 2};
    const Model rule = half_model(model, shape.k);
    const std::size_t outputs = static_cast<std::size_t>(shape.m) * shape.n;
    a.split(model.a, operands.a, shape.m, shape.k);
    b.split(model.b, operands.b, shape.n, shape.k);
    MmaOperands half;
    half.d = grow(sums, outputs);
    for (int i = 0; i < 2; ++i) {
        half.a = a.part[i].data();
        half.b = b.part[i].data();
        fused_fast(rule, half_shape, half);
        half.c = half.d;
    }
    add_nearest(model, operands.c, sums.data(), operands.d, outputs);
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

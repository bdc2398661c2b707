// SPDX-License-Identifier: Apache-2.0
// Small AVX2 pieces that the fast tensor-core kernels share. Internal to numerics.
#pragma once
#include <immintrin.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "numerics/tensor_core.hpp"

namespace ww::numerics::detail {

constexpr int kLanes = 8;
// The exponent of what must not take part in a maximum; sums of two and a scale still fit 16 bits.
constexpr int kNoExponent = -8192;
constexpr int kNothing = -4000;  // a largest exponent below this: every term is zero

// Storage that only grows: kernels are called once an instruction.
template <class T>
T* grow(std::vector<T>& buffer, std::size_t size) {
    if (buffer.size() < size) buffer.resize(size);
    return buffer.data();
}

// rows[i] becomes the i-th column.
inline void transpose8(__m256 (&rows)[8]) {
    __m256 pairs[8], quads[8];
    for (int i = 0; i < 8; i += 2) {
        pairs[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
        pairs[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        for (int j = 0; j < 2; ++j) {
            quads[i + 2 * j] = _mm256_shuffle_ps(pairs[i + j], pairs[i + j + 2], 0x44);
            quads[i + 2 * j + 1] = _mm256_shuffle_ps(pairs[i + j], pairs[i + j + 2], 0xee);
        }
    }
    for (int i = 0; i < 4; ++i) {
        rows[i] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x20);
        rows[i + 4] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x31);
    }
}

// 2^e for each 32-bit e in [-126, 127].
inline __m256 power_of_two(__m256i e) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(e, _mm256_set1_epi32(127)), 23));
}
// 2^e for each 32-bit e in [-1022, 1023].
inline __m256d power_of_two_f64(__m128i e) {
    const __m256i field = _mm256_cvtepi32_epi64(_mm_add_epi32(e, _mm_set1_epi32(1023)));
    return _mm256_castsi256_pd(_mm256_slli_epi64(field, 52));
}

inline __m128i low_half(__m256i x) { return _mm256_castsi256_si128(x); }
inline __m128i high_half(__m256i x) { return _mm256_extracti128_si256(x, 1); }
inline __m128 low_half(__m256 x) { return _mm256_castps256_ps128(x); }
inline __m128 high_half(__m256 x) { return _mm256_extractf128_ps(x, 1); }

inline __m256d truncate(__m256d x) {
    return _mm256_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

// Exponents of c (subnormals at the least exponent, zeros at kNoExponent, 128 for infinity and
// NaN).
inline __m256i accumulator_exponents(__m256 c, int min_exponent) {
    const __m256i bits = _mm256_castps_si256(c);
    const __m256i field = _mm256_and_si256(_mm256_srli_epi32(bits, 23), _mm256_set1_epi32(255));
    const __m256i exponent = _mm256_max_epi32(_mm256_sub_epi32(field, _mm256_set1_epi32(127)),
                                              _mm256_set1_epi32(min_exponent));
    const __m256i zero = _mm256_cmpeq_epi32(_mm256_slli_epi32(bits, 1), _mm256_setzero_si256());
    return _mm256_blendv_epi8(exponent, _mm256_set1_epi32(kNoExponent), zero);
}

inline __m256 load_accumulators(const Model& model, const void* c, std::size_t index, int count) {
    if (c == nullptr) return _mm256_setzero_ps();
    if (model.accumulator == Format::f16) {
        alignas(16) std::uint16_t codes[kLanes] = {};
        std::memcpy(codes, static_cast<const std::uint16_t*>(c) + index, count * sizeof codes[0]);
        return _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(codes)));
    }
    const auto* source = static_cast<const float*>(c) + index;
    if (count == kLanes) return _mm256_loadu_ps(source);
    alignas(32) float values[kLanes] = {};
    std::memcpy(values, source, count * sizeof values[0]);
    return _mm256_load_ps(values);
}

// Four exact results to f32, cut toward zero; or to an f32 whose last bit says "inexact", which
// then rounds to f16 as the exact value would. Results are zero or above f32's subnormals.
inline __m128 cut_results(__m256d exact, __m256i keep_mask, bool to_odd) {
    const __m256i bits = _mm256_castpd_si256(exact);
    __m256i kept = _mm256_and_si256(bits, keep_mask);
    if (to_odd) {
        const __m256i rest = _mm256_andnot_si256(keep_mask, bits);
        const __m256i exactly = _mm256_cmpeq_epi64(rest, _mm256_setzero_si256());
        kept = _mm256_or_si256(
            kept, _mm256_andnot_si256(exactly, _mm256_set1_epi64x(std::int64_t{1} << 29)));
    }
    return _mm256_cvtpd_ps(_mm256_castsi256_pd(kept));
}

inline __m256i keep_mask(const Model& model) {
    const int bits = model.accumulator == Format::f16 ? 23 : model.output_fraction_bits;
    return _mm256_set1_epi64x(-(std::int64_t{1} << (52 - bits)));
}

inline void store_results(const Model& model, void* d, std::size_t index, int count,
                          __m256 result) {
    if (model.accumulator == Format::f16) {
        alignas(16) std::uint16_t codes[kLanes];
        _mm_store_si128(reinterpret_cast<__m128i*>(codes),
                        _mm256_cvtps_ph(result, _MM_FROUND_TO_NEAREST_INT));
        std::memcpy(static_cast<std::uint16_t*>(d) + index, codes, count * sizeof codes[0]);
        return;
    }
    auto* target = static_cast<float*>(d) + index;
    if (count == kLanes) {
        _mm256_storeu_ps(target, result);
        return;
    }
    alignas(32) float values[kLanes];
    _mm256_store_ps(values, result);
    std::memcpy(target, values, count * sizeof values[0]);
}

inline std::uint32_t load_accumulator(const Model& model, const void* c, std::size_t index) {
    if (c == nullptr) return 0;
    return model.accumulator == Format::f16 ? static_cast<const std::uint16_t*>(c)[index]
                                            : static_cast<const std::uint32_t*>(c)[index];
}
inline void store_accumulator(const Model& model, void* d, std::size_t index, std::uint32_t code) {
    if (model.accumulator == Format::f16) {
        static_cast<std::uint16_t*>(d)[index] = static_cast<std::uint16_t>(code);
    } else {
        static_cast<std::uint32_t*>(d)[index] = code;
    }
}

}  // namespace ww::numerics::detail

// SPDX-License-Identifier: Apache-2.0
// f16 and bf16 registers: conversions from and to f32 and rn arithmetic on their bits, inline.
// One rounding each; NaN results are 0x7fff. Other roundings and formats: encode() in formats.hpp.
#pragma once
#include <immintrin.h>

#include "numerics/arith.hpp"

namespace ww::numerics {

inline float f16_to_f32(std::uint16_t x) { return _cvtsh_ss(x); }
inline float bf16_to_f32(std::uint16_t x) { return float_of(static_cast<std::uint32_t>(x) << 16); }
inline float tf32_to_f32(std::uint32_t x) { return float_of(x & 0xffffe000u); }

inline std::uint16_t f32_to_f16(float x) {
    return x != x ? kNanF16 : static_cast<std::uint16_t>(_cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT));
}
inline std::uint16_t f32_to_bf16(float x) {
    const std::uint32_t bits = bits_of(x);
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;
    return static_cast<std::uint16_t>(x != x ? kNanBf16 : rounded);
}
// The same for whole registers: count is a multiple of eight (32 lanes).
inline void f16_to_f32(const std::uint16_t* x, float* out, int count) {
    for (int i = 0; i < count; i += 8) {
        const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i));
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(codes));
    }
}
inline void f32_to_f16(const float* x, std::uint16_t* out, int count) {
    for (int i = 0; i < count; i += 8) {
        const __m256 values = _mm256_loadu_ps(x + i);
        const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(values, values, _CMP_UNORD_Q));
        const __m128i nan =
            _mm_packs_epi32(_mm256_castsi256_si128(is_nan), _mm256_extracti128_si256(is_nan, 1));
        const __m128i codes = _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                         _mm_blendv_epi8(codes, _mm_set1_epi16(kNanF16), nan));
    }
}

// a * b + c, exact until it is cut to an f32 whose last bit says "inexact" (round to odd): the
// second rounding, to f16 or bf16, cannot go wrong.
inline float fma_to_odd_f32(float a, float b, float c) {
    const double product = static_cast<double>(a) * static_cast<double>(b), addend = c;
    const double sum = detail::add_to_odd(product, addend);
    const float cut = round_to_f32<Rounding::rz>(sum);
    return float_of(bits_of(cut) | (cut == cut && static_cast<double>(cut) != sum));
}
inline std::uint16_t f16_fma(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    return f32_to_f16(fma_to_odd_f32(f16_to_f32(a), f16_to_f32(b), f16_to_f32(c)));
}
inline std::uint16_t bf16_fma(std::uint16_t a, std::uint16_t b, std::uint16_t c) {
    return f32_to_bf16(fma_to_odd_f32(bf16_to_f32(a), bf16_to_f32(b), bf16_to_f32(c)));
}

// f32 has more than twice the bits of f16 and two more: rounding twice is harmless for + - *.
inline std::uint16_t f16_add(std::uint16_t a, std::uint16_t b) {
    return f32_to_f16(f16_to_f32(a) + f16_to_f32(b));
}
inline std::uint16_t f16_sub(std::uint16_t a, std::uint16_t b) {
    return f32_to_f16(f16_to_f32(a) - f16_to_f32(b));
}
inline std::uint16_t f16_mul(std::uint16_t a, std::uint16_t b) {
    return f32_to_f16(f16_to_f32(a) * f16_to_f32(b));
}
inline std::uint16_t bf16_add(std::uint16_t a, std::uint16_t b) {
    return f32_to_bf16(bf16_to_f32(a) + bf16_to_f32(b));
}
inline std::uint16_t bf16_sub(std::uint16_t a, std::uint16_t b) {
    return f32_to_bf16(bf16_to_f32(a) - bf16_to_f32(b));
}
inline std::uint16_t bf16_mul(std::uint16_t a, std::uint16_t b) {
    return f32_to_bf16(bf16_to_f32(a) * bf16_to_f32(b));
}

}  // namespace ww::numerics

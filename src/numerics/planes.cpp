// SPDX-License-Identifier: Apache-2.0
// Decoding operands of fused sums: codes to f32 values, which hold every format up to 16 bits and
// tf32 exactly, then to exponents as the multiplier sees them (subnormals keep the least one).
#include "numerics/planes.hpp"

#include <algorithm>

namespace ww::numerics::detail {
namespace {

// Each decodes eight codes.
struct DecodeF16 {
    static constexpr int kBytes = 2;
    __m256 operator()(const std::uint8_t* codes) const {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)));
    }
};
struct DecodeBf16 {
    static constexpr int kBytes = 2;
    __m256 operator()(const std::uint8_t* codes) const {
        const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(words), 16));
    }
};
struct DecodeTf32 {
    static constexpr int kBytes = 4;
    __m256 operator()(const std::uint8_t* codes) const {
        const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes));
        return _mm256_castsi256_ps(
            _mm256_and_si256(words, _mm256_set1_epi32(static_cast<int>(0xffffe000u))));
    }
};
// fp8, fp6 and fp4 are f16 with fewer bits: moved into place, their values are f16's times a power
// of two.
struct DecodeNarrow {
    static constexpr int kBytes = 1;
    explicit DecodeNarrow(Format format)
        : sign_mask(_mm_set1_epi16(static_cast<short>(1 << (info(format).bits - 1)))),
          sign_shift(_mm_cvtsi32_si128(16 - info(format).bits)),
          size_shift(_mm_cvtsi32_si128(10 - info(format).mantissa_bits)),
          // e4m3 has one NaN; no code of the others compares equal to this one.
          nan(_mm_set1_epi16(format == Format::e4m3 ? 0x7f : -1)),
          factor(power_of_two(_mm256_set1_epi32(15 - info(format).bias))) {}
    __m256 operator()(const std::uint8_t* codes) const {
        const __m128i words =
            _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes)));
        const __m128i sign = _mm_and_si128(words, sign_mask);
        const __m128i size = _mm_and_si128(words, _mm_sub_epi16(sign_mask, _mm_set1_epi16(1)));
        const __m128i half =
            _mm_or_si128(_mm_sll_epi16(sign, sign_shift), _mm_sll_epi16(size, size_shift));
        const __m256i is_nan = _mm256_cvtepi16_epi32(_mm_cmpeq_epi16(size, nan));
        return _mm256_or_ps(_mm256_mul_ps(_mm256_cvtph_ps(half), factor),
                            _mm256_castsi256_ps(is_nan));
    }
    __m128i sign_mask, sign_shift, size_shift, nan;
    __m256 factor;
};

template <class Decode>
void decode_all(const Decode& decode, const void* codes, std::size_t count, float* values) {
    const auto* source = static_cast<const std::uint8_t*>(codes);
    std::size_t at = 0;
    for (; at + kLanes <= count; at += kLanes) {
        _mm256_storeu_ps(values + at, decode(source + at * Decode::kBytes));
    }
    if (at == count) return;
    alignas(32) std::uint8_t padded[32] = {};
    std::memcpy(padded, source + at * Decode::kBytes, (count - at) * Decode::kBytes);
    _mm256_storeu_ps(values + at, decode(padded));
}

// rows * k codes, then zeros up to padded_rows rows and one register more.
float* decode_values(std::vector<float>& buffer, Format format, const void* codes, int rows,
                     int padded_rows, int k) {
    const std::size_t count = static_cast<std::size_t>(rows) * k;
    const std::size_t all = static_cast<std::size_t>(padded_rows) * k + kLanes;
    float* values = grow(buffer, all + kLanes);
    switch (format) {
        case Format::f16:
            decode_all(DecodeF16{}, codes, count, values);
            break;
        case Format::bf16:
            decode_all(DecodeBf16{}, codes, count, values);
            break;
        case Format::tf32:
            decode_all(DecodeTf32{}, codes, count, values);
            break;
        default:
            decode_all(DecodeNarrow(format), codes, count, values);
            break;
    }
    std::fill(values + count, values + all, 0.0f);
    return values;
}

struct Split {
    __m256 values;      // NaN and infinity replaced by zero
    __m256i exponents;  // kNoExponent for zeros
    int special;        // one bit a lane
};

inline Split split(__m256 x, int min_exponent) {
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i field = _mm256_and_si256(bits, _mm256_set1_epi32(0x7f800000));
    const __m256i special = _mm256_cmpeq_epi32(field, _mm256_set1_epi32(0x7f800000));
    const __m256 values = _mm256_andnot_ps(_mm256_castsi256_ps(special), x);
    return {values, accumulator_exponents(values, min_exponent),
            _mm256_movemask_ps(_mm256_castsi256_ps(special))};
}

inline __m256i two_halves(__m256i low, __m256i high) {
    return _mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0xaa);
}

// NOTE: where k is no multiple of eight, the last step of a row also covers the start of the next:
// what it stores there is right or is overwritten by that row's own step.
void decode_a(Planes& planes, Format format, const void* codes, int m, int k) {
    const int rows = (m + kRows - 1) / kRows * kRows, least = 1 - info(format).bias;
    float* values = decode_values(planes.a_values, format, codes, m, rows, k);
    std::int32_t* exponents =
        grow(planes.a_exponents, static_cast<std::size_t>(rows) / 2 * k + kLanes);
    std::uint8_t* special = grow(planes.a_special, rows);
    for (int row = 0; row < rows; row += 2) {
        float* first = values + static_cast<std::size_t>(row) * k;
        float* second = first + k;
        int first_special = 0, second_special = 0;
        for (int at = 0; at < k; at += kLanes) {
            const Split low = split(_mm256_loadu_ps(first + at), least);
            const Split high = split(_mm256_loadu_ps(second + at), least);
            first_special |= low.special;
            second_special |= high.special;
            _mm256_storeu_si256(
                reinterpret_cast<__m256i*>(exponents + static_cast<std::size_t>(row) / 2 * k + at),
                two_halves(low.exponents, high.exponents));
        }
        special[row] = first_special != 0;
        special[row + 1] = second_special != 0;
        if (!(first_special | second_special)) continue;
        for (float* value = first; value < second + k; ++value) {
            if (!(*value - *value == 0.0f)) *value = 0.0f;
        }
    }
}

void decode_b(Planes& planes, Format format, const void* codes, int n, int k) {
    const int blocks = (n + kLanes - 1) / kLanes, least = 1 - info(format).bias;
    const std::size_t plane = static_cast<std::size_t>(k) * kLanes;
    const float* rows = decode_values(planes.b_rows, format, codes, n, blocks * kLanes, k);
    float* values = grow(planes.b_values, blocks * plane);
    std::int32_t* exponents = grow(planes.b_exponents, blocks * plane);
    std::uint8_t* special = grow(planes.b_special, blocks);
    for (int block = 0; block < blocks; ++block) {
        int specials = 0;
        for (int at = 0; at < k; at += kLanes) {
            const float* source = rows + block * plane + at;
            __m256 lines[kLanes];
            for (int lane = 0; lane < kLanes; ++lane) {
                lines[lane] = _mm256_loadu_ps(source + static_cast<std::size_t>(lane) * k);
            }
            transpose8(lines);
            const int count = std::min(kLanes, k - at);
            for (int i = 0; i < count; ++i) {
                const Split part = split(lines[i], least);
                const std::size_t index = block * plane + static_cast<std::size_t>(at + i) * kLanes;
                specials |= part.special;
                _mm256_storeu_ps(values + index, part.values);
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(exponents + index),
                                    two_halves(part.exponents, part.exponents));
            }
        }
        special[block] = static_cast<std::uint8_t>(specials);
    }
}

}  // namespace

void decode_operands(Planes& planes, const Model& model, Shape shape, const MmaOperands& operands) {
    if (!decode_a_quick(planes, model.a, operands.a, shape.m, shape.k)) {
        decode_a(planes, model.a, operands.a, shape.m, shape.k);
    }
    if (!decode_b_quick(planes, model.b, operands.b, shape.n, shape.k)) {
        decode_b(planes, model.b, operands.b, shape.n, shape.k);
    }
}

}  // namespace ww::numerics::detail

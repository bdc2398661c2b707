// SPDX-License-Identifier: Apache-2.0
// Decoding operands of fused sums 16 codes at a time, for formats of up to 16 bits without NaN and
// infinity among the codes. All become f16- or bf16-like words first: exponents come from the
// words, values from the words in the upper halves of 32 bits.
#include <algorithm>

#include "numerics/planes.hpp"

namespace ww::numerics::detail {
namespace {

constexpr int kWords = 16;

inline __m256i upper_halves() { return _mm256_set1_epi32(static_cast<int>(0xffff0000u)); }

// Two loads, because the halves of a row often were just stored one by one.
inline __m256i load_words(const std::uint8_t* codes) {
    const auto* at = reinterpret_cast<const __m128i*>(codes);
    return _mm256_set_m128i(_mm_loadu_si128(at + 1), _mm_loadu_si128(at));
}

struct Bf16Words {
    static constexpr int kBytes = 2, kMantissa = 7, kBias = 127;
    static __m256i special() { return _mm256_set1_epi16(0x7f80); }
    __m256i bias() const { return _mm256_set1_epi16(-kBias); }
    __m256i load(const std::uint8_t* codes) const { return load_words(codes); }
    // Of the upper half; the lower one is anything.
    __m256 value(__m256i word) const {
        return _mm256_castsi256_ps(_mm256_and_si256(word, upper_halves()));
    }
};

// f16's word as the f32 with the same fields, times what is missing in the exponent. That also
// gives subnormals.
inline __m256 f16_value(__m256i word, __m256 factor) {
    const __m256i fields = _mm256_and_si256(_mm256_srai_epi32(word, 3),
                                            _mm256_set1_epi32(static_cast<int>(0x8fffe000u)));
    return _mm256_mul_ps(_mm256_castsi256_ps(fields), factor);
}

struct F16Words {
    static constexpr int kBytes = 2, kMantissa = 10;
    static __m256i special() { return _mm256_set1_epi16(0x7c00); }
    __m256i bias() const { return _mm256_set1_epi16(-15); }
    __m256i load(const std::uint8_t* codes) const { return load_words(codes); }
    __m256 value(__m256i word) const { return f16_value(word, _mm256_set1_ps(0x1p112f)); }
};

// fp8, fp6, fp4: f16 with fewer bits and another bias.
struct NarrowWords {
    static constexpr int kBytes = 1, kMantissa = 10;
    explicit NarrowWords(Format format)
        : sign_mask(_mm256_set1_epi16(static_cast<short>(1 << (info(format).bits - 1)))),
          size_mask(_mm256_set1_epi16(static_cast<short>((1 << (info(format).bits - 1)) - 1))),
          sign_shift(_mm_cvtsi32_si128(16 - info(format).bits)),
          size_shift(_mm_cvtsi32_si128(10 - info(format).mantissa_bits)),
          // e4m3 has one NaN, its largest code; those below e5m2 have nothing special.
          least_special(_mm256_set1_epi16(format == Format::e4m3   ? 0x7f << 7
                                          : format == Format::e5m2 ? 0x7c00
                                                                   : 0x7fff)),
          minus_bias(_mm256_set1_epi16(static_cast<short>(-info(format).bias))),
          factor(power_of_two(_mm256_set1_epi32(127 - info(format).bias))) {}
    __m256i special() const { return least_special; }
    __m256i bias() const { return minus_bias; }
    __m256i load(const std::uint8_t* codes) const {
        const __m256i words =
            _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)));
        return _mm256_or_si256(_mm256_sll_epi16(_mm256_and_si256(words, sign_mask), sign_shift),
                               _mm256_sll_epi16(_mm256_and_si256(words, size_mask), size_shift));
    }
    __m256 value(__m256i word) const { return f16_value(word, factor); }
    __m256i sign_mask, size_mask;
    __m128i sign_shift, size_shift;
    __m256i least_special, minus_bias;
    __m256 factor;
};

// Exponents of 16 words; `most` collects the largest magnitudes.
template <class Words>
inline __m256i exponents_of(const Words& words, __m256i x, __m256i& most) {
    const __m256i size = _mm256_and_si256(x, _mm256_set1_epi16(0x7fff));
    most = _mm256_max_epi16(most, size);
    const __m256i field =
        _mm256_max_epi16(_mm256_srli_epi16(size, Words::kMantissa), _mm256_set1_epi16(1));
    const __m256i zero = _mm256_cmpeq_epi16(size, _mm256_setzero_si256());
    return _mm256_blendv_epi8(_mm256_add_epi16(field, words.bias()), _mm256_set1_epi16(kNoExponent),
                              zero);
}

template <class Words>
inline bool any_special(const Words& words, __m256i most) {
    const __m256i below = _mm256_cmpgt_epi16(words.special(), most);
    return _mm256_movemask_epi8(below) != -1;
}

// Interleaving works on the halves of a register: this order makes its results continuous.
inline __m256i spread(__m256i x) { return _mm256_permute4x64_epi64(x, 0xd8); }

inline void store(std::int32_t* at, __m256i x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), x);
}

template <class Words>
bool decode_a(Planes& planes, const Words& words, const void* codes, int m, int k) {
    const int rows = (m + kRows - 1) / kRows * kRows;
    const std::size_t size = static_cast<std::size_t>(rows) * k;
    float* values = grow(planes.a_values, size);
    std::int32_t* exponents = grow(planes.a_exponents, size / 2);
    std::memset(grow(planes.a_special, rows), 0, rows);
    const auto* source = static_cast<const std::uint8_t*>(codes);
    const __m256i zero = _mm256_setzero_si256();
    __m256i most = zero;
    for (int row = 0; row < rows; row += 2) {
        for (int at = 0; at < k; at += kWords) {
            __m256i part[2];
            for (int i = 0; i < 2; ++i) {
                const std::size_t index = static_cast<std::size_t>(row + i) * k + at;
                const __m256i x =
                    row + i < m ? spread(words.load(source + index * Words::kBytes)) : zero;
                part[i] = exponents_of(words, x, most);
                _mm256_storeu_ps(values + index, words.value(_mm256_unpacklo_epi16(zero, x)));
                _mm256_storeu_ps(values + index + kLanes,
                                 words.value(_mm256_unpackhi_epi16(zero, x)));
            }
            std::int32_t* target = exponents + static_cast<std::size_t>(row) / 2 * k + at;
            store(target, _mm256_unpacklo_epi16(part[0], part[1]));
            store(target + kLanes, _mm256_unpackhi_epi16(part[0], part[1]));
        }
    }
    return !any_special(words, most);
}

// Eight columns by eight k, each a word above its exponent, to the planes of one block.
template <class Words>
inline void store_block(const Words& words, __m256 (&lines)[kLanes], float* values,
                        std::int32_t* exponents) {
    const __m256i twice = _mm256_setr_epi8(0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13, 0, 1,
                                           0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13);
    transpose8(lines);
    for (int i = 0; i < kLanes; ++i) {
        const __m256i line = _mm256_castps_si256(lines[i]);
        _mm256_storeu_ps(values + i * kLanes, words.value(line));
        store(exponents + i * kLanes, _mm256_shuffle_epi8(line, twice));
    }
}

template <class Words>
bool decode_b(Planes& planes, const Words& words, const void* codes, int n, int k) {
    const int blocks = (n + kLanes - 1) / kLanes;
    const std::size_t plane = static_cast<std::size_t>(k) * kLanes;
    float* values = grow(planes.b_values, blocks * plane);
    std::int32_t* exponents = grow(planes.b_exponents, blocks * plane);
    std::memset(grow(planes.b_special, blocks), 0, blocks);
    const auto* source = static_cast<const std::uint8_t*>(codes);
    __m256i most = _mm256_setzero_si256();
    for (int block = 0; block < blocks; ++block) {
        for (int at = 0; at < k; at += kWords) {
            __m256 low[kLanes], high[kLanes];
            for (int lane = 0; lane < kLanes; ++lane) {
                const int column = block * kLanes + lane;
                const std::size_t index = static_cast<std::size_t>(column) * k + at;
                const __m256i x = column < n ? spread(words.load(source + index * Words::kBytes))
                                             : _mm256_setzero_si256();
                const __m256i exponent = exponents_of(words, x, most);
                low[lane] = _mm256_castsi256_ps(_mm256_unpacklo_epi16(exponent, x));
                high[lane] = _mm256_castsi256_ps(_mm256_unpackhi_epi16(exponent, x));
            }
            const std::size_t target = block * plane + static_cast<std::size_t>(at) * kLanes;
            store_block(words, low, values + target, exponents + target);
            store_block(words, high, values + target + kLanes * kLanes,
                        exponents + target + kLanes * kLanes);
        }
    }
    return !any_special(words, most);
}

// Calls what(words) for the format, where there are words for it.
template <class What>
bool with_words(Format format, const What& what) {
    switch (format) {
        case Format::bf16:
            return what(Bf16Words{});
        case Format::f16:
            return what(F16Words{});
        case Format::e5m2:
        case Format::e4m3:
        case Format::e3m2:
        case Format::e2m3:
        case Format::e2m1:
            return what(NarrowWords(format));
        default:
            return false;
    }
}

}  // namespace

bool decode_a_quick(Planes& planes, Format format, const void* codes, int m, int k) {
    if (k % kWords != 0) return false;
    return with_words(format,
                      [&](const auto& words) { return decode_a(planes, words, codes, m, k); });
}

bool decode_b_quick(Planes& planes, Format format, const void* codes, int n, int k) {
    if (k % kWords != 0) return false;
    return with_words(format,
                      [&](const auto& words) { return decode_b(planes, words, codes, n, k); });
}

}  // namespace ww::numerics::detail

// SPDX-License-Identifier: Apache-2.0
// Fused sums of a whole tile in registers, for what real operands are: finite, exponents away from
// f32's ends, sums away from 32 bits. A tile that is not goes to careful_tile as a whole.
#include <algorithm>

#include "numerics/fused_tiles.hpp"

namespace ww::numerics::detail {
namespace {

constexpr int kBias = 127;
// Sums up to here leave room for c, which is below 2^26, and for the conversion to f32.
constexpr int kRoom = 0x7bffff00;

struct Tile {
    const float* a;                   // kRows rows
    const std::int32_t* a_exponents;  // kRows / 2 rows
    std::ptrdiff_t a_stride;          // between rows of both
    const float* b;
    const std::int32_t* b_exponents;
    const std::uint8_t* c;  // eight codes a row
    std::uint8_t* d;
    std::ptrdiff_t c_stride, d_stride;  // bytes
    __m256i scales[kRows];              // kScaled: exponents of the scales of a and b together
};

inline __m256i load(const std::int32_t* at) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

template <bool kHalf>
inline __m256 load_c(const Tile& t, int row) {
    const std::uint8_t* at = t.c + row * t.c_stride;
    if constexpr (kHalf) {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
    } else {
        return _mm256_loadu_ps(reinterpret_cast<const float*>(at));
    }
}

// Largest exponents of the products of two rows a register, in the halves of 32 bits.
template <int kCount>
inline void largest_products(const Tile& t, __m256i (&top)[kRows / 2]) {
    for (auto& x : top) x = _mm256_set1_epi16(2 * kNoExponent);
#pragma GCC unroll 4
    for (int k = 0; k < kCount; ++k) {
        const __m256i b = load(t.b_exponents + k * kLanes);
        for (int pair = 0; pair < kRows / 2; ++pair) {
            const __m256i a = _mm256_set1_epi32(t.a_exponents[pair * t.a_stride + k]);
            top[pair] = _mm256_max_epi16(top[pair], _mm256_add_epi16(a, b));
        }
    }
}

// Biased exponents of c. Zeros and subnormals of f32 give 0, which is below kLeast as they are.
template <bool kHalf>
inline __m256i c_exponents(__m256 c) {
    const __m256i field = _mm256_srli_epi32(_mm256_slli_epi32(_mm256_castps_si256(c), 1), 24);
    if constexpr (!kHalf) return field;
    // Subnormals of f16 count as its least exponent; zeros must not raise the largest one.
    const __m256i zero = _mm256_cmpeq_epi32(field, _mm256_setzero_si256());
    return _mm256_andnot_si256(zero, _mm256_max_epi32(field, _mm256_set1_epi32(kBias - 14)));
}

// Lanes where every term is zero: their sum is zero in any window, so they get one.
template <int kCount, bool kHalf>
void set_empty_lanes(const Tile& t, __m256i (&largest)[kRows]) {
    __m256i top[kRows / 2];
    largest_products<kCount>(t, top);
    for (int row = 0; row < kRows; ++row) {
        const __m256i halves = row % 2 ? top[row / 2] : _mm256_slli_epi32(top[row / 2], 16);
        const __m256i none =
            _mm256_cmpgt_epi32(_mm256_set1_epi32(kNothing), _mm256_srai_epi32(halves, 16));
        const __m256 zero = _mm256_cmp_ps(load_c<kHalf>(t, row), _mm256_setzero_ps(), _CMP_EQ_OQ);
        const __m256i empty = _mm256_and_si256(none, _mm256_castps_si256(zero));
        largest[row] = _mm256_blendv_epi8(largest[row], _mm256_set1_epi32(kBias), empty);
    }
}

inline bool regular(const __m256i (&largest)[kRows]) {
    __m256i lowest = largest[0], highest = largest[0];
    for (int row = 1; row < kRows; ++row) {
        lowest = _mm256_min_epi32(lowest, largest[row]);
        highest = _mm256_max_epi32(highest, largest[row]);
    }
    const __m256i outside =
        _mm256_or_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(kLeast + kBias), lowest),
                        _mm256_cmpgt_epi32(highest, _mm256_set1_epi32(kMost + kBias)));
    return _mm256_testz_si256(outside, outside);
}

// Biased exponents of the largest terms. False: some are out of the range of quick sums.
template <int kCount, bool kHalf, bool kScaled>
inline bool largest_terms(const Tile& t, __m256i (&largest)[kRows]) {
    __m256i top[kRows / 2];
    largest_products<kCount>(t, top);
    for (int row = 0; row < kRows; ++row) {
        const __m256i biased = _mm256_add_epi16(top[row / 2], _mm256_set1_epi16(kBias));
        __m256i product = _mm256_srai_epi32(row % 2 ? biased : _mm256_slli_epi32(biased, 16), 16);
        if constexpr (kScaled) product = _mm256_add_epi32(product, t.scales[row]);
        largest[row] = _mm256_max_epi32(product, c_exponents<kHalf>(load_c<kHalf>(t, row)));
    }
    if (regular(largest)) return true;
    set_empty_lanes<kCount, kHalf>(t, largest);
    return regular(largest);
}

// k0 <= k < k0 + kSegment or less of four rows.
template <int kTerms>
inline void add_terms(const Tile& t, int k0, const __m256 (&up)[kRows], __m256i (&sum)[kRows]) {
    for (auto& x : sum) x = _mm256_setzero_si256();
#pragma GCC unroll 2
    for (int k = k0; k < k0 + kTerms; ++k) {
        const __m256 b = _mm256_loadu_ps(t.b + static_cast<std::ptrdiff_t>(k) * kLanes);
        for (int row = 0; row < kRows; ++row) {
            const __m256 product =
                _mm256_mul_ps(_mm256_broadcast_ss(t.a + row * t.a_stride + k), b);
            sum[row] =
                _mm256_add_epi32(sum[row], _mm256_cvttps_epi32(_mm256_mul_ps(product, up[row])));
        }
    }
}

inline __m256i sizes(const __m256i (&sum)[kRows]) {
    const __m256i low = _mm256_max_epu32(_mm256_abs_epi32(sum[0]), _mm256_abs_epi32(sum[1]));
    const __m256i high = _mm256_max_epu32(_mm256_abs_epi32(sum[2]), _mm256_abs_epi32(sum[3]));
    return _mm256_max_epu32(low, high);
}

// A sum in units of 2^-F of the largest term to f32, cut toward zero to the bits of `mask`; or,
// on the way to f16, cut to odd.
template <bool kHalf>
inline __m256 cut(__m256i sum, __m256i mask) {
    const __m256 nearest = _mm256_cvtepi32_ps(sum);
    const __m256i rest = _mm256_sub_epi32(sum, _mm256_cvttps_epi32(nearest));
    // Where rounding went away from zero, the rest has the other sign: one step back.
    const __m256i away = _mm256_srli_epi32(_mm256_sign_epi32(rest, sum), 31);
    const __m256i bits = _mm256_sub_epi32(_mm256_castps_si256(nearest), away);
    if constexpr (kHalf) {
        const __m256i exactly = _mm256_cmpeq_epi32(rest, _mm256_setzero_si256());
        return _mm256_castsi256_ps(
            _mm256_or_si256(bits, _mm256_andnot_si256(exactly, _mm256_set1_epi32(1))));
    } else {
        return _mm256_castsi256_ps(_mm256_and_si256(bits, mask));
    }
}

template <bool kHalf>
inline void store_d(const Tile& t, int row, __m256 value) {
    std::uint8_t* at = t.d + row * t.d_stride;
    if constexpr (kHalf) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(at),
                         _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT));
    } else {
        _mm256_storeu_ps(reinterpret_cast<float*>(at), value);
    }
}

// The same power of two for products that are not scaled yet. Out of f32's range at the lower end
// nothing is left of a term; at the upper end all products are zero.
inline __m256 scaled_up(__m256i exponent, __m256i scale) {
    const __m256i sum = _mm256_add_epi32(exponent, scale);
    return _mm256_castsi256_ps(_mm256_slli_epi32(
        _mm256_min_epi32(_mm256_max_epi32(sum, _mm256_set1_epi32(1)), _mm256_set1_epi32(254)), 23));
}

// False, and nothing stored: the tile needs care.
template <int kCount, bool kHalf, bool kScaled>
bool quick_tile(const Tile& t, int fraction_bits, __m256i mask) {
    __m256i largest[kRows], sum[kRows];
    if (!largest_terms<kCount, kHalf, kScaled>(t, largest)) return false;
    // 2^(F - largest); its inverse follows from the bits.
    __m256 up[kRows], product_up[kRows];
    const __m256i top = _mm256_set1_epi32(fraction_bits + 2 * kBias);
    for (int row = 0; row < kRows; ++row) {
        const __m256i exponent = _mm256_sub_epi32(top, largest[row]);
        up[row] = product_up[row] = _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23));
        if constexpr (kScaled) product_up[row] = scaled_up(exponent, t.scales[row]);
    }
    __m256i size, room = _mm256_set1_epi32(kRoom);
    if constexpr (kCount <= kSegment) {
        add_terms<kCount>(t, 0, product_up, sum);
        size = sizes(sum);
    } else {
        __m256i first[kRows];
        add_terms<kSegment>(t, 0, product_up, first);
        add_terms<kCount - kSegment>(t, kSegment, product_up, sum);
        size = _mm256_max_epu32(sizes(first), sizes(sum));
        room = _mm256_set1_epi32(kRoom / 2);
        for (int row = 0; row < kRows; ++row) sum[row] = _mm256_add_epi32(sum[row], first[row]);
    }
    const __m256i crowded = _mm256_cmpgt_epi32(size, room);
    if (!_mm256_testz_si256(crowded, crowded)) return false;
    const __m256i inverse = _mm256_set1_epi32(2 * kBias << 23);
    for (int row = 0; row < kRows; ++row) {
        const __m256i c = _mm256_cvttps_epi32(_mm256_mul_ps(load_c<kHalf>(t, row), up[row]));
        const __m256 down =
            _mm256_castsi256_ps(_mm256_sub_epi32(inverse, _mm256_castps_si256(up[row])));
        store_d<kHalf>(t, row,
                       _mm256_mul_ps(cut<kHalf>(_mm256_add_epi32(sum[row], c), mask), down));
    }
    return true;
}

// Exponents of ue8m0 scales of one pass: columns of a block, then rows of a tile added. False: one
// is NaN.
struct Scales {
    const std::uint8_t *a = nullptr, *b = nullptr;  // of row 0 and column 0
    std::ptrdiff_t stride = 0;
    __m256i columns{};
    explicit Scales(const Job& job) {
        if (job.model.scheme != Scheme::scaled_fused) return;
        const int length = job.model.scale_block;
        stride = job.shape.k / length;
        a = job.operands.scale_a + job.k0 / length;
        b = job.operands.scale_b + job.k0 / length;
    }
    bool take_block(int block) {
        alignas(32) std::int32_t codes[kLanes];
        bool nan = false;
        for (int lane = 0; lane < kLanes; ++lane) {
            codes[lane] = b[(block * kLanes + lane) * stride];
            nan |= codes[lane] == 0xff;
        }
        columns = _mm256_sub_epi32(load(codes), _mm256_set1_epi32(2 * 127));
        return !nan;
    }
    bool take_rows(int row, __m256i (&sums)[kRows]) const {
        bool nan = false;
        for (int i = 0; i < kRows; ++i) {
            const std::int32_t code = a[(row + i) * stride];
            nan |= code == 0xff;
            sums[i] = _mm256_add_epi32(columns, _mm256_set1_epi32(code));
        }
        return !nan;
    }
};

template <int kCount, bool kHalf, bool kScaled>
bool all_tiles(const Job& job) {
    alignas(32) static constexpr std::uint8_t kZeros[32] = {};
    constexpr std::ptrdiff_t kBytes = kHalf ? 2 : 4;
    const Planes& planes = job.planes;
    const std::ptrdiff_t k = job.shape.k, row_bytes = job.shape.n * kBytes;
    const int kept_bits = job.model.output_fraction_bits;
    const __m256i mask = _mm256_set1_epi32(-(1 << (23 - kept_bits)));
    Scales scales(job);
    Tile t;
    t.a_stride = k;
    t.d_stride = row_bytes;
    t.c_stride = job.operands.c ? row_bytes : 0;
    for (int block = 0; block * kLanes < job.shape.n; ++block) {
        bool whole = (block + 1) * kLanes <= job.shape.n && planes.b_special[block] == 0;
        if constexpr (kScaled) whole = whole && scales.take_block(block);
        t.b = planes.b_values.data() + (block * k + job.k0) * kLanes;
        t.b_exponents = planes.b_exponents.data() + (block * k + job.k0) * kLanes;
        for (int row = 0; row < job.shape.m; row += kRows) {
            std::uint32_t special;
            std::memcpy(&special, planes.a_special.data() + row, sizeof special);
            const std::ptrdiff_t at = row * row_bytes + block * kLanes * kBytes;
            t.a = planes.a_values.data() + row * k + job.k0;
            t.a_exponents = planes.a_exponents.data() + row / 2 * k + job.k0;
            t.c = job.operands.c ? static_cast<const std::uint8_t*>(job.operands.c) + at : kZeros;
            t.d = static_cast<std::uint8_t*>(job.operands.d) + at;
            bool quick = whole && special == 0 && row + kRows <= job.shape.m;
            if constexpr (kScaled) quick = quick && scales.take_rows(row, t.scales);
            if (!quick || !quick_tile<kCount, kHalf, kScaled>(t, job.model.fraction_bits, mask)) {
                careful_tile(job, row, block);
            }
        }
    }
    return true;
}

}  // namespace

bool quick_tiles(const Job& job) {
    const bool half = job.model.accumulator == Format::f16;
    if (job.model.scheme == Scheme::scaled_fused) {
        return job.count == 32 && !half && all_tiles<32, false, true>(job);
    }
    switch (job.count) {
        case 8:
            return half ? all_tiles<8, true, false>(job) : all_tiles<8, false, false>(job);
        case 16:
            return half ? all_tiles<16, true, false>(job) : all_tiles<16, false, false>(job);
        case 32:
            return half ? all_tiles<32, true, false>(job) : all_tiles<32, false, false>(job);
        default:
            return false;
    }
}

}  // namespace ww::numerics::detail

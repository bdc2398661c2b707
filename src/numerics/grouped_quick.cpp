// SPDX-License-Identifier: Apache-2.0
// mxf4 and mxf4nvf4 where no scaled group sum reaches below the last bit that the fused sum keeps:
// then all groups add up exactly in f64, and only c is cut.
#include <algorithm>

#include "numerics/grouped_planes.hpp"

namespace ww::numerics::detail {
namespace {

constexpr int kTileRows = 2;
constexpr int kMostExponent = 100;  // of a term: far from f32's overflow

inline __m256i load(const std::int32_t* at) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

struct Tile {
    const std::uint8_t* a;
    const float* a_scales;
    const std::int32_t* a_exponents;
    std::ptrdiff_t a_stride, scale_stride;  // between rows
    const std::int32_t* b;
    const std::int32_t* b_sums;
    const float* b_scales;
    const std::int32_t* b_exponents;
    const float* c;
    float* d;
    std::ptrdiff_t c_stride, d_stride;
};

// What decides whether a lane is done here, the same for a whole job.
struct Limits {
    __m256i least, most;  // biased exponents of the largest term
    __m256i cut_base;     // F - 23
    __m256i keep;         // bits of an f64 result
};

struct Sums {
    __m256d low[kTileRows], high[kTileRows];
    __m256i largest[kTileRows];  // biased exponent of the largest term; 0 where all are zero
};

inline void add_group(const Tile& t, int group, Sums& sums) {
    __m256i quarters[kTileRows];
    group_sums(t.a + group * kGroup, t.a_stride, t.b + group * kQuads * kLanes,
               t.b_sums + group * kLanes, quarters);
    const __m256 b_scale = _mm256_loadu_ps(t.b_scales + group * kLanes);
    const __m256i b_exponent = load(t.b_exponents + group * kLanes);
    for (int row = 0; row < kTileRows; ++row) {
        const std::ptrdiff_t at = row * t.scale_stride + group;
        const __m256 scale = _mm256_mul_ps(_mm256_broadcast_ss(t.a_scales + at), b_scale);
        const __m256 product = _mm256_mul_ps(_mm256_cvtepi32_ps(quarters[row]), scale);
        const __m256i exponent = _mm256_add_epi32(_mm256_set1_epi32(t.a_exponents[at]), b_exponent);
        // Also true of NaN, from a zero times scales that overflowed: their exponent shows it.
        const __m256i some =
            _mm256_castps_si256(_mm256_cmp_ps(product, _mm256_setzero_ps(), _CMP_NEQ_UQ));
        sums.largest[row] = _mm256_max_epi32(sums.largest[row], _mm256_and_si256(exponent, some));
        sums.low[row] = _mm256_add_pd(sums.low[row], _mm256_cvtps_pd(low_half(product)));
        sums.high[row] = _mm256_add_pd(sums.high[row], _mm256_cvtps_pd(high_half(product)));
    }
}

// c without the bits below the last one that counts: 2^(largest - F).
inline __m256 cut_c(__m256i bits, __m256i field, __m256i largest, const Limits& limits) {
    const __m256i shift =
        _mm256_max_epi32(_mm256_sub_epi32(_mm256_sub_epi32(largest, field), limits.cut_base),
                         _mm256_setzero_si256());
    const __m256i some = _mm256_cmpgt_epi32(_mm256_set1_epi32(24), shift);
    const __m256i mask = _mm256_sllv_epi32(some, shift);
    return _mm256_castsi256_ps(_mm256_and_si256(bits, mask));
}

// False, and nothing stored: the rows need care.
bool quick_tile(const Tile& t, const Limits& limits) {
    Sums sums = {};
    for (int group = 0; group < kMaxGroups; ++group) add_group(t, group, sums);
    __m256 result[kTileRows];
    __m256i outside = _mm256_setzero_si256();
    for (int row = 0; row < kTileRows; ++row) {
        const __m256i bits = _mm256_castps_si256(_mm256_loadu_ps(t.c + row * t.c_stride));
        const __m256i size = _mm256_slli_epi32(bits, 1);
        const __m256i field = _mm256_srli_epi32(size, 24);
        const __m256i largest = _mm256_max_epi32(sums.largest[row], field);
        const __m256i empty =
            _mm256_cmpeq_epi32(_mm256_or_si256(largest, size), _mm256_setzero_si256());
        const __m256i low = _mm256_cmpgt_epi32(limits.least, largest);
        const __m256i high = _mm256_cmpgt_epi32(largest, limits.most);
        outside = _mm256_or_si256(outside, _mm256_or_si256(_mm256_andnot_si256(empty, low), high));
        const __m256 c = cut_c(bits, field, largest, limits);
        const auto half = [&](__m256d sum, __m128 part) {
            const __m256d exact = _mm256_add_pd(sum, _mm256_cvtps_pd(part));
            return _mm256_cvtpd_ps(_mm256_and_pd(exact, _mm256_castsi256_pd(limits.keep)));
        };
        result[row] =
            _mm256_set_m128(half(sums.high[row], high_half(c)), half(sums.low[row], low_half(c)));
    }
    if (!_mm256_testz_si256(outside, outside)) return false;
    for (int row = 0; row < kTileRows; ++row) _mm256_storeu_ps(t.d + row * t.d_stride, result[row]);
    return true;
}

Limits limits_of(const GroupJob& job) {
    const int fraction_bits = job.model.fraction_bits;
    // A group's last bit is that many below its exponent; it must not lie below largest - F.
    const int spread = fraction_bits - product_fraction_bits(job.model);
    const int most = std::min(kMostExponent, job.planes.least_exponent + spread);
    Limits out;
    out.least = _mm256_set1_epi32(kScaleBias + fraction_bits - 125);
    out.most = _mm256_set1_epi32(kScaleBias + most);
    out.cut_base = _mm256_set1_epi32(fraction_bits - 23);
    out.keep = keep_mask(job.model);
    return out;
}

}  // namespace

bool quick_groups(const GroupJob& job) {
    if (job.count != kMaxGroups * kGroup) return false;
    static constexpr float kZeros[kLanes] = {};
    const GroupPlanes& planes = job.planes;
    const std::ptrdiff_t groups = job.shape.k / kGroup, first = job.k0 / kGroup, n = job.shape.n;
    const Limits limits = limits_of(job);
    Tile t;
    t.a_stride = planes.stride;
    t.scale_stride = groups;
    t.d_stride = n;
    t.c_stride = job.operands.c ? n : 0;
    for (int block = 0; block * kLanes < n; ++block) {
        const bool whole = (block + 1) * kLanes <= n && planes.b_nan[block] == 0;
        const std::ptrdiff_t at = (block * groups + first) * kLanes;
        t.b = planes.b.data() + (block * (t.a_stride / 4) + first * kQuads) * kLanes;
        t.b_sums = planes.b_sums.data() + at;
        t.b_scales = planes.b_scales.data() + at;
        t.b_exponents = planes.b_exponents.data() + at;
        for (int row = 0; row < job.shape.m; row += kTileRows) {
            const int rows = std::min(kTileRows, job.shape.m - row);
            const std::ptrdiff_t index = row * n + block * kLanes;
            t.a = planes.a.data() + row * t.a_stride + job.k0;
            t.a_scales = planes.a_scales.data() + row * groups + first;
            t.a_exponents = planes.a_exponents.data() + row * groups + first;
            t.c = job.operands.c ? static_cast<const float*>(job.operands.c) + index : kZeros;
            t.d = static_cast<float*>(job.operands.d) + index;
            const bool done = whole && rows == kTileRows && !planes.a_nan[row] &&
                              !planes.a_nan[row + 1] && quick_tile(t, limits);
            if (done) continue;
            for (int i = 0; i < rows; ++i) careful_groups(job, row + i, block);
        }
    }
    return true;
}

}  // namespace ww::numerics::detail

// SPDX-License-Identifier: Apache-2.0
// mxf4 and mxf4nvf4: sums of 16 e2m1 products are small exact integers (vpmaddubsw), so only the
// four scaled groups and c go through the truncated sum, in f64, eight outputs at a time.
#include <algorithm>

#include "numerics/fused.hpp"
#include "numerics/grouped_planes.hpp"

namespace ww::numerics::detail {
namespace {

struct Groups {
    __m256 products[kMaxGroups];    // group sum times both scale significands, exact in f32
    __m256i exponents[kMaxGroups];  // kNoExponent where the product is zero
    int count;
    int fraction_bits;
};

// 2^shift with shifts far below zero cut to where nothing is left of any term.
inline __m256d scale_power(__m128i shift) {
    return power_of_two_f64(_mm_max_epi32(shift, _mm_set1_epi32(-1000)));
}

inline __m128 finish_half(const Model& model, const Groups& groups, __m128 c, __m128i largest,
                          int half) {
    const __m128i to_units = _mm_sub_epi32(_mm_set1_epi32(model.fraction_bits), largest);
    __m256d sum = truncate(_mm256_mul_pd(_mm256_cvtps_pd(c), scale_power(to_units)));
    for (int g = 0; g < groups.count; ++g) {
        const __m128 product = half ? high_half(groups.products[g]) : low_half(groups.products[g]);
        const __m128i exponent =
            half ? high_half(groups.exponents[g]) : low_half(groups.exponents[g]);
        const __m128i shift =
            _mm_add_epi32(_mm_sub_epi32(to_units, _mm_set1_epi32(groups.fraction_bits)), exponent);
        sum = _mm256_add_pd(sum,
                            truncate(_mm256_mul_pd(_mm256_cvtps_pd(product), scale_power(shift))));
    }
    const __m256d exact =
        _mm256_mul_pd(sum, power_of_two_f64(_mm_sub_epi32(_mm_setzero_si128(), to_units)));
    return cut_results(exact, keep_mask(model), false);
}

std::uint32_t redo_one(const GroupJob& job, int row, int column, std::uint32_t c) {
    const std::size_t bytes = static_cast<std::size_t>(job.shape.k) / 2;
    const std::ptrdiff_t scales = job.shape.k / job.model.scale_block;
    return grouped_chunk(job.model, static_cast<const std::uint8_t*>(job.operands.a) + row * bytes,
                         static_cast<const std::uint8_t*>(job.operands.b) + column * bytes,
                         job.operands.scale_a + row * scales,
                         job.operands.scale_b + column * scales, job.k0, job.count, c);
}

// The product of the significands of both scales, as integers.
__m256 scale_significands(const Model& model, __m256 scale, __m256i exponent) {
    if (model.scale == Format::ue8m0) return _mm256_set1_ps(1.0f);
    // Planes hold a quarter of the product, 2 bits; significands have 3 fraction bits each.
    return _mm256_mul_ps(scale,
                         power_of_two(_mm256_sub_epi32(_mm256_set1_epi32(2 + 3 + 3), exponent)));
}

Groups sum_groups(const GroupJob& job, int row, int block) {
    const GroupPlanes& planes = job.planes;
    const int all = job.shape.k / kGroup, first = job.k0 / kGroup;
    const std::size_t quads = static_cast<std::size_t>(planes.stride) / 4;
    Groups out;
    out.count = job.count / kGroup;
    out.fraction_bits = product_fraction_bits(job.model);
    for (int g = 0; g < out.count; ++g) {
        const std::size_t a_at = static_cast<std::size_t>(row) * all + first + g;
        const std::size_t b_at = (static_cast<std::size_t>(block) * all + first + g) * kLanes;
        __m256i sum[1];
        group_sums(
            planes.a.data() + static_cast<std::size_t>(row) * planes.stride + job.k0 + g * kGroup,
            0,
            planes.b.data() +
                (block * quads + static_cast<std::size_t>(first + g) * kQuads) * kLanes,
            planes.b_sums.data() + b_at, sum);
        const __m256i exponent = _mm256_add_epi32(
            _mm256_set1_epi32(planes.a_exponents[a_at] - kScaleBias),
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(planes.b_exponents.data() + b_at)));
        const __m256 scale = _mm256_mul_ps(_mm256_set1_ps(planes.a_scales[a_at]),
                                           _mm256_loadu_ps(planes.b_scales.data() + b_at));
        out.products[g] = _mm256_mul_ps(_mm256_cvtepi32_ps(sum[0]),
                                        scale_significands(job.model, scale, exponent));
        const __m256i zero =
            _mm256_castps_si256(_mm256_cmp_ps(out.products[g], _mm256_setzero_ps(), _CMP_EQ_OQ));
        out.exponents[g] = _mm256_blendv_epi8(exponent, _mm256_set1_epi32(kNoExponent), zero);
    }
    return out;
}

}  // namespace

void careful_groups(const GroupJob& job, int row, int block) {
    const Model& model = job.model;
    const int columns = std::min(kLanes, job.shape.n - block * kLanes);
    const std::size_t index = static_cast<std::size_t>(row) * job.shape.n + block * kLanes;
    const __m256 c = load_accumulators(model, job.operands.c, index, columns);
    const Groups groups = sum_groups(job, row, block);
    const __m256i c_exponent = accumulator_exponents(c, -126);
    __m256i largest = c_exponent;
    for (int g = 0; g < groups.count; ++g) largest = _mm256_max_epi32(largest, groups.exponents[g]);
    const __m256i nothing = _mm256_cmpgt_epi32(_mm256_set1_epi32(kNothing), largest);
    largest = _mm256_andnot_si256(nothing, largest);
    // Tiny sums meet the floors of the rule and f32's subnormals; NaN and infinity have exponent
    // 128.
    const __m256i tiny = _mm256_cmpgt_epi32(_mm256_set1_epi32(model.fraction_bits - 125), largest);
    const __m256i special = _mm256_cmpeq_epi32(c_exponent, _mm256_set1_epi32(128));
    int redo = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_or_si256(tiny, special)));
    redo |= job.planes.a_nan[row] ? 255 : job.planes.b_nan[block];
    redo &= (1 << columns) - 1;
    std::uint32_t codes[kLanes] = {};
    for (int lane = 0; redo >> lane; ++lane) {
        if (!(redo >> lane & 1)) continue;
        codes[lane] = redo_one(job, row, block * kLanes + lane,
                               load_accumulator(model, job.operands.c, index + lane));
    }
    const __m128 low = finish_half(model, groups, low_half(c), low_half(largest), 0);
    const __m128 high = finish_half(model, groups, high_half(c), high_half(largest), 1);
    store_results(model, job.operands.d, index, columns, _mm256_set_m128(high, low));
    for (int lane = 0; redo >> lane; ++lane) {
        if (redo >> lane & 1) store_accumulator(model, job.operands.d, index + lane, codes[lane]);
    }
}

void grouped_fast(const Model& model, Shape shape, const MmaOperands& operands) {
    // Sums stay below 2^53 up to F = 38. A sum has at most four groups here.
    const bool fits = model.fraction_bits <= 38 && model.chunk <= kMaxGroups * kGroup &&
                      model.chunk % kGroup == 0 && shape.k % kGroup == 0 &&
                      model.accumulator == Format::f32;
    if (!fits) return mma_reference(model, shape, operands);
    static thread_local GroupPlanes planes;
    decode_groups(planes, model, shape, operands);
    MmaOperands step = operands;
    for (int k0 = 0; k0 < shape.k; k0 += model.chunk) {
        const GroupJob job{model, shape, step, planes, k0, std::min(model.chunk, shape.k - k0)};
        if (!quick_groups(job)) {
            for (int block = 0; block * kLanes < shape.n; ++block) {
                for (int row = 0; row < shape.m; ++row) careful_groups(job, row, block);
            }
        }
        step.c = step.d;
    }
}

}  // namespace ww::numerics::detail

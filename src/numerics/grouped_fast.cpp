// SPDX-License-Identifier: Apache-2.0
// mxf4 and mxf4nvf4: sums of 16 e2m1 products are small exact integers (vpmaddubsw), so only the
// four scaled groups and c go through the truncated sum, in f64, eight outputs at a time.
#include <algorithm>

#include "numerics/fused.hpp"
#include "numerics/simd.hpp"

namespace ww::numerics::detail {
namespace {

constexpr int kGroup = 16, kQuads = kGroup / 4, kMaxGroups = 4;
constexpr int kOffset = 12;  // makes 2 * a unsigned: |2 * e2m1| <= 12

struct Planes {
    std::vector<std::uint8_t> a;        // [row][k]: 2 * value + kOffset
    std::vector<std::int32_t> b;        // [column block][quad][8]: four signed bytes, 2 * value
    std::vector<std::int32_t> b_sums;   // [column block][group][8]: kOffset * sum of b
    std::vector<float> a_significands;  // [row][group]
    std::vector<std::int32_t> a_exponents;
    std::vector<float> b_significands;  // [column block][group][8]
    std::vector<std::int32_t> b_exponents;
    std::vector<std::uint8_t> a_nan;  // [row]
    std::vector<std::uint8_t> b_nan;  // [column block]: one bit a column
};

// 32 packed codes (16 bytes) to 32 bytes of 2 * value.
__m256i decode32(const std::uint8_t* codes) {
    const __m128i table = _mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);
    const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
    const __m128i mask = _mm_set1_epi8(15);
    const __m128i low = _mm_shuffle_epi8(table, _mm_and_si128(packed, mask));
    const __m128i high = _mm_shuffle_epi8(table, _mm_and_si128(_mm_srli_epi16(packed, 4), mask));
    return _mm256_set_m128i(_mm_unpackhi_epi8(low, high), _mm_unpacklo_epi8(low, high));
}

// The same for any even count; what is beyond is zero.
__m256i decode_up_to_32(const std::uint8_t* codes, int count) {
    if (count >= 32) return decode32(codes);
    alignas(16) std::uint8_t padded[16] = {};
    std::memcpy(padded, codes, static_cast<std::size_t>(count) / 2);
    return decode32(padded);
}

struct Scale {
    float significand;
    int exponent;
    bool nan;
};

Scale split_scale(Format format, std::uint8_t code) {
    if (format == Format::ue8m0) return {1.0f, static_cast<int>(code) - 127, code == 0xff};
    const int field = code >> 3 & 15;
    return {static_cast<float>((code & 7) | (field ? 8 : 0)), std::max(field, 1) - 7,
            (code & 127) == 127};
}

void decode_a(Planes& planes, const Model& model, Shape shape, const MmaOperands& operands,
              int stride) {
    const int groups = shape.k / kGroup, scales = shape.k / model.scale_block;
    std::uint8_t* values = grow(planes.a, static_cast<std::size_t>(shape.m) * stride);
    float* significands = grow(planes.a_significands, static_cast<std::size_t>(shape.m) * groups);
    std::int32_t* exponents = grow(planes.a_exponents, static_cast<std::size_t>(shape.m) * groups);
    std::uint8_t* nan = grow(planes.a_nan, shape.m);
    const auto* codes = static_cast<const std::uint8_t*>(operands.a);
    for (int row = 0; row < shape.m; ++row) {
        for (int k = 0; k < shape.k; k += 32) {
            const __m256i part = decode_up_to_32(
                codes + (static_cast<std::size_t>(row) * shape.k + k) / 2, shape.k - k);
            _mm256_storeu_si256(
                reinterpret_cast<__m256i*>(values + static_cast<std::size_t>(row) * stride + k),
                _mm256_add_epi8(part, _mm256_set1_epi8(kOffset)));
        }
        nan[row] = 0;
        for (int group = 0; group < groups; ++group) {
            const std::size_t at = static_cast<std::size_t>(row) * scales;
            const Scale scale =
                split_scale(model.scale, operands.scale_a[at + group * kGroup / model.scale_block]);
            significands[static_cast<std::size_t>(row) * groups + group] = scale.significand;
            exponents[static_cast<std::size_t>(row) * groups + group] = scale.exponent;
            nan[row] |= scale.nan;
        }
    }
}

void decode_b_scales(Planes& planes, const Model& model, Shape shape, const MmaOperands& operands) {
    const int blocks = (shape.n + kLanes - 1) / kLanes;
    const int groups = shape.k / kGroup, scales = shape.k / model.scale_block;
    const std::size_t size = static_cast<std::size_t>(blocks) * groups * kLanes;
    float* significands = grow(planes.b_significands, size);
    std::int32_t* exponents = grow(planes.b_exponents, size);
    std::uint8_t* nan = grow(planes.b_nan, blocks);
    for (int block = 0; block < blocks; ++block) {
        nan[block] = 0;
        for (int lane = 0; lane < kLanes; ++lane) {
            const int column = block * kLanes + lane;
            for (int group = 0; group < groups; ++group) {
                Scale scale{0.0f, 0, false};
                if (column < shape.n) {
                    scale = split_scale(model.scale,
                                        operands.scale_b[static_cast<std::size_t>(column) * scales +
                                                         group * kGroup / model.scale_block]);
                }
                const std::size_t at =
                    (static_cast<std::size_t>(block) * groups + group) * kLanes + lane;
                significands[at] = scale.significand;
                exponents[at] = scale.exponent;
                nan[block] |= static_cast<std::uint8_t>(scale.nan << lane);
            }
        }
    }
}

void decode_b(Planes& planes, Shape shape, const MmaOperands& operands, int stride) {
    const int blocks = (shape.n + kLanes - 1) / kLanes, groups = shape.k / kGroup;
    const std::size_t quads = static_cast<std::size_t>(stride) / 4;
    std::int32_t* values = grow(planes.b, blocks * quads * kLanes);
    std::int32_t* sums = grow(planes.b_sums, static_cast<std::size_t>(blocks) * groups * kLanes);
    const auto* codes = static_cast<const std::uint8_t*>(operands.b);
    const __m256i offset = _mm256_set1_epi8(kOffset), ones = _mm256_set1_epi16(1);
    for (int block = 0; block < blocks; ++block) {
        std::int32_t* target = values + block * quads * kLanes;
        for (int k = 0; k < shape.k; k += 32) {
            __m256 lines[kLanes];
            for (int lane = 0; lane < kLanes; ++lane) {
                const int column = block * kLanes + lane;
                lines[lane] = _mm256_castsi256_ps(
                    column < shape.n
                        ? decode_up_to_32(
                              codes + (static_cast<std::size_t>(column) * shape.k + k) / 2,
                              shape.k - k)
                        : _mm256_setzero_si256());
            }
            transpose8(lines);
            for (int i = 0; i < kLanes; ++i) {
                _mm256_storeu_ps(reinterpret_cast<float*>(target + (k / 4 + i) * kLanes), lines[i]);
            }
        }
        for (int group = 0; group < groups; ++group) {
            __m256i sum = _mm256_setzero_si256();
            for (int quad = 0; quad < kQuads; ++quad) {
                const __m256i b = _mm256_loadu_si256(
                    reinterpret_cast<const __m256i*>(target + (group * kQuads + quad) * kLanes));
                sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(offset, b));
            }
            _mm256_storeu_si256(
                reinterpret_cast<__m256i*>(
                    sums + (static_cast<std::size_t>(block) * groups + group) * kLanes),
                _mm256_madd_epi16(sum, ones));
        }
    }
}

// The exact sums of one group for eight columns, in quarters.
inline __m256i group_sum(const std::uint8_t* a, const std::int32_t* b, const std::int32_t* b_sum) {
    __m256i sum = _mm256_setzero_si256();
    for (int quad = 0; quad < kQuads; ++quad) {
        std::int32_t four;
        std::memcpy(&four, a + quad * 4, sizeof four);
        const __m256i bytes =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + quad * kLanes));
        sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(_mm256_set1_epi32(four), bytes));
    }
    return _mm256_sub_epi32(_mm256_madd_epi16(sum, _mm256_set1_epi16(1)),
                            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b_sum)));
}

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

struct Job {
    const Model& model;
    Shape shape;
    MmaOperands operands;
    const Planes& planes;
    int stride;  // bytes of a decoded row
    int k0;
    int count;
};

std::uint32_t redo_one(const Job& job, int row, int column, std::uint32_t c) {
    const std::size_t bytes = static_cast<std::size_t>(job.shape.k) / 2;
    const std::ptrdiff_t scales = job.shape.k / job.model.scale_block;
    return grouped_chunk(job.model, static_cast<const std::uint8_t*>(job.operands.a) + row * bytes,
                         static_cast<const std::uint8_t*>(job.operands.b) + column * bytes,
                         job.operands.scale_a + row * scales,
                         job.operands.scale_b + column * scales, job.k0, job.count, c);
}

Groups sum_groups(const Job& job, int row, int block) {
    const int all = job.shape.k / kGroup, first = job.k0 / kGroup;
    const std::size_t quads = static_cast<std::size_t>(job.stride) / 4;
    Groups out;
    out.count = job.count / kGroup;
    out.fraction_bits = 2 + 2 * (job.model.scale == Format::ue4m3 ? 3 : 0);
    for (int g = 0; g < out.count; ++g) {
        const std::size_t a_at = static_cast<std::size_t>(row) * all + first + g;
        const std::size_t b_at = (static_cast<std::size_t>(block) * all + first + g) * kLanes;
        const __m256i sum = group_sum(
            job.planes.a.data() + static_cast<std::size_t>(row) * job.stride + job.k0 + g * kGroup,
            job.planes.b.data() +
                (block * quads + static_cast<std::size_t>(first + g) * kQuads) * kLanes,
            job.planes.b_sums.data() + b_at);
        const __m256 scale =
            _mm256_mul_ps(_mm256_set1_ps(job.planes.a_significands[a_at]),
                          _mm256_loadu_ps(job.planes.b_significands.data() + b_at));
        out.products[g] = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), scale);
        const __m256i exponent = _mm256_add_epi32(
            _mm256_set1_epi32(job.planes.a_exponents[a_at]),
            _mm256_loadu_si256(
                reinterpret_cast<const __m256i*>(job.planes.b_exponents.data() + b_at)));
        const __m256i zero =
            _mm256_castps_si256(_mm256_cmp_ps(out.products[g], _mm256_setzero_ps(), _CMP_EQ_OQ));
        out.exponents[g] = _mm256_blendv_epi8(exponent, _mm256_set1_epi32(kNoExponent), zero);
    }
    return out;
}

void run_block(const Job& job, int row, int block) {
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

}  // namespace

void grouped_fast(const Model& model, Shape shape, const MmaOperands& operands) {
    // Sums stay below 2^53 up to F = 38. A sum has at most four groups here.
    const bool fits = model.fraction_bits <= 38 && model.chunk <= kMaxGroups * kGroup &&
                      model.chunk % kGroup == 0 && shape.k % kGroup == 0 &&
                      model.accumulator == Format::f32;
    if (!fits) return mma_reference(model, shape, operands);
    static thread_local Planes planes;
    const int stride = (shape.k + 31) / 32 * 32;
    decode_a(planes, model, shape, operands, stride);
    decode_b(planes, shape, operands, stride);
    decode_b_scales(planes, model, shape, operands);
    MmaOperands step = operands;
    for (int k0 = 0; k0 < shape.k; k0 += model.chunk) {
        const Job job{model, shape, step, planes, stride, k0, std::min(model.chunk, shape.k - k0)};
        for (int block = 0; block * kLanes < shape.n; ++block) {
            for (int row = 0; row < shape.m; ++row) run_block(job, row, block);
        }
        step.c = step.d;
    }
}

}  // namespace ww::numerics::detail

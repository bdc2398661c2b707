// SPDX-License-Identifier: Apache-2.0
// Decoding operands of mxf4 and mxf4nvf4: codes to signed bytes, scales to values and exponents.
#include "numerics/grouped_planes.hpp"

#include <algorithm>

namespace ww::numerics::detail {
namespace {

constexpr int kOffset = 12;  // makes 2 * a unsigned: |2 * e2m1| <= 12

// 32 packed codes (16 bytes) to 32 bytes of the table.
inline __m256i decode32(const std::uint8_t* codes, __m128i table) {
    const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
    const __m128i mask = _mm_set1_epi8(15);
    const __m128i low = _mm_and_si128(packed, mask);
    const __m128i high = _mm_and_si128(_mm_srli_epi16(packed, 4), mask);
    const __m256i order =
        _mm256_set_m128i(_mm_unpackhi_epi8(low, high), _mm_unpacklo_epi8(low, high));
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), order);
}

// The same for any even count; what is beyond is code 0.
inline __m256i decode_up_to_32(const std::uint8_t* codes, int count, __m128i table) {
    if (count >= 32) return decode32(codes, table);
    alignas(16) std::uint8_t padded[16] = {};
    std::memcpy(padded, codes, static_cast<std::size_t>(count) / 2);
    return decode32(padded, table);
}

inline __m128i signed_table() {
    return _mm_setr_epi8(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12);
}

struct Scales {
    __m256 values;
    __m256i exponents;
    __m256i nan;
};

// Eight codes, 32 bits each.
inline Scales split_scales(Format format, __m256i codes) {
    if (format == Format::ue8m0) {
        // 2^-127 is the only one that f32 holds as a subnormal.
        const __m256i least = _mm256_cmpeq_epi32(codes, _mm256_setzero_si256());
        const __m256i bits =
            _mm256_blendv_epi8(_mm256_slli_epi32(codes, 23), _mm256_set1_epi32(1 << 22), least);
        return {_mm256_castsi256_ps(bits), _mm256_sub_epi32(codes, _mm256_set1_epi32(127)),
                _mm256_cmpeq_epi32(codes, _mm256_set1_epi32(255))};
    }
    const __m256i size = _mm256_and_si256(codes, _mm256_set1_epi32(127));
    const __m256i field = _mm256_max_epi32(_mm256_srli_epi32(size, 3), _mm256_set1_epi32(1));
    // The fields of ue4m3 in those of f32, times what is missing in the exponent.
    const __m256 values =
        _mm256_mul_ps(_mm256_castsi256_ps(_mm256_slli_epi32(size, 20)), _mm256_set1_ps(0x1p120f));
    return {values, _mm256_sub_epi32(field, _mm256_set1_epi32(7)),
            _mm256_cmpeq_epi32(size, _mm256_set1_epi32(127))};
}

inline int lanes_of(__m256i mask) { return _mm256_movemask_ps(_mm256_castsi256_ps(mask)); }

inline int least_of(__m256i x) {
    __m128i least = _mm_min_epi32(low_half(x), high_half(x));
    least = _mm_min_epi32(least, _mm_shuffle_epi32(least, 0x4e));
    least = _mm_min_epi32(least, _mm_shuffle_epi32(least, 0xb1));
    return _mm_cvtsi128_si32(least);
}

void decode_a(GroupPlanes& planes, Shape shape, const MmaOperands& operands) {
    std::uint8_t* values = grow(planes.a, static_cast<std::size_t>(shape.m) * planes.stride);
    const auto* codes = static_cast<const std::uint8_t*>(operands.a);
    const __m128i table = _mm_add_epi8(signed_table(), _mm_set1_epi8(kOffset));
    for (int row = 0; row < shape.m; ++row) {
        for (int k = 0; k < shape.k; k += 32) {
            const __m256i part = decode_up_to_32(
                codes + (static_cast<std::size_t>(row) * shape.k + k) / 2, shape.k - k, table);
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(
                                    values + static_cast<std::size_t>(row) * planes.stride + k),
                                part);
        }
    }
}

// One scale code a group: where a scale serves two groups, it comes twice.
const std::uint8_t* codes_of_groups(GroupPlanes& planes, const Model& model, Shape shape,
                                    const MmaOperands& operands) {
    const int groups = shape.k / kGroup, scales = shape.k / model.scale_block;
    const std::size_t count = static_cast<std::size_t>(shape.m) * groups;
    std::uint8_t* codes = grow(planes.a_codes, count + kLanes);
    std::memset(codes + count, 127, kLanes);  // of any value: a whole register is read
    if (scales == groups) {
        std::memcpy(codes, operands.scale_a, count);
        return codes;
    }
    for (int row = 0; row < shape.m; ++row) {
        for (int group = 0; group < groups; ++group) {
            codes[row * groups + group] =
                operands.scale_a[row * scales + group * kGroup / model.scale_block];
        }
    }
    return codes;
}

int decode_a_scales(GroupPlanes& planes, const Model& model, Shape shape,
                    const MmaOperands& operands) {
    const int groups = shape.k / kGroup, count = shape.m * groups;
    const std::uint8_t* codes = codes_of_groups(planes, model, shape, operands);
    float* scales = grow(planes.a_scales, static_cast<std::size_t>(count) + kLanes);
    std::int32_t* exponents = grow(planes.a_exponents, static_cast<std::size_t>(count) + kLanes);
    std::uint8_t* nan = grow(planes.a_nan, shape.m);
    std::memset(nan, 0, shape.m);
    __m256i least = _mm256_set1_epi32(128);
    for (int at = 0; at < count; at += kLanes) {
        const __m256i eight =
            _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes + at)));
        const Scales part = split_scales(model.scale, eight);
        _mm256_storeu_ps(scales + at, part.values);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(exponents + at), part.exponents);
        least = _mm256_min_epi32(least, part.exponents);
        const int lanes = lanes_of(part.nan);
        for (int lane = 0; lanes >> lane; ++lane) {
            if ((lanes >> lane & 1) && at + lane < count) nan[(at + lane) / groups] = 1;
        }
    }
    return least_of(least);
}

// Codes of one group for the columns of one block, 32 bits each; beyond the last column 0.
inline __m256i scales_of_block(const Model& model, Shape shape, const MmaOperands& operands,
                               int block, int group) {
    const int scales = shape.k / model.scale_block, at = group * kGroup / model.scale_block;
    const int columns = std::min(kLanes, shape.n - block * kLanes);
    const std::uint8_t* codes =
        operands.scale_b + static_cast<std::size_t>(block) * kLanes * scales;
    if (scales == 4 && columns == kLanes) {
        const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes));
        return _mm256_and_si256(_mm256_srl_epi32(words, _mm_cvtsi32_si128(8 * at)),
                                _mm256_set1_epi32(255));
    }
    alignas(32) std::int32_t all[kLanes] = {};
    for (int lane = 0; lane < columns; ++lane) all[lane] = codes[lane * scales + at];
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(all));
}

int decode_b_scales(GroupPlanes& planes, const Model& model, Shape shape,
                    const MmaOperands& operands) {
    const int blocks = (shape.n + kLanes - 1) / kLanes, groups = shape.k / kGroup;
    const std::size_t size = static_cast<std::size_t>(blocks) * groups * kLanes;
    float* scales = grow(planes.b_scales, size);
    std::int32_t* exponents = grow(planes.b_exponents, size);
    std::uint8_t* nan = grow(planes.b_nan, blocks);
    __m256i least = _mm256_set1_epi32(128);
    for (int block = 0; block < blocks; ++block) {
        nan[block] = 0;
        for (int group = 0; group < groups; ++group) {
            const Scales part =
                split_scales(model.scale, scales_of_block(model, shape, operands, block, group));
            const std::size_t at = (static_cast<std::size_t>(block) * groups + group) * kLanes;
            _mm256_storeu_ps(scales + at, _mm256_mul_ps(part.values, _mm256_set1_ps(0.25f)));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(exponents + at),
                                _mm256_add_epi32(part.exponents, _mm256_set1_epi32(kScaleBias)));
            least = _mm256_min_epi32(least, part.exponents);
            nan[block] |= static_cast<std::uint8_t>(lanes_of(part.nan));
        }
    }
    return least_of(least);
}

void decode_b(GroupPlanes& planes, Shape shape, const MmaOperands& operands) {
    const int blocks = (shape.n + kLanes - 1) / kLanes, groups = shape.k / kGroup;
    const std::size_t quads = static_cast<std::size_t>(planes.stride) / 4;
    std::int32_t* values = grow(planes.b, blocks * quads * kLanes);
    std::int32_t* sums = grow(planes.b_sums, static_cast<std::size_t>(blocks) * groups * kLanes);
    const auto* codes = static_cast<const std::uint8_t*>(operands.b);
    const __m256i offset = _mm256_set1_epi8(kOffset);
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
                              shape.k - k, signed_table())
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
                sum = _mm256_sub_epi16(sum, _mm256_maddubs_epi16(offset, b));
            }
            _mm256_storeu_si256(
                reinterpret_cast<__m256i*>(
                    sums + (static_cast<std::size_t>(block) * groups + group) * kLanes),
                sum);
        }
    }
}

}  // namespace

void decode_groups(GroupPlanes& planes, const Model& model, Shape shape,
                   const MmaOperands& operands) {
    planes.stride = (shape.k + 31) / 32 * 32;
    decode_a(planes, shape, operands);
    decode_b(planes, shape, operands);
    planes.least_exponent = decode_a_scales(planes, model, shape, operands) +
                            decode_b_scales(planes, model, shape, operands);
}

}  // namespace ww::numerics::detail

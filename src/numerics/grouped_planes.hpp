// SPDX-License-Identifier: Apache-2.0
// Operands of mxf4 and mxf4nvf4, decoded once per mma, and the two ways to one pass over a part of
// the result. Internal to numerics.
#pragma once
#include "numerics/simd.hpp"

namespace ww::numerics::detail {

constexpr int kGroup = 16, kQuads = kGroup / 4, kMaxGroups = 4;
constexpr int kScaleBias = 127;  // of b_exponents

struct GroupPlanes {
    int stride = 0;                    // bytes of a row: k up to a multiple of 32
    std::vector<std::uint8_t> a;       // [row][k]: 2 * value + 12, which has no sign
    std::vector<std::int32_t> b;       // [column block][quad][8]: four signed bytes, 2 * value
    std::vector<std::int32_t> b_sums;  // [column block][group][8]: two halves whose sum undoes the
                                       // 12 in the sum of a group
    std::vector<float> a_scales;       // [row][group]
    std::vector<std::int32_t> a_exponents;
    std::vector<float> b_scales;            // [column block][group][8]: a quarter of each
    std::vector<std::int32_t> b_exponents;  // plus kScaleBias
    std::vector<std::uint8_t> a_codes;      // [row][group]
    std::vector<std::uint8_t> a_nan;        // [row]
    std::vector<std::uint8_t> b_nan;        // [column block]: one bit a column
    int least_exponent = 0;  // of a scale of a times one of b; not above the true one
};

void decode_groups(GroupPlanes& planes, const Model& model, Shape shape,
                   const MmaOperands& operands);

// One pass of fused sums: k0 <= k < k0 + count, for the whole matrix.
struct GroupJob {
    const Model& model;
    Shape shape;
    MmaOperands operands;
    const GroupPlanes& planes;
    int k0;
    int count;
};

// Bits below the point in a product of two scaled codes, e2m1's two of them.
inline int product_fraction_bits(const Model& model) {
    return 2 + 2 * (model.scale == Format::ue4m3 ? 3 : 0);
}

// Every case: eight columns of one row.
void careful_groups(const GroupJob& job, int row, int block);
// The whole job, by careful_groups where an exact sum does not fit f64 or something is special.
// False: a job of another length of sum; nothing was done.
bool quick_groups(const GroupJob& job);

// Exact sums of one group in quarters, for eight columns and kRowCount rows of a that are
// `stride` bytes apart.
template <int kRowCount>
inline void group_sums(const std::uint8_t* a, std::ptrdiff_t stride, const std::int32_t* b,
                       const std::int32_t* b_sum, __m256i (&sum)[kRowCount]) {
    const auto load = [](const std::int32_t* at) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    };
    for (auto& x : sum) x = load(b_sum);
    for (int quad = 0; quad < kQuads; ++quad) {
        const __m256i bytes = load(b + quad * kLanes);
        for (int row = 0; row < kRowCount; ++row) {
            std::int32_t four;
            std::memcpy(&four, a + row * stride + quad * 4, sizeof four);
            sum[row] =
                _mm256_add_epi16(sum[row], _mm256_maddubs_epi16(_mm256_set1_epi32(four), bytes));
        }
    }
    for (auto& x : sum) x = _mm256_madd_epi16(x, _mm256_set1_epi16(1));
}

}  // namespace ww::numerics::detail

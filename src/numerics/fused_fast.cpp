// SPDX-License-Identifier: Apache-2.0
// Fused sums eight outputs at a time. Products are exact in f32, so a term is
// trunc(a * b * 2^(F - largest)) = cvttps(mul(mul(a, b), scale)); exponents run beside them as 16-bit
// integers, two rows a register. Outputs with NaN, infinity or a tiny or huge sum go to the scalar rule.
#include <algorithm>
#include <array>

#include "numerics/fused.hpp"
#include "numerics/simd.hpp"

namespace ww::numerics::detail {
namespace {

// Below kLeast a product may have lost bits to f32's underflow, above kMost it may overflow.
constexpr int kLeast = -100, kMost = 125;
constexpr int kSegment = 16;  // terms whose sum fits 32 bits: 16 * 4 * 2^25 > sum

struct Planes {
    std::vector<float> a_values;             // [row][k]
    std::vector<std::int32_t> a_exponents;   // [row pair][k]: two 16-bit exponents
    std::vector<std::uint8_t> a_special;     // [row]: has NaN or infinity
    std::vector<float> b_values;             // [column block][k][8]
    std::vector<std::int32_t> b_exponents;   // [column block][k][8]: the exponent twice
    std::vector<std::uint8_t> b_special;     // [column block]: one bit a column
};

using Table = std::array<float, 256>;

Table make_table(Format format) {
    Table table;
    for (unsigned code = 0; code < table.size(); ++code) {
        table[code] = static_cast<float>(decode(format, code));
    }
    return table;
}

const Table& value_table(Format format) {
    static const Table e4m3 = make_table(Format::e4m3), e5m2 = make_table(Format::e5m2),
                       e3m2 = make_table(Format::e3m2), e2m3 = make_table(Format::e2m3),
                       e2m1 = make_table(Format::e2m1);
    switch (format) {
        case Format::e4m3: return e4m3;
        case Format::e5m2: return e5m2;
        case Format::e3m2: return e3m2;
        case Format::e2m3: return e2m3;
        default: return e2m1;
    }
}

// Eight codes to f32 values, or fewer: the rest are zeros.
__m256 decode8(Format format, const void* codes, int count) {
    alignas(32) std::uint8_t padded[32] = {};
    const int bits = info(format).bits;
    const int size = bits >= 8 ? bits / 8 : 1;
    if (count < kLanes) {
        std::memcpy(padded, codes, static_cast<std::size_t>(count) * size);
        codes = padded;
    }
    switch (format) {
        case Format::f16:
            return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(codes)));
        case Format::bf16:
            return _mm256_castsi256_ps(_mm256_slli_epi32(
                _mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(codes))), 16));
        case Format::tf32:
            return _mm256_castsi256_ps(
                _mm256_and_si256(_mm256_loadu_si256(static_cast<const __m256i*>(codes)),
                                 _mm256_set1_epi32(static_cast<int>(0xffffe000u))));
        default: {
            const __m256i index =
                _mm256_cvtepu8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(codes)));
            return _mm256_i32gather_ps(value_table(format).data(), index, 4);
        }
    }
}

struct Split {
    __m256 values;      // NaN and infinity replaced by zero
    __m256i exponents;  // kNoExponent for zeros
    int special;        // one bit a lane
};

Split split(__m256 x, int min_exponent) {
    const __m256i bits = _mm256_castps_si256(x);
    const __m256i field = _mm256_and_si256(_mm256_srli_epi32(bits, 23), _mm256_set1_epi32(255));
    const __m256i special = _mm256_cmpeq_epi32(field, _mm256_set1_epi32(255));
    const __m256 values = _mm256_andnot_ps(_mm256_castsi256_ps(special), x);
    return {values, accumulator_exponents(values, min_exponent),
            _mm256_movemask_ps(_mm256_castsi256_ps(special))};
}

int least_exponent(Format format) { return 1 - info(format).bias; }

int code_bytes(Format format) { return info(format).bits >= 8 ? info(format).bits / 8 : 1; }

__m256i two_halves(__m256i low, __m256i high) {
    return _mm256_blend_epi16(low, _mm256_slli_epi32(high, 16), 0xaa);
}

void decode_a(Planes& planes, const Model& model, const void* a, int m, int k, int padded_k) {
    const int rows = (m + 1) & ~1, least = least_exponent(model.a), size = code_bytes(model.a);
    float* values = grow(planes.a_values, static_cast<std::size_t>(rows) * padded_k);
    std::int32_t* exponents = grow(planes.a_exponents, static_cast<std::size_t>(rows) / 2 * padded_k);
    std::uint8_t* special = grow(planes.a_special, rows);
    const auto* codes = static_cast<const std::uint8_t*>(a);
    for (int row = 0; row < rows; row += 2) {
        const bool second = row + 1 < m;
        int low_special = 0, high_special = 0;
        for (int at = 0; at < k; at += kLanes) {
            const auto* source = codes + (static_cast<std::size_t>(row) * k + at) * size;
            const int count = std::min(kLanes, k - at);
            const Split low = split(decode8(model.a, source, count), least);
            const Split high = split(
                second ? decode8(model.a, source + static_cast<std::size_t>(k) * size, count)
                       : _mm256_setzero_ps(),
                least);
            low_special |= low.special;
            high_special |= high.special;
            _mm256_storeu_ps(values + static_cast<std::size_t>(row) * padded_k + at, low.values);
            _mm256_storeu_ps(values + static_cast<std::size_t>(row + 1) * padded_k + at, high.values);
            _mm256_storeu_si256(
                reinterpret_cast<__m256i*>(exponents + static_cast<std::size_t>(row) / 2 * padded_k + at),
                two_halves(low.exponents, high.exponents));
        }
        special[row] = low_special != 0;
        special[row + 1] = high_special != 0;
    }
}

void decode_b(Planes& planes, const Model& model, const void* b, int n, int k, int padded_k) {
    const int blocks = (n + kLanes - 1) / kLanes, size = code_bytes(model.b);
    const int least = least_exponent(model.b);
    const std::size_t plane = static_cast<std::size_t>(padded_k) * kLanes;
    float* values = grow(planes.b_values, blocks * plane);
    std::int32_t* exponents = grow(planes.b_exponents, blocks * plane);
    std::uint8_t* special = grow(planes.b_special, blocks);
    const auto* codes = static_cast<const std::uint8_t*>(b);
    for (int block = 0; block < blocks; ++block) {
        special[block] = 0;
        for (int at = 0; at < k; at += kLanes) {
            __m256 lines[kLanes];
            for (int lane = 0; lane < kLanes; ++lane) {
                const int column = block * kLanes + lane;
                const auto* source = codes + (static_cast<std::size_t>(column) * k + at) * size;
                lines[lane] = column < n ? decode8(model.b, source, std::min(kLanes, k - at))
                                         : _mm256_setzero_ps();
            }
            transpose8(lines);
            for (int i = 0; i < kLanes; ++i) {
                const Split part = split(lines[i], least);
                const std::size_t index = block * plane + static_cast<std::size_t>(at + i) * kLanes;
                special[block] |= static_cast<std::uint8_t>(part.special);
                _mm256_storeu_ps(values + index, part.values);
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(exponents + index),
                                    two_halves(part.exponents, part.exponents));
            }
        }
    }
}

// One pass over k0 <= k < k0 + count for a pair of rows and a block of columns.
struct Tile {
    const Model& model;
    const float* a;                // first row; the second is a_stride later
    std::ptrdiff_t a_stride;
    const std::int32_t* a_exponents;
    const float* b;
    const std::int32_t* b_exponents;
    int count;
};

struct Finished {
    __m256 result;
    int redo;  // lanes that the scalar rule must compute
};

inline Finished finish(const Model& model, __m256d low, __m256d high, __m256 c, __m256i largest,
                       __m256i redo) {
    const __m256i exponent = _mm256_sub_epi32(_mm256_set1_epi32(model.fraction_bits), largest);
    const __m256 up = power_of_two(exponent);
    const __m256 down = power_of_two(_mm256_sub_epi32(_mm256_setzero_si256(), exponent));
    const auto half = [&](__m256d sum, __m128 c_half, __m128 up_half, __m128 down_half) {
        const __m256d c_term =
            truncate(_mm256_mul_pd(_mm256_cvtps_pd(c_half), _mm256_cvtps_pd(up_half)));
        const __m256d exact =
            _mm256_mul_pd(_mm256_add_pd(sum, c_term), _mm256_cvtps_pd(down_half));
        return cut_results(exact, keep_mask(model), model.accumulator == Format::f16);
    };
    const __m128 result_low = half(low, low_half(c), low_half(up), low_half(down));
    const __m128 result_high = half(high, high_half(c), high_half(up), high_half(down));
    return {_mm256_insertf128_ps(_mm256_castps128_ps256(result_low), result_high, 1),
            _mm256_movemask_ps(_mm256_castsi256_ps(redo))};
}

// kCount: a trip count known to the compiler, or 0.
template <int kCount>
void tile(const Tile& t, const __m256 (&c)[2], const __m256i (&scale)[2], Finished (&out)[2]) {
    const int count = kCount ? kCount : t.count;
    __m256i top = _mm256_set1_epi16(2 * kNoExponent);
    for (int k = 0; k < count; ++k) {
        const __m256i eb = _mm256_loadu_si256(
            reinterpret_cast<const __m256i*>(t.b_exponents + static_cast<std::ptrdiff_t>(k) * kLanes));
        top = _mm256_max_epi16(top, _mm256_add_epi16(_mm256_set1_epi32(t.a_exponents[k]), eb));
    }
    const int least = least_exponent(t.model.accumulator);
    __m256i products[2] = {_mm256_srai_epi32(_mm256_slli_epi32(top, 16), 16),
                           _mm256_srai_epi32(top, 16)};
    __m256i largest[2], redo[2];
    __m256 up[2];
    for (int row = 0; row < 2; ++row) {
        __m256i e = _mm256_max_epi32(_mm256_add_epi32(products[row], scale[row]),
                                     accumulator_exponents(c[row], least));
        const __m256i nothing = _mm256_cmpgt_epi32(_mm256_set1_epi32(kNothing), e);
        e = _mm256_andnot_si256(nothing, e);
        redo[row] = _mm256_or_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(kLeast), e),
                                    _mm256_cmpgt_epi32(e, _mm256_set1_epi32(kMost)));
        largest[row] = e;
        const __m256i shift = _mm256_add_epi32(
            _mm256_sub_epi32(_mm256_set1_epi32(t.model.fraction_bits), e), scale[row]);
        up[row] = power_of_two(_mm256_min_epi32(_mm256_max_epi32(shift, _mm256_set1_epi32(-126)),
                                                _mm256_set1_epi32(127)));
    }
    __m256d low[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
    __m256d high[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
    for (int first = 0; first < count; first += kSegment) {
        const int last = kCount ? std::min(kCount, first + kSegment) : std::min(count, first + kSegment);
        __m256i sum[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        for (int k = first; k < last; ++k) {
            const __m256 b = _mm256_loadu_ps(t.b + static_cast<std::ptrdiff_t>(k) * kLanes);
            for (int row = 0; row < 2; ++row) {
                const __m256 product = _mm256_mul_ps(_mm256_broadcast_ss(t.a + row * t.a_stride + k), b);
                sum[row] = _mm256_add_epi32(sum[row],
                                            _mm256_cvttps_epi32(_mm256_mul_ps(product, up[row])));
            }
        }
        for (int row = 0; row < 2; ++row) {
            low[row] = _mm256_add_pd(low[row], _mm256_cvtepi32_pd(low_half(sum[row])));
            high[row] = _mm256_add_pd(high[row], _mm256_cvtepi32_pd(high_half(sum[row])));
        }
    }
    for (int row = 0; row < 2; ++row) {
        out[row] = finish(t.model, low[row], high[row], c[row], largest[row], redo[row]);
    }
}

void run_tile(const Tile& t, const __m256 (&c)[2], const __m256i (&scale)[2], Finished (&out)[2]) {
    switch (t.count) {
        case 8: return tile<8>(t, c, scale, out);
        case 16: return tile<16>(t, c, scale, out);
        case 32: return tile<32>(t, c, scale, out);
        default: return tile<0>(t, c, scale, out);
    }
}

// The exponent of a ue8m0 scale; a NaN is dealt with by the caller.
int scale_exponent(std::uint8_t code) { return code == 0xff ? 0 : code - 127; }

struct Job {
    const Model& model;
    Shape shape;
    MmaOperands operands;
    const Planes& planes;
    int padded_k;
    int k0;
    int count;
};

std::uint32_t redo_one(const Job& job, int row, int column, std::uint32_t c) {
    const auto* a = static_cast<const std::uint8_t*>(job.operands.a) +
                    static_cast<std::size_t>(row) * row_bytes(job.model, job.model.a, job.shape.k);
    const auto* b = static_cast<const std::uint8_t*>(job.operands.b) +
                    static_cast<std::size_t>(column) * row_bytes(job.model, job.model.b, job.shape.k);
    if (job.model.scheme == Scheme::fused) return fused_chunk(job.model, a, b, job.k0, job.count, c);
    const std::ptrdiff_t scales = job.shape.k / job.model.scale_block;
    return scaled_chunk(job.model, a, b, job.operands.scale_a + row * scales,
                        job.operands.scale_b + column * scales, job.k0, job.count, c);
}

// Scale exponents of one row times eight columns; sets lanes of `nan` where a scale is NaN.
__m256i block_scales(const Job& job, int row, int block, int& nan) {
    alignas(32) std::int32_t sums[kLanes] = {};
    const int scales = job.shape.k / job.model.scale_block, at = job.k0 / job.model.scale_block;
    const std::uint8_t a = job.operands.scale_a[static_cast<std::ptrdiff_t>(row) * scales + at];
    const int columns = std::min(kLanes, job.shape.n - block * kLanes);
    for (int lane = 0; lane < columns; ++lane) {
        const std::uint8_t b =
            job.operands.scale_b[static_cast<std::ptrdiff_t>(block * kLanes + lane) * scales + at];
        sums[lane] = scale_exponent(a) + scale_exponent(b);
        nan |= (a == 0xff || b == 0xff) << lane;
    }
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(sums));
}

void run_block(const Job& job, int row, int block) {
    const Model& model = job.model;
    const std::size_t plane = static_cast<std::size_t>(job.padded_k) * kLanes;
    const std::size_t b_at = block * plane + static_cast<std::size_t>(job.k0) * kLanes;
    const Tile t{model,
                 job.planes.a_values.data() + static_cast<std::size_t>(row) * job.padded_k + job.k0,
                 job.padded_k,
                 job.planes.a_exponents.data() + static_cast<std::size_t>(row) / 2 * job.padded_k + job.k0,
                 job.planes.b_values.data() + b_at,
                 job.planes.b_exponents.data() + b_at,
                 job.count};
    const int columns = std::min(kLanes, job.shape.n - block * kLanes);
    const int rows = std::min(2, job.shape.m - row);
    const std::size_t first = static_cast<std::size_t>(row) * job.shape.n + block * kLanes;
    __m256 c[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    __m256i scale[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    int redo[2] = {};
    for (int i = 0; i < rows; ++i) {
        c[i] = load_accumulators(model, job.operands.c, first + i * job.shape.n, columns);
        redo[i] = job.planes.a_special[row + i] ? 255 : job.planes.b_special[block];
        if (model.scheme == Scheme::scaled_fused) scale[i] = block_scales(job, row + i, block, redo[i]);
    }
    Finished out[2];
    run_tile(t, c, scale, out);
    for (int i = 0; i < rows; ++i) {
        const std::size_t index = first + i * job.shape.n;
        const int lanes = (redo[i] | out[i].redo) & ((1 << columns) - 1);
        std::uint32_t codes[kLanes] = {};
        for (int lane = 0; lanes >> lane; ++lane) {
            if (!(lanes >> lane & 1)) continue;
            codes[lane] = redo_one(job, row + i, block * kLanes + lane,
                                   load_accumulator(model, job.operands.c, index + lane));
        }
        store_results(model, job.operands.d, index, columns, out[i].result);
        for (int lane = 0; lanes >> lane; ++lane) {
            if (lanes >> lane & 1) store_accumulator(model, job.operands.d, index + lane, codes[lane]);
        }
    }
}

}  // namespace

void fused_fast(const Model& model, Shape shape, const MmaOperands& operands) {
    // The margins of kLeast, kMost and kSegment hold up to F = 25; one scale serves a whole sum.
    const bool one_scale = model.scheme == Scheme::fused || model.chunk <= model.scale_block;
    if (model.fraction_bits > 25 || !one_scale) return mma_reference(model, shape, operands);
    static thread_local Planes planes;
    const int padded_k = (shape.k + kLanes - 1) / kLanes * kLanes;
    decode_a(planes, model, operands.a, shape.m, shape.k, padded_k);
    decode_b(planes, model, operands.b, shape.n, shape.k, padded_k);
    MmaOperands step = operands;
    for (int k0 = 0; k0 < shape.k; k0 += model.chunk) {
        const Job job{model, shape, step, planes, padded_k, k0, std::min(model.chunk, shape.k - k0)};
        for (int block = 0; block * kLanes < shape.n; ++block) {
            for (int row = 0; row < shape.m; row += 2) run_block(job, row, block);
        }
        step.c = step.d;
    }
}

}  // namespace ww::numerics::detail

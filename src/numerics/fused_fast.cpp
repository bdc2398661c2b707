// SPDX-License-Identifier: Apache-2.0
// Fused sums eight outputs at a time. Products are exact in f32, so a term is
// trunc(a * b * 2^(F - largest)) = cvttps(mul(mul(a, b), scale)); exponents run beside them as
// 16-bit integers, two rows a register. Outputs with NaN, infinity or a tiny or huge sum go to the
// scalar rule.
#include <algorithm>

#include "numerics/fused.hpp"
#include "numerics/simd.hpp"

namespace ww::numerics::detail {
namespace {

// Below kLeast a product may have lost bits to f32's underflow, above kMost it may overflow.
constexpr int kLeast = -100, kMost = 125;
constexpr int kSegment = 16;  // terms whose sum fits 32 bits: less than 16 * 4 * 2^25
constexpr int kRows = 4;      // of one tile, which is eight columns wide

struct Planes {
    std::vector<float> a_values;            // [row][k]
    std::vector<std::int32_t> a_exponents;  // [row pair][k]: two 16-bit exponents
    std::vector<std::uint8_t> a_special;    // [row]: has NaN or infinity
    std::vector<float> b_values;            // [column block][k][8]
    std::vector<std::int32_t> b_exponents;  // [column block][k][8]: the exponent twice
    std::vector<std::uint8_t> b_special;    // [column block]: one bit a column
};

// fp8, fp6 and fp4 are f16 with fewer bits: moved into place, their values are f16's times a power
// of two.
__m256 decode_narrow(Format format, __m128i codes) {
    const FormatInfo& traits = info(format);
    const __m128i words = _mm_cvtepu8_epi16(codes);
    const __m128i sign_mask = _mm_set1_epi16(static_cast<short>(1 << (traits.bits - 1)));
    const __m128i sign = _mm_and_si128(words, sign_mask);
    const __m128i size = _mm_and_si128(words, _mm_sub_epi16(sign_mask, _mm_set1_epi16(1)));
    const __m128i half =
        _mm_or_si128(_mm_sll_epi16(sign, _mm_cvtsi32_si128(16 - traits.bits)),
                     _mm_sll_epi16(size, _mm_cvtsi32_si128(10 - traits.mantissa_bits)));
    const __m256 factor = power_of_two(_mm256_set1_epi32(15 - traits.bias));
    const __m256 values = _mm256_mul_ps(_mm256_cvtph_ps(half), factor);
    if (format != Format::e4m3) return values;
    const __m256i nan = _mm256_cvtepi16_epi32(_mm_cmpeq_epi16(size, _mm_set1_epi16(0x7f)));
    return _mm256_or_ps(values, _mm256_castsi256_ps(nan));
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
        default:
            return decode_narrow(format, _mm_loadl_epi64(static_cast<const __m128i*>(codes)));
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
    const int rows = (m + kRows - 1) / kRows * kRows, least = least_exponent(model.a),
              size = code_bytes(model.a);
    float* values = grow(planes.a_values, static_cast<std::size_t>(rows) * padded_k);
    std::int32_t* exponents =
        grow(planes.a_exponents, static_cast<std::size_t>(rows) / 2 * padded_k);
    std::uint8_t* special = grow(planes.a_special, rows);
    const auto* codes = static_cast<const std::uint8_t*>(a);
    for (int row = 0; row < rows; row += 2) {
        const bool first = row < m, second = row + 1 < m;
        int low_special = 0, high_special = 0;
        for (int at = 0; at < k; at += kLanes) {
            const auto* source = codes + (static_cast<std::size_t>(row) * k + at) * size;
            const int count = std::min(kLanes, k - at);
            const Split low =
                split(first ? decode8(model.a, source, count) : _mm256_setzero_ps(), least);
            const Split high =
                split(second ? decode8(model.a, source + static_cast<std::size_t>(k) * size, count)
                             : _mm256_setzero_ps(),
                      least);
            low_special |= low.special;
            high_special |= high.special;
            _mm256_storeu_ps(values + static_cast<std::size_t>(row) * padded_k + at, low.values);
            _mm256_storeu_ps(values + static_cast<std::size_t>(row + 1) * padded_k + at,
                             high.values);
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(
                                    exponents + static_cast<std::size_t>(row) / 2 * padded_k + at),
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

// One pass over k0 <= k < k0 + count for kRows rows and eight columns.
struct Tile {
    const Model& model;
    const float* a;                   // kRows rows
    const std::int32_t* a_exponents;  // kRows / 2 rows
    std::ptrdiff_t a_stride;          // between rows of both
    const float* b;
    const std::int32_t* b_exponents;
    int count;
    __m256 c[kRows];
    __m256i scale[kRows];  // exponents of the block scales, or zeros
    __m256 result[kRows];
    int redo[kRows];  // lanes that the scalar rule must compute
};

// What the conversion of a sum needs.
struct Window {
    __m256i largest;    // exponent
    __m256 up, down;    // 2^(F - largest) and its inverse
    __m256 product_up;  // the same for products, which are not yet scaled
    __m256i redo;
};

inline Window window(const Model& model, __m256i products, __m256i scale, __m256 c) {
    const int least = least_exponent(model.accumulator);
    __m256i largest =
        _mm256_max_epi32(_mm256_add_epi32(products, scale), accumulator_exponents(c, least));
    const __m256i nothing = _mm256_cmpgt_epi32(_mm256_set1_epi32(kNothing), largest);
    largest = _mm256_andnot_si256(nothing, largest);
    const __m256i exponent = _mm256_sub_epi32(_mm256_set1_epi32(model.fraction_bits), largest);
    Window out;
    out.largest = largest;
    out.redo = _mm256_or_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(kLeast), largest),
                               _mm256_cmpgt_epi32(largest, _mm256_set1_epi32(kMost)));
    out.up = power_of_two(exponent);
    out.down = power_of_two(_mm256_sub_epi32(_mm256_setzero_si256(), exponent));
    out.product_up = out.up;
    if (model.scheme == Scheme::scaled_fused) {
        const __m256i shift = _mm256_add_epi32(exponent, scale);
        out.product_up = power_of_two(_mm256_min_epi32(
            _mm256_max_epi32(shift, _mm256_set1_epi32(-126)), _mm256_set1_epi32(127)));
    }
    return out;
}

// The sum fits 32 bits, or the lane is given back: c is below 2^26 here, so only sums next to the
// limit are.
inline void finish_narrow(Tile& t, int row, const Window& w, __m256i products) {
    const __m256i c = _mm256_cvttps_epi32(_mm256_mul_ps(t.c[row], w.up));
    const __m256i sum = _mm256_add_epi32(products, c);
    const __m256i wrapped =
        _mm256_and_si256(_mm256_xor_si256(products, sum), _mm256_xor_si256(c, sum));
    const __m256i size = _mm256_abs_epi32(sum);
    // cvtepi32 rounds up to 2^31 from here on, which does not come back.
    const __m256i near_limit = _mm256_cmpgt_epi32(size, _mm256_set1_epi32(0x7fffff7f));
    const __m256i nearest = _mm256_castps_si256(_mm256_cvtepi32_ps(size));
    const __m256i back = _mm256_cvttps_epi32(_mm256_castsi256_ps(nearest));
    // Adding the comparison's -1 steps down where rounding went up.
    __m256i cut = _mm256_add_epi32(nearest, _mm256_cmpgt_epi32(back, size));
    if (t.model.accumulator == Format::f16) {
        const __m256i exactly = _mm256_cmpeq_epi32(back, size);
        cut = _mm256_or_si256(cut, _mm256_andnot_si256(exactly, _mm256_set1_epi32(1)));
    } else {
        cut = _mm256_and_si256(cut, _mm256_set1_epi32(-(1 << (23 - t.model.output_fraction_bits))));
    }
    const __m256 sign = _mm256_and_ps(_mm256_castsi256_ps(sum), _mm256_set1_ps(-0.0f));
    t.result[row] = _mm256_mul_ps(_mm256_or_ps(_mm256_castsi256_ps(cut), sign), w.down);
    t.redo[row] = _mm256_movemask_ps(
        _mm256_castsi256_ps(_mm256_or_si256(w.redo, _mm256_or_si256(wrapped, near_limit))));
}

// Any sum, in f64.
inline void finish_wide(Tile& t, int row, const Window& w, __m256d low, __m256d high) {
    const auto half = [&](__m256d sum, __m128 c, __m128 up, __m128 down) {
        const __m256d c_term = truncate(_mm256_mul_pd(_mm256_cvtps_pd(c), _mm256_cvtps_pd(up)));
        const __m256d exact = _mm256_mul_pd(_mm256_add_pd(sum, c_term), _mm256_cvtps_pd(down));
        return cut_results(exact, keep_mask(t.model), t.model.accumulator == Format::f16);
    };
    const __m128 result_low = half(low, low_half(t.c[row]), low_half(w.up), low_half(w.down));
    const __m128 result_high = half(high, high_half(t.c[row]), high_half(w.up), high_half(w.down));
    t.result[row] = _mm256_set_m128(result_high, result_low);
    t.redo[row] = _mm256_movemask_ps(_mm256_castsi256_ps(w.redo));
}

// Largest exponents of the products, of the rows 2 * pair and 2 * pair + 1.
template <int kCount>
inline __m256i largest_products(const Tile& t, int pair) {
    const int count = kCount ? kCount : t.count;
    const std::int32_t* a = t.a_exponents + pair * t.a_stride;
    __m256i top = _mm256_set1_epi16(2 * kNoExponent);
    for (int k = 0; k < count; ++k) {
        const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(
            t.b_exponents + static_cast<std::ptrdiff_t>(k) * kLanes));
        top = _mm256_max_epi16(top, _mm256_add_epi16(_mm256_set1_epi32(a[k]), b));
    }
    return top;
}

inline void add_terms(const Tile& t, int first, int last, const Window (&w)[kRows],
                      __m256i (&sum)[kRows]) {
    for (int k = first; k < last; ++k) {
        const __m256 b = _mm256_loadu_ps(t.b + static_cast<std::ptrdiff_t>(k) * kLanes);
        for (int row = 0; row < kRows; ++row) {
            const __m256 product =
                _mm256_mul_ps(_mm256_broadcast_ss(t.a + row * t.a_stride + k), b);
            sum[row] = _mm256_add_epi32(
                sum[row], _mm256_cvttps_epi32(_mm256_mul_ps(product, w[row].product_up)));
        }
    }
}

// kCount: a trip count known to the compiler, or 0.
template <int kCount>
void run_tile(Tile& t) {
    const int count = kCount ? kCount : t.count;
    Window w[kRows];
    for (int pair = 0; pair < kRows / 2; ++pair) {
        const __m256i top = largest_products<kCount>(t, pair);
        const int row = 2 * pair;
        w[row] = window(t.model, _mm256_srai_epi32(_mm256_slli_epi32(top, 16), 16), t.scale[row],
                        t.c[row]);
        w[row + 1] = window(t.model, _mm256_srai_epi32(top, 16), t.scale[row + 1], t.c[row + 1]);
    }
    const bool narrow = count <= kSegment || t.model.fraction_bits <= 23;
    if (narrow) {
        __m256i sum[kRows] = {};
        add_terms(t, 0, count, w, sum);
        for (int row = 0; row < kRows; ++row) finish_narrow(t, row, w[row], sum[row]);
        return;
    }
    __m256d low[kRows] = {}, high[kRows] = {};
    for (int first = 0; first < count; first += kSegment) {
        __m256i sum[kRows] = {};
        add_terms(t, first, std::min(count, first + kSegment), w, sum);
        for (int row = 0; row < kRows; ++row) {
            low[row] = _mm256_add_pd(low[row], _mm256_cvtepi32_pd(low_half(sum[row])));
            high[row] = _mm256_add_pd(high[row], _mm256_cvtepi32_pd(high_half(sum[row])));
        }
    }
    for (int row = 0; row < kRows; ++row) finish_wide(t, row, w[row], low[row], high[row]);
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
    const auto* b =
        static_cast<const std::uint8_t*>(job.operands.b) +
        static_cast<std::size_t>(column) * row_bytes(job.model, job.model.b, job.shape.k);
    if (job.model.scheme == Scheme::fused)
        return fused_chunk(job.model, a, b, job.k0, job.count, c);
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

// Lanes in `redo` by the scalar rule; c is read before d is written, which may be the same memory.
void redo_lanes(const Job& job, int row, int block, int redo, int columns, __m256 result) {
    const std::size_t index = static_cast<std::size_t>(row) * job.shape.n + block * kLanes;
    std::uint32_t codes[kLanes] = {};
    for (int lane = 0; lane < columns; ++lane) {
        if (!(redo >> lane & 1)) continue;
        codes[lane] = redo_one(job, row, block * kLanes + lane,
                               load_accumulator(job.model, job.operands.c, index + lane));
    }
    store_results(job.model, job.operands.d, index, columns, result);
    for (int lane = 0; lane < columns; ++lane) {
        if (redo >> lane & 1)
            store_accumulator(job.model, job.operands.d, index + lane, codes[lane]);
    }
}

// Rows row .. row + kRows - 1 and the columns of one block.
void run_block(const Job& job, int row, int block) {
    const Model& model = job.model;
    const Planes& planes = job.planes;
    const std::size_t plane = static_cast<std::size_t>(job.padded_k) * kLanes;
    const std::size_t b_at = block * plane + static_cast<std::size_t>(job.k0) * kLanes;
    const std::size_t a_at = static_cast<std::size_t>(row) * job.padded_k + job.k0;
    const std::size_t pair_at = static_cast<std::size_t>(row) / 2 * job.padded_k + job.k0;
    const int columns = std::min(kLanes, job.shape.n - block * kLanes);
    const int rows = std::min(kRows, job.shape.m - row);
    const std::size_t first = static_cast<std::size_t>(row) * job.shape.n + block * kLanes;
    Tile t{model,
           planes.a_values.data() + a_at,
           planes.a_exponents.data() + pair_at,
           job.padded_k,
           planes.b_values.data() + b_at,
           planes.b_exponents.data() + b_at,
           job.count,
           {},
           {},
           {},
           {}};
    int redo[kRows] = {};
    for (int i = 0; i < rows; ++i) {
        t.c[i] = load_accumulators(model, job.operands.c, first + i * job.shape.n, columns);
        redo[i] = planes.a_special[row + i] ? 255 : planes.b_special[block];
        if (model.scheme == Scheme::scaled_fused)
            t.scale[i] = block_scales(job, row + i, block, redo[i]);
    }
    switch (job.count) {
        case 8:
            run_tile<8>(t);
            break;
        case 16:
            run_tile<16>(t);
            break;
        case 32:
            run_tile<32>(t);
            break;
        default:
            run_tile<0>(t);
            break;
    }
    for (int i = 0; i < rows; ++i) {
        const int lanes = (redo[i] | t.redo[i]) & ((1 << columns) - 1);
        if (lanes != 0) {
            redo_lanes(job, row + i, block, lanes, columns, t.result[i]);
        } else {
            store_results(model, job.operands.d, first + i * job.shape.n, columns, t.result[i]);
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
        const Job job{
            model, shape, step, planes, padded_k, k0, std::min(model.chunk, shape.k - k0)};
        for (int block = 0; block * kLanes < shape.n; ++block) {
            for (int row = 0; row < shape.m; row += kRows) run_block(job, row, block);
        }
        step.c = step.d;
    }
}

}  // namespace ww::numerics::detail

// SPDX-License-Identifier: Apache-2.0
// Fused sums eight outputs at a time, whatever the operands are. Products are exact in f32, so a
// term is trunc(a * b * 2^(F - largest)) = cvttps(mul(mul(a, b), scale)); exponents run beside them
// as 16-bit integers, two rows a register. Outputs with NaN, infinity or a tiny or huge sum go to
// the scalar rule.
#include <algorithm>

#include "numerics/fused.hpp"
#include "numerics/fused_tiles.hpp"

namespace ww::numerics::detail {
namespace {

// One pass over k0 <= k < k0 + count for kRows rows and eight columns.
struct Tile {
    explicit Tile(const Model& rule) : model(rule) {}
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
    const int least = 1 - info(model.accumulator).bias;
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

}  // namespace

void careful_tile(const Job& job, int row, int block) {
    const Model& model = job.model;
    const Planes& planes = job.planes;
    const std::size_t plane = static_cast<std::size_t>(job.shape.k) * kLanes;
    const std::size_t b_at = block * plane + static_cast<std::size_t>(job.k0) * kLanes;
    const std::size_t a_at = static_cast<std::size_t>(row) * job.shape.k + job.k0;
    const std::size_t pair_at = static_cast<std::size_t>(row) / 2 * job.shape.k + job.k0;
    const int columns = std::min(kLanes, job.shape.n - block * kLanes);
    const int rows = std::min(kRows, job.shape.m - row);
    const std::size_t first = static_cast<std::size_t>(row) * job.shape.n + block * kLanes;
    Tile t(model);  // filled field by field: clearing it first costs as much as a sum
    t.a = planes.a_values.data() + a_at;
    t.a_exponents = planes.a_exponents.data() + pair_at;
    t.a_stride = job.shape.k;
    t.b = planes.b_values.data() + b_at;
    t.b_exponents = planes.b_exponents.data() + b_at;
    t.count = job.count;
    int redo[kRows];
    for (int i = 0; i < kRows; ++i) {
        t.scale[i] = _mm256_setzero_si256();
        t.c[i] = _mm256_setzero_ps();
        redo[i] = 0;
        if (i >= rows) continue;
        t.c[i] = load_accumulators(model, job.operands.c, first + i * job.shape.n, columns);
        redo[i] = planes.a_special[row + i] ? 255 : planes.b_special[block];
        if (model.scheme == Scheme::scaled_fused) {
            t.scale[i] = block_scales(job, row + i, block, redo[i]);
        }
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

void fused_fast(const Model& model, Shape shape, const MmaOperands& operands) {
    // The margins of kLeast, kMost and kSegment hold up to F = 25; one scale serves a whole sum.
    const bool one_scale = model.scheme == Scheme::fused || model.chunk <= model.scale_block;
    if (model.fraction_bits > 25 || !one_scale) return mma_reference(model, shape, operands);
    static thread_local Planes planes;
    decode_operands(planes, model, shape, operands);
    MmaOperands step = operands;
    for (int k0 = 0; k0 < shape.k; k0 += model.chunk) {
        const Job job{model, shape, step, planes, k0, std::min(model.chunk, shape.k - k0)};
        if (!quick_tiles(job)) {
            for (int block = 0; block * kLanes < shape.n; ++block) {
                for (int row = 0; row < shape.m; row += kRows) careful_tile(job, row, block);
            }
        }
        step.c = step.d;
    }
}

}  // namespace ww::numerics::detail

// SPDX-License-Identifier: Apache-2.0
// One truncated fused sum, scalar: terms, largest exponent, truncation, exact sum, conversion.
#include "numerics/fused.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/check.hpp"
#include "numerics/half.hpp"

namespace ww::numerics::detail {
namespace {

// significand * 2^shift toward zero, sign-magnitude.
std::int64_t shift_toward_zero(std::int64_t significand, int shift) {
    if (shift >= 0) return significand << shift;
    if (shift < -62) return 0;
    return significand < 0 ? -(-significand >> -shift) : significand >> -shift;
}

}  // namespace

Operand unpack(Format format, std::uint64_t code) {
    const FormatInfo& traits = info(format);
    Operand out;
    const double value = decode(format, code);
    if (value != value) {
        out.kind = Operand::Class::nan;
        return out;
    }
    if (format == Format::tf32) code >>= 13;
    out.negative =
        traits.is_signed && ((code >> (traits.exponent_bits + traits.mantissa_bits)) & 1);
    if (std::isinf(value)) {
        out.kind = Operand::Class::infinite;
        return out;
    }
    const auto field =
        static_cast<int>(code >> traits.mantissa_bits) & ((1 << traits.exponent_bits) - 1);
    const auto mantissa =
        static_cast<std::int64_t>(code & ((std::uint64_t{1} << traits.mantissa_bits) - 1));
    out.fraction_bits = traits.mantissa_bits;
    out.exponent = (traits.mantissa_bits == 0 ? field : std::max(field, 1)) - traits.bias;
    // ue8m0 has no mantissa and no subnormals: its significand is always 1.
    const bool leading_one = field != 0 || traits.mantissa_bits == 0;
    out.significand = mantissa | (static_cast<std::int64_t>(leading_one) << traits.mantissa_bits);
    return out;
}

void FusedSum::add_term(const Operand& a, const Operand& b, int scale_exponent) {
    using Class = Operand::Class;
    if (a.kind == Class::finite && b.kind == Class::finite) {
        const std::int64_t product = a.significand * b.significand;
        add_exact(a.negative != b.negative ? -product : product, a.fraction_bits + b.fraction_bits,
                  a.exponent + b.exponent + scale_exponent);
        return;
    }
    const bool zero_times_infinity = (a.kind == Class::finite && a.significand == 0) ||
                                     (b.kind == Class::finite && b.significand == 0);
    if (a.kind == Class::nan || b.kind == Class::nan || zero_times_infinity) {
        has_nan_ = true;
    } else {
        (a.negative != b.negative ? has_negative_infinity_ : has_positive_infinity_) = true;
    }
}

void FusedSum::add_value(const Operand& c) {
    Operand one;
    one.significand = 1;
    add_term(c, one);
}

void FusedSum::add_exact(std::int64_t significand, int fraction_bits, int exponent) {
    WW_CHECK(count_ < kMaxTerms, "too many terms in one fused sum");
    terms_[count_++] = {significand, fraction_bits, significand == 0 ? kZeroExponent : exponent};
}

std::uint32_t FusedSum::result() const {
    const bool to_f16 = model_.accumulator == Format::f16;
    if (has_nan_ || (has_positive_infinity_ && has_negative_infinity_)) {
        return to_f16 ? kNanF16 : kNanF32;
    }
    if (has_positive_infinity_) return to_f16 ? 0x7c00u : 0x7f800000u;
    if (has_negative_infinity_) return to_f16 ? 0xfc00u : 0xff800000u;
    int largest = model_.min_exponent;
    for (int i = 0; i < count_; ++i) largest = std::max(largest, terms_[i].exponent);
    std::int64_t sum = 0;
    for (int i = 0; i < count_; ++i) {
        const Term& term = terms_[i];
        const int shift = model_.fraction_bits - term.fraction_bits - (largest - term.exponent);
        sum += shift_toward_zero(term.significand, shift);
    }
    const int exponent = largest - model_.fraction_bits;
    if (!to_f16) return cut_to_f32(sum, exponent, model_.output_fraction_bits);
    // Exact: a sum has fewer than 53 bits, and its scale is far from f64's limits.
    if (sum == 0) return 0;
    return static_cast<std::uint32_t>(
        encode(Format::f16, std::ldexp(static_cast<double>(sum), exponent)));
}

std::uint32_t cut_to_f32(std::int64_t sum, int exponent, int fraction_bits) {
    if (sum == 0) return 0;
    const std::uint32_t sign = sum < 0 ? 0x80000000u : 0;
    const std::uint64_t magnitude = sum < 0 ? -static_cast<std::uint64_t>(sum) : sum;
    const int top = exponent + 63 - std::countl_zero(magnitude);
    const int kept_exponent = std::max(top, -126);
    if (kept_exponent > 127) return sign | 0x7f800000u;
    const int drop = kept_exponent - fraction_bits - exponent;
    std::uint64_t kept = magnitude;  // in units of 2^(kept_exponent - fraction_bits)
    if (drop > 0) {
        kept = drop > 63 ? 0 : magnitude >> drop;
    } else {
        kept = magnitude << -drop;
    }
    if (kept == 0) return 0;
    kept <<= 23 - fraction_bits;
    // The leading bit of a normal result adds one to the exponent field.
    const auto field = static_cast<std::uint32_t>(kept_exponent + 126) << 23;
    return sign | (field + static_cast<std::uint32_t>(kept));
}

std::uint64_t load_code(const Model& model, Format format, const void* row, int index) {
    const auto* bytes = static_cast<const std::uint8_t*>(row);
    const int bits = info(format).bits;
    if (bits == 1) return (bytes[index / 8] >> (index % 8)) & 1;
    if (row_bytes(model, format, 2) == 1) return (bytes[index / 2] >> (index % 2 * 4)) & 15;
    std::uint64_t code = 0;
    const int size = std::max(1, bits / 8);
    std::memcpy(&code, bytes + static_cast<std::ptrdiff_t>(index) * size, size);
    return code;
}

std::uint32_t fused_chunk(const Model& model, const void* a_row, const void* b_row, int k0,
                          int count, std::uint32_t c) {
    FusedSum sum(model);
    sum.add_value(unpack(model.accumulator, c));
    for (int k = k0; k < k0 + count; ++k) {
        sum.add_term(unpack(model.a, load_code(model, model.a, a_row, k)),
                     unpack(model.b, load_code(model, model.b, b_row, k)));
    }
    return sum.result();
}

std::uint32_t scaled_chunk(const Model& model, const void* a_row, const void* b_row,
                           const std::uint8_t* scale_a, const std::uint8_t* scale_b, int k0,
                           int count, std::uint32_t c) {
    FusedSum sum(model);
    sum.add_value(unpack(model.accumulator, c));
    for (int k = k0; k < k0 + count; ++k) {
        const Operand sa = unpack(model.scale, scale_a[k / model.scale_block]);
        const Operand sb = unpack(model.scale, scale_b[k / model.scale_block]);
        if (sa.kind != Operand::Class::finite || sb.kind != Operand::Class::finite) sum.add_nan();
        sum.add_term(unpack(model.a, load_code(model, model.a, a_row, k)),
                     unpack(model.b, load_code(model, model.b, b_row, k)),
                     sa.exponent + sb.exponent);
    }
    return sum.result();
}

std::uint32_t grouped_chunk(const Model& model, const void* a_row, const void* b_row,
                            const std::uint8_t* scale_a, const std::uint8_t* scale_b, int k0,
                            int count, std::uint32_t c) {
    constexpr int kGroup = 16;
    FusedSum sum(model);
    sum.add_value(unpack(model.accumulator, c));
    for (int group = k0; group < k0 + count; group += kGroup) {
        std::int64_t quarters = 0;  // e2m1 products are multiples of 1/4
        for (int k = group; k < group + kGroup; ++k) {
            const double a = decode(model.a, load_code(model, model.a, a_row, k));
            const double b = decode(model.b, load_code(model, model.b, b_row, k));
            quarters += static_cast<std::int64_t>(a * b * 4.0);
        }
        const Operand sa = unpack(model.scale, scale_a[group / model.scale_block]);
        const Operand sb = unpack(model.scale, scale_b[group / model.scale_block]);
        if (sa.kind != Operand::Class::finite || sb.kind != Operand::Class::finite) sum.add_nan();
        sum.add_exact(quarters * sa.significand * sb.significand,
                      2 + sa.fraction_bits + sb.fraction_bits, sa.exponent + sb.exponent);
    }
    return sum.result();
}

void reorder_as_f16(Format format, const std::uint8_t* row, int k, std::uint16_t* out) {
    int next = 0;
    for (int half = 0; half < 2; ++half) {
        for (int i = 0; i < k; ++i) {
            if (i % 4 / 2 != half) continue;
            out[next++] = static_cast<std::uint16_t>(encode(Format::f16, decode(format, row[i])));
        }
    }
}

Model half_model(const Model& model, int k) {
    Model half = model;
    half.scheme = Scheme::fused;
    half.a = half.b = Format::f16;
    half.chunk = k / 2;
    return half;
}

std::uint32_t nearest_sum(const Model& model, std::uint32_t c, std::uint32_t s) {
    if (model.accumulator == Format::f16) {
        return f16_add(static_cast<std::uint16_t>(c), static_cast<std::uint16_t>(s));
    }
    return bits_of(add(float_of(c), float_of(s)));
}

}  // namespace ww::numerics::detail

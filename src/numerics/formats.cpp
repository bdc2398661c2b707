// SPDX-License-Identifier: Apache-2.0
// Decoding and encoding of every format by one table and one rounding routine.
#include "numerics/formats.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace ww::numerics {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr FormatInfo integer(std::string_view name, int bits, bool is_signed, double max_finite) {
    return {name, bits, 0, bits - is_signed, 0, is_signed, false, false, max_finite};
}

constexpr std::array kFormats = {
    FormatInfo{"none", 0, 0, 0, 0, false, false, false, 0.0},
    FormatInfo{"f64", 64, 11, 52, 1023, true, true, true, std::numeric_limits<double>::max()},
    FormatInfo{"f32", 32, 8, 23, 127, true, true, true, 0x1.fffffep127},
    FormatInfo{"tf32", 32, 8, 10, 127, true, true, true, 0x1.ffcp127},
    FormatInfo{"f16", 16, 5, 10, 15, true, true, true, 65504.0},
    FormatInfo{"bf16", 16, 8, 7, 127, true, true, true, 0x1.fep127},
    FormatInfo{"e5m2", 8, 5, 2, 15, true, true, true, 57344.0},
    FormatInfo{"e4m3", 8, 4, 3, 7, true, false, true, 448.0},
    FormatInfo{"e3m2", 6, 3, 2, 3, true, false, false, 28.0},
    FormatInfo{"e2m3", 6, 2, 3, 1, true, false, false, 7.5},
    FormatInfo{"e2m1", 4, 2, 1, 1, true, false, false, 6.0},
    FormatInfo{"ue8m0", 8, 8, 0, 127, false, false, true, 0x1p127},
    FormatInfo{"ue4m3", 8, 4, 3, 7, false, false, true, 448.0},
    integer("s4", 4, true, 7),
    integer("u4", 4, false, 15),
    integer("s8", 8, true, 127),
    integer("u8", 8, false, 255),
    integer("s16", 16, true, 32767),
    integer("u16", 16, false, 65535),
    integer("s32", 32, true, 2147483647.0),
    integer("u32", 32, false, 4294967295.0),
    integer("b1", 1, false, 1),
};
static_assert(kFormats.size() == static_cast<std::size_t>(Format::b1) + 1);

// tf32 codes sit in the upper bits of an f32.
constexpr int unused_low_bits(Format format) { return format == Format::tf32 ? 13 : 0; }

// Should a magnitude that lies between two neighbours move to the larger one? `fraction` is the
// part cut off in units of 2^-64 of the gap; `sticky`: there is more below it.
bool rounds_away(Rounding rounding, bool negative, bool odd, std::uint64_t fraction, bool sticky) {
    constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
    switch (rounding) {
        case Rounding::rn:
            return fraction > kHalf || (fraction == kHalf && (sticky || odd));
        case Rounding::rna:
            return fraction >= kHalf;
        case Rounding::rz:
            return false;
        case Rounding::rm:
            return negative && (fraction != 0 || sticky);
        case Rounding::rp:
            return !negative && (fraction != 0 || sticky);
    }
    return false;
}

// significand / 2^shift, rounded; shift > 0.
std::uint64_t shift_right(std::uint64_t significand, int shift, Rounding rounding, bool negative) {
    if (shift > 127) {
        return rounds_away(rounding, negative, false, 0, significand != 0) ? 1 : 0;
    }
    const unsigned __int128 wide = static_cast<unsigned __int128>(significand) << 64;
    const unsigned __int128 cut = wide >> shift;
    const bool sticky = (cut << shift) != wide;
    const auto kept = static_cast<std::uint64_t>(cut >> 64);
    const auto fraction = static_cast<std::uint64_t>(cut);
    return kept + rounds_away(rounding, negative, kept & 1, fraction, sticky);
}

struct Parts {
    bool negative;
    std::uint64_t significand;  // value = significand * 2^exponent, 53 bits unless zero
    int exponent;
};

Parts split_double(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const int field = static_cast<int>((bits >> 52) & 0x7ff);
    std::uint64_t significand = bits & ((std::uint64_t{1} << 52) - 1);
    int exponent = -1074;
    if (field != 0) {
        significand |= std::uint64_t{1} << 52;
        exponent = field - 1075;
    } else if (significand != 0) {
        const int shift = std::countl_zero(significand) - 11;
        significand <<= shift;
        exponent -= shift;
    }
    return {static_cast<bool>(bits >> 63), significand, exponent};
}

std::uint64_t encode_integer(const FormatInfo& format, double value, Rounding rounding) {
    if (value != value) return 0;
    const double low = format.is_signed ? -format.max_finite - 1.0 : 0.0;
    double rounded = value;
    if (std::fabs(value) < 0x1p53) {
        const Parts parts = split_double(value);
        const auto magnitude = parts.exponent >= 0 ? parts.significand << parts.exponent
                                                   : shift_right(parts.significand, -parts.exponent,
                                                                 rounding, parts.negative);
        rounded = parts.negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
    }
    rounded = std::fmin(std::fmax(rounded, low), format.max_finite);
    const auto mask = (std::uint64_t{1} << format.bits) - 1;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(rounded)) & mask;
}

std::uint64_t encode_ue8m0(double value, EncodeOptions options) {
    constexpr std::uint64_t kNanCode = 0xff, kMaxCode = 0xfe;
    if (value != value) return kNanCode;
    const std::uint64_t overflow = options.saturate ? kMaxCode : kNanCode;
    if (std::fabs(value) == kInfinity) return overflow;
    const Parts parts = split_double(value);
    // The code 0 stands for 2^-127: everything smaller, and zero, ends there.
    int exponent = parts.exponent + 52;
    if (parts.significand == 0 || exponent < -127) return 0;
    const std::uint64_t fraction = parts.significand << 12;
    // Between 2^e and 2^(e+1), so the neighbour's parity is that of the code.
    exponent += rounds_away(options.rounding, false, (exponent + 127) & 1, fraction, false);
    return exponent > 127 ? overflow : static_cast<std::uint64_t>(exponent + 127);
}

std::uint64_t max_code(const FormatInfo& format) {
    const std::uint64_t all =
        (std::uint64_t{1} << (format.exponent_bits + format.mantissa_bits)) - 1;
    if (format.has_infinity) return all - (std::uint64_t{1} << format.mantissa_bits);
    return format.has_nan ? all - 1 : all;
}

bool overflows_to_infinity(Rounding rounding, bool negative) {
    return rounding == Rounding::rn || rounding == Rounding::rna ||
           (rounding == Rounding::rm && negative) || (rounding == Rounding::rp && !negative);
}

// Magnitude code of a finite value, before the sign; max_code + 1 stands for overflow.
std::uint64_t round_magnitude(const FormatInfo& format, const Parts& parts, Rounding rounding) {
    if (parts.significand == 0) return 0;
    const int min_exponent = 1 - format.bias;
    const int exponent = std::max(parts.exponent + 52, min_exponent);
    if (exponent + format.bias >= (1 << format.exponent_bits)) return max_code(format) + 1;
    const int shift = (exponent - format.mantissa_bits) - parts.exponent;
    const std::uint64_t kept = shift > 0
                                   ? shift_right(parts.significand, shift, rounding, parts.negative)
                                   : parts.significand << -shift;
    // A carry out of the significand moves into the exponent field by itself.
    const std::uint64_t code =
        (static_cast<std::uint64_t>(exponent + format.bias - 1) << format.mantissa_bits) + kept;
    return std::min(code, max_code(format) + 1);
}

std::uint64_t encode_float(const FormatInfo& format, double value, EncodeOptions options) {
    const std::uint64_t max = max_code(format);
    const std::uint64_t all =
        (std::uint64_t{1} << (format.exponent_bits + format.mantissa_bits)) - 1;
    if (value != value) return format.has_nan ? all : max;
    const Parts parts = split_double(value);
    const bool infinite = std::fabs(value) == kInfinity;
    std::uint64_t code = infinite ? max + 1 : round_magnitude(format, parts, options.rounding);
    if (code > max) {
        const bool to_infinity =
            infinite || overflows_to_infinity(options.rounding, parts.negative);
        const bool clamp =
            options.saturate || !to_infinity || !(format.has_infinity || format.has_nan);
        code = clamp ? max : max + 1;  // max + 1: infinity, or e4m3's NaN
    }
    const bool sign = format.is_signed && parts.negative;
    return code |
           (static_cast<std::uint64_t>(sign) << (format.exponent_bits + format.mantissa_bits));
}

double decode_float(const FormatInfo& format, std::uint64_t code) {
    const std::uint64_t mantissa = code & ((std::uint64_t{1} << format.mantissa_bits) - 1);
    const int top = (1 << format.exponent_bits) - 1;
    const int field = static_cast<int>(code >> format.mantissa_bits) & top;
    const bool negative =
        format.is_signed && ((code >> (format.exponent_bits + format.mantissa_bits)) & 1);
    double magnitude;
    if (format.has_infinity && field == top) {
        magnitude = mantissa == 0 ? kInfinity : kNan;
    } else if (format.has_nan && !format.has_infinity && field == top &&
               mantissa == (std::uint64_t{1} << format.mantissa_bits) - 1) {
        magnitude = kNan;
    } else if (field == 0) {
        magnitude =
            std::ldexp(static_cast<double>(mantissa), 1 - format.bias - format.mantissa_bits);
    } else {
        magnitude =
            std::ldexp(static_cast<double>(mantissa | (std::uint64_t{1} << format.mantissa_bits)),
                       field - format.bias - format.mantissa_bits);
    }
    return negative ? -magnitude : magnitude;
}

}  // namespace

const FormatInfo& info(Format format) { return kFormats[static_cast<std::size_t>(format)]; }

Format format_named(std::string_view name) {
    for (std::size_t i = 1; i < kFormats.size(); ++i) {
        if (kFormats[i].name == name) return static_cast<Format>(i);
    }
    return Format::none;
}

double decode(Format format, std::uint64_t code) {
    const FormatInfo& traits = info(format);
    if (format == Format::f64) return std::bit_cast<double>(code);
    if (format == Format::ue8m0) {
        return (code & 0xff) == 0xff ? kNan : std::ldexp(1.0, static_cast<int>(code & 0xff) - 127);
    }
    if (traits.exponent_bits != 0) return decode_float(traits, code >> unused_low_bits(format));
    if (traits.bits == 0) return 0.0;
    const std::uint64_t value = code & ((std::uint64_t{1} << traits.bits) - 1);
    const bool negative = traits.is_signed && (value >> (traits.bits - 1));
    return static_cast<double>(value) - (negative ? std::ldexp(1.0, traits.bits) : 0.0);
}

std::uint64_t encode(Format format, double value, EncodeOptions options) {
    if (options.relu && value <= 0.0) value = 0.0;
    const FormatInfo& traits = info(format);
    if (format == Format::f64) {
        const bool clamp = options.saturate && std::fabs(value) == kInfinity;
        return std::bit_cast<std::uint64_t>(clamp ? std::copysign(traits.max_finite, value)
                                                  : value);
    }
    if (format == Format::ue8m0) return encode_ue8m0(value, options);
    if (traits.exponent_bits == 0) {
        return traits.bits == 0 ? 0 : encode_integer(traits, value, options.rounding);
    }
    if (format == Format::tf32 && value != value) return 0x7fffffff;
    return encode_float(traits, value, options) << unused_low_bits(format);
}

}  // namespace ww::numerics

// SPDX-License-Identifier: Apache-2.0
// f64 arithmetic with directed rounding, by exact 128-bit integers: rare in kernels, so plain.
#include "numerics/arith.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace ww::numerics::detail {
namespace {

using Wide = unsigned __int128;

// value = significand * 2^exponent; the lowest bit may stand for a non-zero rest below it.
struct Exact {
    bool negative;
    Wide significand;
    int exponent;
};

bool is_finite(double x) { return std::fabs(x) < std::numeric_limits<double>::infinity(); }

int width(Wide x) {
    const auto high = static_cast<std::uint64_t>(x >> 64);
    return high ? 128 - std::countl_zero(high)
                : 64 - std::countl_zero(static_cast<std::uint64_t>(x));
}

Exact exact(double x) {
    const std::uint64_t bits = bits_of(x);
    const int field = static_cast<int>((bits >> 52) & 0x7ff);
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
    const bool negative = bits >> 63;
    if (field == 0) return {negative, fraction, -1074};
    return {negative, fraction | (std::uint64_t{1} << 52), field - 1075};
}

Wide shift_right_sticky(Wide x, int shift) {
    if (shift <= 0) return x;
    if (shift > 127) return x != 0;
    const Wide cut = x >> shift;
    return cut | ((cut << shift) != x);
}

// Rounds a non-zero magnitude; overflow and subnormal results as IEEE 754 says.
double round(const Exact& value, Rounding rounding) {
    const bool away = (rounding == Rounding::rp && !value.negative) ||
                      (rounding == Rounding::rm && value.negative);
    const int top = value.exponent + width(value.significand) - 1;  // exponent of the leading bit
    const int lowest = std::max(top - 52, -1074);  // exponent of the result's last bit
    const int shift = lowest - value.exponent;
    std::uint64_t kept;
    if (shift <= 0) {
        kept = static_cast<std::uint64_t>(value.significand << -shift);
    } else {
        const Wide cut = shift > 127 ? Wide{0} : value.significand >> shift;
        const bool inexact = shift > 127 || (cut << shift) != value.significand;
        kept = static_cast<std::uint64_t>(cut) + (inexact && away);
    }
    const int field = lowest + 1074;  // a carry out of 53 bits moves into the exponent by itself
    std::uint64_t bits = (static_cast<std::uint64_t>(field) << 52) + kept;
    constexpr std::uint64_t kInfinityBits = std::uint64_t{0x7ff} << 52;
    if (field >= 2047 || bits >= kInfinityBits) bits = away ? kInfinityBits : kInfinityBits - 1;
    return double_of(bits | static_cast<std::uint64_t>(value.negative) << 63);
}

// Moves the leading bit to bit 125: room for a carry, and 20 spare bits below any product.
Exact normalized(Exact x) {
    const int shift = 126 - width(x.significand);
    return {x.negative, x.significand << shift, x.exponent - shift};
}

double add_exact(const Exact& a, const Exact& b, Rounding rounding) {
    const double zero = rounding == Rounding::rm ? -0.0 : 0.0;
    if (a.significand == 0 && b.significand == 0) {
        return a.negative == b.negative ? (a.negative ? -0.0 : 0.0) : zero;
    }
    if (a.significand == 0) return round(b, rounding);
    if (b.significand == 0) return round(a, rounding);
    Exact large = normalized(a), small = normalized(b);
    if (large.exponent < small.exponent ||
        (large.exponent == small.exponent && large.significand < small.significand)) {
        std::swap(large, small);
    }
    const Wide rest = shift_right_sticky(small.significand, large.exponent - small.exponent);
    const Wide sum =
        large.negative == small.negative ? large.significand + rest : large.significand - rest;
    return sum == 0 ? zero : round({large.negative, sum, large.exponent}, rounding);
}

Exact product(const Exact& a, const Exact& b) {
    return {a.negative != b.negative, a.significand * b.significand, a.exponent + b.exponent};
}

Wide integer_sqrt(Wide x) {
    Wide root = 0;
    for (int bit = 63; bit >= 0; --bit) {
        const Wide trial = root | (Wide{1} << bit);
        if (trial * trial <= x) root = trial;
    }
    return root;
}

}  // namespace

double f64_add(double a, double b, Rounding rounding) {
    if (rounding == Rounding::rn || !is_finite(a) || !is_finite(b)) return a + b;
    return add_exact(exact(a), exact(b), rounding);
}

double f64_mul(double a, double b, Rounding rounding) {
    if (rounding == Rounding::rn || !is_finite(a) || !is_finite(b) || a == 0.0 || b == 0.0) {
        return a * b;
    }
    return round(product(exact(a), exact(b)), rounding);
}

double f64_fma(double a, double b, double c, Rounding rounding) {
    if (rounding == Rounding::rn || !is_finite(a) || !is_finite(b) || !is_finite(c)) {
        return std::fma(a, b, c);
    }
    return add_exact(product(exact(a), exact(b)), exact(c), rounding);
}

double f64_div(double a, double b, Rounding rounding) {
    if (rounding == Rounding::rn || !is_finite(a) || !is_finite(b) || a == 0.0 || b == 0.0) {
        return a / b;
    }
    const Exact x = normalized(exact(a));
    Exact y = exact(b);
    const int shift = 53 - width(y.significand);
    y.significand <<= shift;
    y.exponent -= shift;
    const Wide quotient = x.significand / y.significand;  // 73 bits at least
    const bool rest = quotient * y.significand != x.significand;
    return round({x.negative != y.negative, (quotient << 1) | rest, x.exponent - y.exponent - 1},
                 rounding);
}

double f64_sqrt(double a, Rounding rounding) {
    if (rounding == Rounding::rn || !(a > 0.0) || !is_finite(a)) return std::sqrt(a);
    Exact x = normalized(exact(a));
    if (x.exponent & 1) {
        x.significand <<= 1;
        x.exponent -= 1;
    }
    const Wide root = integer_sqrt(x.significand);  // 63 bits
    const bool rest = root * root != x.significand;
    return round({false, (root << 1) | rest, x.exponent / 2 - 1}, rounding);
}

}  // namespace ww::numerics::detail

// SPDX-License-Identifier: Apache-2.0
#include "numerics/mufu.hpp"

namespace ww::numerics::mufu {
namespace {

constexpr std::uint64_t kUpper = 0xffffffff00000000, kSign = 0x8000000000000000;
constexpr std::uint64_t kInfinity64 = 0x7ff0000000000000, kNan64 = 0x7fffffff00000000;

struct Upper {
    std::int32_t exponent, fraction;  // biased; 20 bits of fraction as the upper ones of 23
    std::uint64_t sign;
    bool nan, infinity, zero;  // zero: or subnormal
    explicit Upper(double x) {
        const std::uint64_t bits = bits_of(x);
        exponent = static_cast<std::int32_t>(bits >> 52 & 0x7ff);
        fraction = static_cast<std::int32_t>(bits >> 32 & 0xfffff) << 3;
        sign = bits & kSign;
        nan = x != x;
        infinity = exponent == 0x7ff && !nan;
        zero = exponent == 0;
    }
};

// 21 significant bits of a sum in units of 2^-40, times 2^scale; subnormals become zero.
double upper_half(double sum, int scale) {
    const double size = std::ldexp(double_of(bits_of(sum) & ~((std::uint64_t{1} << 32) - 1)), scale - 40);
    return size < 0x1p-1022 ? 0.0 : size;
}

}  // namespace

double rcp64h(double x) {
    const Upper in(x);
    if (in.nan) return double_of(kNan64);
    if (in.zero) return double_of(in.sign | kInfinity64);
    if (in.infinity) return double_of(in.sign);
    const double sum = detail::evaluate(numerics::detail::kRcp, in.fraction >> 16, (in.fraction & 0xffff) << 1);
    return double_of(bits_of(upper_half(sum, 1023 - in.exponent)) | in.sign);
}

double rsqrt64h(double x) {
    const Upper in(x);
    if (in.nan || (in.sign != 0 && !in.zero)) return double_of(kNan64);
    if (in.zero) return double_of(in.sign | kInfinity64);
    if (in.infinity) return 0.0;
    const std::int32_t odd = ~in.exponent & 1, half = (in.exponent - 1023) >> 1;
    const double sum = detail::evaluate64(numerics::detail::kRsqrt + 64 * odd, in.fraction);
    return upper_half((odd | in.fraction) == 0 ? 0x1p40 : sum, -half);
}

}  // namespace ww::numerics::mufu

// SPDX-License-Identifier: Apache-2.0
#include "port/random.hpp"

#include <bit>
#include <cmath>

namespace ww::port {
namespace {

// Numerator and denominator of degree 7, constant term first (Wichura's AS 241, PPND16).
struct Rational {
    double p[8], q[8];
    double operator()(double x) const {
        double num = p[7], den = q[7];
        for (int i = 6; i >= 0; --i) {
            num = num * x + p[i];
            den = den * x + q[i];
        }
        return num / den;
    }
};

constexpr Rational kCentre = {
    {3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
     1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
     3.3430575583588128105e+4, 2.5090809287301226727e+3},
    {1.0, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
     2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
     5.2264952788528545610e+3}};
constexpr Rational kShoulder = {
    {1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
     3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4},
    {1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9}};
constexpr Rational kTail = {
    {6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7},
    {1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15}};

// Natural logarithm of a positive normal number from + - * / alone: libm's differs by machine.
double reproducible_log(double x) {
    int exponent = 0;
    double m = std::frexp(x, &exponent);  // [0.5, 1)
    if (m < 0.70710678118654752) {
        m *= 2;
        --exponent;
    }
    const double s = (m - 1) / (m + 1);  // |s| <= 0.1716: s^25 is below 2^-63
    const double s2 = s * s;
    double series = 0;
    for (int k = 25; k >= 1; k -= 2) series = series * s2 + 1.0 / k;
    return exponent * 0.69314718055994530942 + 2 * s * series;
}

// Quantile of the standard normal distribution, 0 < u < 1.
double normal_quantile(double u) {
    const double q = u - 0.5;
    if (std::fabs(q) <= 0.425) return q * kCentre(0.180625 - q * q);
    const double r = std::sqrt(-reproducible_log(q < 0 ? u : 1 - u));
    const double x = r <= 5 ? kShoulder(r - 1.6) : kTail(r - 5);
    return q < 0 ? -x : x;
}

}  // namespace

std::array<uint32_t, 4> philox(uint64_t seed, uint64_t stream, uint64_t index) {
    std::array<uint32_t, 4> c = {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                                 static_cast<uint32_t>(stream),
                                 static_cast<uint32_t>(stream >> 32)};
    auto k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const uint64_t a = uint64_t{0xD2511F53} * c[0];
        const uint64_t b = uint64_t{0xCD9E8D57} * c[2];
        c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b),
             static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
        k0 += 0x9E3779B9;
        k1 += 0xBB67AE85;
    }
    return c;
}

uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index) {
    const auto words = philox(seed, stream, index);
    return uint64_t{words[1]} << 32 | words[0];
}

double random_unit(uint64_t seed, uint64_t stream, uint64_t index) {
    return static_cast<double>(random_bits(seed, stream, index) >> 11) * 0x1p-53;
}

uint64_t random_below(uint64_t seed, uint64_t stream, uint64_t index, uint64_t bound) {
    const auto wide = static_cast<unsigned __int128>(random_bits(seed, stream, index)) * bound;
    return static_cast<uint64_t>(wide >> 64);
}

double random_normal(uint64_t seed, uint64_t stream, uint64_t index) {
    // Odd multiples of 2^-53, so neither 0 nor 1.
    const uint64_t bits = random_bits(seed, stream, index) >> 12;
    return normal_quantile((static_cast<double>(bits) * 2 + 1) * 0x1p-53);
}

}  // namespace ww::port

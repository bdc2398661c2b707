// SPDX-License-Identifier: Apache-2.0
// Rows of fp8, fp6 and fp4 codes from f32, fast: to nearest even with .satfinite, as cvt does.
#pragma once
#include <cstdint>

#include "numerics/arith.hpp"
#include "numerics/formats.hpp"

namespace ww::isa {

struct SmallEncode {
    numerics::Format format = numerics::Format::e4m3;
    numerics::Rounding rounding = numerics::Rounding::rn;
    bool relu = false;
};

// The code in the low bits; a format without NaN gets its largest value for one.
template <int Mantissa, int Bias, uint32_t MaxCode, uint32_t NanCode, int SignBit>
inline uint8_t encode_small(float x, bool relu) {
    constexpr uint32_t kDrop = 23 - Mantissa;
    constexpr uint32_t kRebias = static_cast<uint32_t>(127 - Bias) << Mantissa;
    constexpr uint32_t kMax = (MaxCode + kRebias) << kDrop;
    constexpr uint32_t kLeastNormal = static_cast<uint32_t>(128 - Bias) << 23;
    // Adding this leaves the subnormal code in the low bits, rounded by the addition.
    constexpr uint32_t kMagic = static_cast<uint32_t>(127 + 23 + 1 - Bias - Mantissa) << 23;
    const uint32_t bits = numerics::bits_of(x), sign = bits >> 31, magnitude = bits & 0x7fffffffu;
    const uint32_t clamped = magnitude < kMax ? magnitude : kMax;
    const uint32_t normal =
        ((clamped + (1u << (kDrop - 1)) - 1 + (clamped >> kDrop & 1)) >> kDrop) - kRebias;
    const uint32_t subnormal =
        numerics::bits_of(numerics::float_of(clamped) + numerics::float_of(kMagic)) - kMagic;
    const uint32_t code = clamped < kLeastNormal ? subnormal : normal;
    const uint32_t signed_code = relu ? (sign ? 0 : code) : code | sign << SignBit;
    return static_cast<uint8_t>(magnitude > 0x7f800000u ? NanCode : signed_code);
}

void encode_row(const SmallEncode& how, const float* values, uint8_t* codes, int count);

}  // namespace ww::isa

// SPDX-License-Identifier: Apache-2.0
// Number formats of GPU tensors and registers: exact decode, and encode with one rounding.
// Bits that PTX promises (NaN codes, saturation) are produced here; arithmetic is in arith.hpp.
#pragma once
#include <cstdint>
#include <string_view>

namespace ww::numerics {

// The rounding modifiers of PTX: nearest even, toward zero, down, up, nearest with ties away.
enum class Rounding : std::uint8_t { rn, rz, rm, rp, rna };

enum class Format : std::uint8_t {
    none,
    f64,
    f32,
    tf32,
    f16,
    bf16,
    e5m2,
    e4m3,
    e3m2,
    e2m3,
    e2m1,  // e4m3 is e4m3fn: no infinity, NaN 0x7f
    ue8m0,
    ue4m3,  // scales: ue8m0 is a power of two; ue4m3 is e4m3 without sign
    s4,
    u4,
    s8,
    u8,
    s16,
    u16,
    s32,
    u32,
    b1,
};

struct FormatInfo {
    std::string_view name;
    int bits;           // width of a code; tf32 codes are 32 bits wide (the low 13 are ignored)
    int exponent_bits;  // 0: an integer
    int mantissa_bits;
    int bias;
    bool is_signed;
    bool has_infinity;
    bool has_nan;
    double max_finite;
};

const FormatInfo& info(Format format);
// The format of that PTX name ("bf16", "e2m1", ...); Format::none where there is none.
Format format_named(std::string_view name);

// The value of a code, exactly. Bits above the format's width are ignored.
double decode(Format format, std::uint64_t code);

struct EncodeOptions {
    Rounding rounding = Rounding::rn;
    bool saturate =
        false;          // .satfinite: overflow gives the largest finite value (also for infinity)
    bool relu = false;  // .relu: a negative value gives +0; NaN stays NaN
};
// The code of a value, rounded once. What a format cannot hold: a NaN gives the format's NaN code
// (f16 0x7fff, bf16 0x7fff, tf32/f32 0x7fffffff, e4m3 and e5m2 0x7f, ue8m0 0xff), and in
// formats without NaN the largest finite value, as cvt does; overflow without infinity saturates
// for fp6 and fp4 and gives NaN for e4m3; ue8m0 and ue4m3 ignore the sign. Integers clamp, and NaN
// gives 0.
std::uint64_t encode(Format format, double value, EncodeOptions options = {});

}  // namespace ww::numerics

// SPDX-License-Identifier: Apache-2.0
#include "port/dtype.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "numerics/formats.hpp"

namespace ww::port {
namespace {

using numerics::Format;

struct Row {
    DtypeInfo info;
    Format format;  // none: a 64-bit integer or bool, handled here
};

constexpr std::array<Row, 19> kRows = {{
    {{"f64", "F64", 64, true, true}, Format::f64},
    {{"f32", "F32", 32, true, true}, Format::f32},
    {{"f16", "F16", 16, true, true}, Format::f16},
    {{"bf16", "BF16", 16, true, true}, Format::bf16},
    {{"tf32", "", 32, true, true}, Format::tf32},
    {{"e4m3", "F8_E4M3", 8, true, true}, Format::e4m3},
    {{"e5m2", "F8_E5M2", 8, true, true}, Format::e5m2},
    {{"e2m1", "", 4, true, true}, Format::e2m1},
    {{"ue4m3", "", 8, true, false}, Format::ue4m3},
    {{"ue8m0", "", 8, true, false}, Format::ue8m0},
    {{"i8", "I8", 8, false, true}, Format::s8},
    {{"u8", "U8", 8, false, false}, Format::u8},
    {{"i16", "I16", 16, false, true}, Format::s16},
    {{"u16", "U16", 16, false, false}, Format::u16},
    {{"i32", "I32", 32, false, true}, Format::s32},
    {{"u32", "U32", 32, false, false}, Format::u32},
    {{"i64", "I64", 64, false, true}, Format::none},
    {{"u64", "U64", 64, false, false}, Format::none},
    {{"bool", "BOOL", 8, false, false}, Format::none},
}};

const Row& row(Dtype dtype) { return kRows[static_cast<size_t>(dtype)]; }

// Clamped, nearest even, NaN to 0: as numerics::encode does for the narrower integers.
uint64_t encode_wide_integer(Dtype dtype, double value) {
    if (std::isnan(value)) return 0;
    const double rounded = std::nearbyint(value);
    if (dtype == Dtype::boolean) return value != 0;
    if (dtype == Dtype::u64) {
        if (rounded <= 0) return 0;
        return rounded >= 0x1p64 ? ~uint64_t{0} : static_cast<uint64_t>(rounded);
    }
    if (rounded >= 0x1p63) return static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (rounded < -0x1p63) return static_cast<uint64_t>(std::numeric_limits<int64_t>::min());
    return static_cast<uint64_t>(static_cast<int64_t>(rounded));
}

}  // namespace

const DtypeInfo& info(Dtype dtype) { return row(dtype).info; }

std::optional<Dtype> dtype_named(std::string_view name) {
    for (size_t i = 0; i < kRows.size(); ++i)
        if (kRows[i].info.name == name) return static_cast<Dtype>(i);
    return std::nullopt;
}

std::span<const std::string> dtype_names() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> out;
        for (const Row& each : kRows) out.emplace_back(each.info.name);
        return out;
    }();
    return names;
}

double decode(Dtype dtype, uint64_t code) {
    if (row(dtype).format != Format::none) return numerics::decode(row(dtype).format, code);
    if (dtype == Dtype::boolean) return (code & 0xff) != 0;
    return dtype == Dtype::i64 ? static_cast<double>(static_cast<int64_t>(code))
                               : static_cast<double>(code);
}

uint64_t encode(Dtype dtype, double value) {
    const Format format = row(dtype).format;
    if (format == Format::none) return encode_wide_integer(dtype, value);
    const numerics::FormatInfo& format_info = numerics::info(format);
    if (std::isnan(value) && !format_info.has_nan) return 0;
    if (!info(dtype).is_signed && info(dtype).is_float) value = std::fabs(value);
    const bool saturate = !format_info.has_infinity;
    return numerics::encode(format, value, {.saturate = saturate});
}

double ulp(Dtype dtype, double value) {
    if (!info(dtype).is_float) return 1;
    const numerics::FormatInfo& format = numerics::info(row(dtype).format);
    const int smallest = 1 - format.bias;  // exponent of the smallest normal number
    double magnitude = std::fabs(value);
    if (!(magnitude < format.max_finite)) magnitude = format.max_finite;  // NaN and infinity too
    const int exponent = magnitude > 0 ? std::max(std::ilogb(magnitude), smallest) : smallest;
    return std::ldexp(1.0, exponent - format.mantissa_bits);
}

double largest(Dtype dtype) {
    switch (dtype) {
        case Dtype::boolean:
            return 1;
        case Dtype::i64:
            return 0x1.fffffffffffffp62;  // the largest double that it holds
        case Dtype::u64:
            return 0x1.fffffffffffffp63;
        default:
            return numerics::info(row(dtype).format).max_finite;
    }
}

double smallest_normal(Dtype dtype) {
    if (!info(dtype).is_float) return 1;
    return std::ldexp(1.0, 1 - numerics::info(row(dtype).format).bias);
}

}  // namespace ww::port

// SPDX-License-Identifier: Apache-2.0
// The table of operand types and the decoding of their values.
#include "exectest/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace ww::exectest {
namespace {

// clang-format off
const Type kTypes[] = {
    {.name = "b1",  .kind = Kind::untyped,      .element_bits = 1},
    {.name = "b8",  .kind = Kind::untyped,      .element_bits = 8},
    {.name = "b16", .kind = Kind::untyped,      .element_bits = 16},
    {.name = "b32", .kind = Kind::untyped,      .element_bits = 32},
    {.name = "b64", .kind = Kind::untyped,      .element_bits = 64},
    {.name = "b128",.kind = Kind::untyped,      .element_bits = 64, .elements = 2},
    {.name = "s4",  .kind = Kind::signed_int,   .element_bits = 4},
    {.name = "s8",  .kind = Kind::signed_int,   .element_bits = 8},
    {.name = "s16", .kind = Kind::signed_int,   .element_bits = 16},
    {.name = "s32", .kind = Kind::signed_int,   .element_bits = 32},
    {.name = "s64", .kind = Kind::signed_int,   .element_bits = 64},
    {.name = "u4",  .kind = Kind::unsigned_int, .element_bits = 4},
    {.name = "u8",  .kind = Kind::unsigned_int, .element_bits = 8},
    {.name = "u16", .kind = Kind::unsigned_int, .element_bits = 16},
    {.name = "u32", .kind = Kind::unsigned_int, .element_bits = 32},
    {.name = "u64", .kind = Kind::unsigned_int, .element_bits = 64},
    {.name = "pred",.kind = Kind::predicate,    .element_bits = 8},
    {.name = "f16", .kind = Kind::floating, .element_bits = 16, .exponent_bits = 5,  .mantissa_bits = 10},
    {.name = "bf16",.kind = Kind::floating, .element_bits = 16, .exponent_bits = 8,  .mantissa_bits = 7},
    {.name = "tf32",.kind = Kind::floating, .element_bits = 32, .exponent_bits = 8,  .mantissa_bits = 23},
    {.name = "f32", .kind = Kind::floating, .element_bits = 32, .exponent_bits = 8,  .mantissa_bits = 23},
    {.name = "f64", .kind = Kind::floating, .element_bits = 64, .exponent_bits = 11, .mantissa_bits = 52},
    {.name = "e5m2",.kind = Kind::floating, .element_bits = 8,  .exponent_bits = 5,  .mantissa_bits = 2},
    {.name = "e4m3",.kind = Kind::floating, .element_bits = 8,  .exponent_bits = 4,  .mantissa_bits = 3, .has_infinity = false},
    {.name = "ue4m3",.kind = Kind::floating,.element_bits = 8,  .exponent_bits = 4,  .mantissa_bits = 3, .is_unsigned = true, .has_infinity = false},
    {.name = "ue8m0",.kind = Kind::floating,.element_bits = 8,  .exponent_bits = 8,  .mantissa_bits = 0, .is_unsigned = true, .has_infinity = false},
    {.name = "e3m2",.kind = Kind::floating, .element_bits = 8,  .exponent_bits = 3,  .mantissa_bits = 2, .has_infinity = false, .has_nan = false},
    {.name = "e2m3",.kind = Kind::floating, .element_bits = 8,  .exponent_bits = 2,  .mantissa_bits = 3, .has_infinity = false, .has_nan = false},
    {.name = "e2m1",.kind = Kind::floating, .element_bits = 4,  .exponent_bits = 2,  .mantissa_bits = 1, .has_infinity = false, .has_nan = false},
};
// clang-format on

uint64_t low(uint32_t bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

struct Parts {
    bool negative;
    uint64_t exponent, mantissa;
};

Parts parts(const Type& t, uint64_t bits) {
    uint64_t mantissa = bits & low(t.mantissa_bits);
    uint64_t exponent = bits >> t.mantissa_bits & low(t.exponent_bits);
    bool negative = !t.is_unsigned && (bits >> (t.mantissa_bits + t.exponent_bits) & 1);
    return {negative, exponent, mantissa};
}

}  // namespace

std::optional<Type> find_type(std::string_view name) {
    std::string_view base = name;
    uint32_t lanes = 1;
    if (size_t x = name.rfind('x'); x != std::string_view::npos && x > 0) {
        base = name.substr(0, x);
        const char* end = name.data() + name.size();
        auto [at, error] = std::from_chars(name.data() + x + 1, end, lanes);
        if (error != std::errc{} || at != end || lanes < 2 || lanes > 64) return std::nullopt;
    }
    for (const Type& known : kTypes) {
        if (known.name != base) continue;
        Type type = known;
        type.name = name;
        type.elements *= lanes;
        uint32_t bits = type.bits();
        bool whole = bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128;
        if (!whole || (type.kind == Kind::predicate && lanes > 1)) return std::nullopt;
        return type;
    }
    return std::nullopt;
}

std::string type_names() {
    std::string names;
    for (const Type& type : kTypes) {
        if (!names.empty()) names += ", ";
        names += type.name;
    }
    return names;
}

std::string register_type(const Type& type) {
    if (type.kind == Kind::predicate) return ".pred";
    if (type.elements == 1) {
        if (type.name == "f32" || type.name == "f64") return "." + type.name;
        if (type.kind == Kind::signed_int) return fmt::format(".s{}", std::max(type.bits(), 16u));
        if (type.kind == Kind::unsigned_int) return fmt::format(".u{}", std::max(type.bits(), 16u));
    }
    return fmt::format(".b{}", type.bits());
}

std::string memory_type(const Type& type) {
    if (type.elements == 1) {
        if (type.name == "f32" || type.name == "f64") return type.name;
        if (type.kind == Kind::signed_int) return fmt::format("s{}", type.bits());
        if (type.kind == Kind::unsigned_int) return fmt::format("u{}", type.bits());
    }
    return fmt::format("b{}", type.bits());
}

bool is_nan(const Type& type, uint64_t bits) {
    if (type.kind != Kind::floating || !type.has_nan) return false;
    Parts p = parts(type, bits);
    if (p.exponent != low(type.exponent_bits)) return false;
    return type.has_infinity ? p.mantissa != 0 : p.mantissa == low(type.mantissa_bits);
}

double to_double(const Type& type, uint64_t bits) {
    Parts p = parts(type, bits);
    if (is_nan(type, bits)) return std::numeric_limits<double>::quiet_NaN();
    double sign = p.negative ? -1.0 : 1.0;
    if (type.has_infinity && p.exponent == low(type.exponent_bits))
        return sign * std::numeric_limits<double>::infinity();
    int bias = static_cast<int>(low(type.exponent_bits - 1));
    int shift = -static_cast<int>(type.mantissa_bits);
    auto mantissa = static_cast<double>(p.mantissa);
    // ue8m0 has no mantissa and no zero: every code is a power of two.
    if (p.exponent == 0 && type.mantissa_bits > 0)
        return sign * std::ldexp(mantissa, 1 - bias + shift);
    double significand = mantissa + std::ldexp(1.0, -shift);
    return sign * std::ldexp(significand, static_cast<int>(p.exponent) - bias + shift);
}

uint64_t from_double(const Type& type, double value) {
    // Codes of one sign ascend with the magnitude, so bisection finds the one just below.
    uint64_t sign = std::signbit(value) && !type.is_unsigned
                        ? uint64_t{1} << (type.mantissa_bits + type.exponent_bits)
                        : 0;
    double magnitude = std::fabs(value);
    uint64_t first = 0, last = low(type.mantissa_bits + type.exponent_bits);
    while (first < last) {
        uint64_t middle = first + (last - first + 1) / 2;
        double at = to_double(type, middle);
        if (!std::isnan(at) && at <= magnitude) first = middle;
        else last = middle - 1;
    }
    return first | sign;
}

std::string show_value(const Type& type, uint64_t bits) {
    if (type.kind == Kind::floating) return fmt::format("{}", to_double(type, bits));
    if (type.kind != Kind::signed_int) return fmt::format("{}", bits);
    uint32_t unused = 64 - type.element_bits;
    return fmt::format("{}", static_cast<int64_t>(bits << unused) >> unused);
}

}  // namespace ww::exectest

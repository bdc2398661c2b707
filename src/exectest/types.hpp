// SPDX-License-Identifier: Apache-2.0
// The operand types of instruction tests: how a value lies in memory and in a PTX register, and
// the number format of its elements ("f16x2" is two f16 in 32 bits).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ww::exectest {

enum class Kind { untyped, signed_int, unsigned_int, floating, predicate };

struct Type {
    std::string name;  // as written: "f16x2"
    Kind kind = Kind::untyped;
    uint32_t element_bits = 32;
    uint32_t elements = 1;  // in one register
    // Of a floating element; the sign bit is there unless is_unsigned.
    uint32_t exponent_bits = 0, mantissa_bits = 0;
    bool is_unsigned = false;
    bool has_infinity = true;  // false: e4m3 has one NaN per sign, e2m1 has none
    bool has_nan = true;

    uint32_t bits() const { return element_bits * elements; }
    uint32_t bytes() const { return kind == Kind::predicate ? 1 : bits() / 8; }
};

// Nothing when there is no such type.
std::optional<Type> find_type(std::string_view name);
std::string type_names();

// ".f32", ".b16", ".pred": the register class that holds a value.
std::string register_type(const Type& type);
// "f32", "s8", "b64": the type of the ld or st that moves it (not for pred and b128).
std::string memory_type(const Type& type);

bool is_nan(const Type& type, uint64_t bits);
// The value as a number for messages: "-1.5", "nan", "17".
std::string show_value(const Type& type, uint64_t bits);
double to_double(const Type& type, uint64_t bits);
// The nearest representable magnitude not above |value|; for building operands only.
uint64_t from_double(const Type& type, double value);

}  // namespace ww::exectest

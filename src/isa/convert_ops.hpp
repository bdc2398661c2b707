// SPDX-License-Identifier: Apache-2.0
// Rows of 32 values in the widest type of their kind, for conversions between any two types.
#pragma once
#include "isa/lane.hpp"
#include "numerics/formats.hpp"

namespace ww::isa {

using numerics::Rounding;

// What a cvt does beyond its types; packed in aux.
struct ConvertAux {
    Type to = Type::none, from = Type::none;
    Rounding rounding = Rounding::rn;
    bool ftz = false, sat = false, to_integral = false;
    uint64_t pack() const {
        return static_cast<uint64_t>(to) | static_cast<uint64_t>(from) << 8 |
               static_cast<uint64_t>(rounding) << 16 | uint64_t{ftz} << 24 | uint64_t{sat} << 25 |
               uint64_t{to_integral} << 26;
    }
    static ConvertAux unpack(uint64_t aux) {
        return {static_cast<Type>(aux & 0xff),
                static_cast<Type>(aux >> 8 & 0xff),
                static_cast<Rounding>(aux >> 16 & 0xff),
                (aux >> 24 & 1) != 0,
                (aux >> 25 & 1) != 0,
                (aux >> 26 & 1) != 0};
    }
};

bool is_float(Type type);
bool is_signed_integer(Type type);
Rounding rounding_of(std::string_view modifier);  // ".rzi" and ".rz" are rz; none is rn

// Integers as 64 bits: sign- or zero-extended; u64 keeps its bits. Writing keeps the low bits.
void read_integers(const Warp& w, const machine::Operand& operand, Type type, int64_t* values);
void write_integers(Warp& w, const machine::Operand& operand, Type type, const int64_t* values);
// Floats as f64, exactly; f32 flushed under ftz.
void read_floats(const Warp& w, const machine::Operand& operand, Type type, bool ftz,
                 double* values);
// Rounded once to aux.to, then flushed and saturated as aux says.
void write_floats(Warp& w, const machine::Operand& operand, const ConvertAux& aux,
                  const double* values);

// x as an f64 that a second rounding (to f32 or narrower) cannot get wrong: inexact values are odd.
double integer_to_odd(int64_t x, bool is_unsigned);
double integer_to_f64(int64_t x, bool is_unsigned, Rounding rounding);
// Clamped to the type; a NaN gives what PTX says for this pair of types.
int64_t float_to_integer(double integral, Type to, bool nan_is_zero);
double round_to_integral(double x, Rounding rounding);

}  // namespace ww::isa

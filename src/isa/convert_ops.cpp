// SPDX-License-Identifier: Apache-2.0
#include "isa/convert_ops.hpp"

#include <bit>
#include <cmath>

#include "isa/float_ops.hpp"
#include "isa/half_ops.hpp"
#include "numerics/half.hpp"

namespace ww::isa {
namespace {

template <class F>
void with_integer(Type type, F&& f) {
    with_type<uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t>(type, f);
}

// A finite value cut to an f32 that is odd where it is inexact.
float f64_to_odd_f32(double x) {
    const float cut = numerics::round_to_f32<Rounding::rz>(x);
    return numerics::float_of(numerics::bits_of(cut) |
                              (cut == cut && static_cast<double>(cut) != x));
}

template <Rounding R>
void round_row(const double* values, bool ftz, bool sat, float* out) {
    for (int lane = 0; lane < kLanes; ++lane) {
        float x = numerics::round_to_f32<R>(values[lane]);
        if (ftz) x = numerics::flush(x);
        out[lane] = sat ? numerics::saturate(x) : x;
    }
}

void write_halves(Warp& w, const machine::Operand& operand, const ConvertAux& aux,
                  const double* values) {
    const bool bf16 = aux.to == Type::bf16;
    alignas(64) uint16_t codes[kLanes];
    if (aux.rounding == Rounding::rn) {
        alignas(64) float odd[kLanes];
        for (int lane = 0; lane < kLanes; ++lane) odd[lane] = f64_to_odd_f32(values[lane]);
        narrow(bf16, odd, codes, kLanes);
    } else {
        const numerics::Format format = bf16 ? numerics::Format::bf16 : numerics::Format::f16;
        for (int lane = 0; lane < kLanes; ++lane)
            codes[lane] = static_cast<uint16_t>(
                numerics::encode(format, values[lane], {.rounding = aux.rounding}));
    }
    if (aux.sat) {
        alignas(64) float widened[kLanes];
        widen(bf16, codes, widened, kLanes);
        for (float& x : widened) x = numerics::saturate(x);
        narrow(bf16, widened, codes, kLanes);
    }
    write_half_codes(w, operand, false, codes);
}

template <class T>
void write_row(Warp& w, const machine::Operand& operand, const T* values) {
    alignas(64) T scratch[kLanes];
    T* d = w.out<T>(operand, scratch);
    std::memcpy(d, values, sizeof scratch);
    w.commit<T>(operand, d, scratch);
}

}  // namespace

bool is_float(Type type) {
    return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64;
}
bool is_signed_integer(Type type) {
    return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}
Rounding rounding_of(std::string_view modifier) {
    if (modifier.starts_with(".rz")) return Rounding::rz;
    if (modifier.starts_with(".rm")) return Rounding::rm;
    if (modifier.starts_with(".rp")) return Rounding::rp;
    return Rounding::rn;
}

void read_integers(const Warp& w, const machine::Operand& operand, Type type, int64_t* values) {
    with_integer(type, [&]<class T>() {
        alignas(64) T scratch[kLanes];
        const T* x = w.in<T>(operand, scratch);
        for (int lane = 0; lane < kLanes; ++lane) values[lane] = static_cast<int64_t>(x[lane]);
    });
}
void write_integers(Warp& w, const machine::Operand& operand, Type type, const int64_t* values) {
    with_integer(type, [&]<class T>() {
        alignas(64) T narrowed[kLanes];
        for (int lane = 0; lane < kLanes; ++lane) narrowed[lane] = static_cast<T>(values[lane]);
        write_row(w, operand, narrowed);
    });
}
void read_floats(const Warp& w, const machine::Operand& operand, Type type, bool ftz,
                 double* values) {
    alignas(64) float row[kLanes];
    if (type == Type::f64) {
        alignas(64) double scratch[kLanes];
        std::memcpy(values, w.in<double>(operand, scratch), sizeof scratch);
        return;
    }
    if (type == Type::f32) {
        alignas(64) float scratch[kLanes];
        const float* x = w.in<float>(operand, scratch);
        for (int lane = 0; lane < kLanes; ++lane)
            row[lane] = ftz ? numerics::flush(x[lane]) : x[lane];
    } else {
        read_half(w, operand, {.bf16 = type == Type::bf16}, row);
    }
    for (int lane = 0; lane < kLanes; ++lane) values[lane] = row[lane];
}
void write_floats(Warp& w, const machine::Operand& operand, const ConvertAux& aux,
                  const double* values) {
    if (aux.to == Type::f64) {
        alignas(64) double row[kLanes];
        for (int lane = 0; lane < kLanes; ++lane)
            row[lane] = aux.sat ? numerics::saturate(values[lane]) : values[lane];
        return write_row(w, operand, row);
    }
    if (aux.to != Type::f32) return write_halves(w, operand, aux, values);
    alignas(64) float row[kLanes];
    switch (aux.rounding) {
        case Rounding::rz:
            round_row<Rounding::rz>(values, aux.ftz, aux.sat, row);
            break;
        case Rounding::rm:
            round_row<Rounding::rm>(values, aux.ftz, aux.sat, row);
            break;
        case Rounding::rp:
            round_row<Rounding::rp>(values, aux.ftz, aux.sat, row);
            break;
        default:
            round_row<Rounding::rn>(values, aux.ftz, aux.sat, row);
            break;
    }
    write_row(w, operand, row);
}

double integer_to_f64(int64_t x, bool is_unsigned, Rounding rounding) {
    const bool negative = !is_unsigned && x < 0;
    const uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
    const int surplus = 11 - std::countl_zero(magnitude);  // bits beyond the 53 that fit
    if (surplus <= 0)
        return negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
    const uint64_t kept = magnitude >> surplus, rest = magnitude & ((uint64_t{1} << surplus) - 1);
    const uint64_t half = uint64_t{1} << (surplus - 1);
    bool up = false;
    if (rounding == Rounding::rn) up = rest > half || (rest == half && (kept & 1) != 0);
    if (rounding == Rounding::rp) up = rest != 0 && !negative;
    if (rounding == Rounding::rm) up = rest != 0 && negative;
    const double value = std::ldexp(static_cast<double>(kept + up), surplus);
    return negative ? -value : value;
}
double integer_to_odd(int64_t x, bool is_unsigned) {
    const double cut = integer_to_f64(x, is_unsigned, Rounding::rz);
    // 2^64 and -2^63 are not reached by cutting, so the way back is defined.
    const bool exact = is_unsigned ? static_cast<uint64_t>(cut) == static_cast<uint64_t>(x)
                                   : static_cast<int64_t>(cut) == x;
    return numerics::double_of(numerics::bits_of(cut) | (exact ? 0 : 1));
}
int64_t float_to_integer(double integral, Type to, bool nan_is_zero) {
    const int bits = 8 * machine::type_bytes(to);
    const bool has_sign = is_signed_integer(to);
    if (integral != integral)
        return nan_is_zero ? 0 : static_cast<int64_t>(~uint64_t{0} << (bits - 1));
    const double limit =
        std::ldexp(1.0, has_sign ? bits - 1 : bits);  // first value that is too large
    if (integral >= limit)
        return static_cast<int64_t>(~uint64_t{0} >> (has_sign ? 65 - bits : 64 - bits));
    if (has_sign)
        return integral <= -limit ? static_cast<int64_t>(~uint64_t{0} << (bits - 1))
                                  : static_cast<int64_t>(integral);
    return integral <= 0.0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(integral));
}
double round_to_integral(double x, Rounding rounding) {
    switch (rounding) {
        case Rounding::rz:
            return std::trunc(x);
        case Rounding::rm:
            return std::floor(x);
        case Rounding::rp:
            return std::ceil(x);
        default:
            return std::rint(x);
    }
}

}  // namespace ww::isa

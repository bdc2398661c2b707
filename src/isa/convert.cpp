// SPDX-License-Identifier: Apache-2.0
// PTX manual, "cvt": one value of a scalar type to another. Packed and small formats are in
// convert_packed.cpp.
#include "isa/convert_ops.hpp"
#include "isa/half_ops.hpp"
#include "isa/isa.hpp"
#include "numerics/arith.hpp"

namespace ww::isa {
namespace {

using machine::type_bytes;

// ---- integer to integer ----
template <class D, class S>
struct Truncate {
    static D apply(S x) { return static_cast<D>(x); }
};
// Clamped to the destination's range; at most one of the two types is u64.
void run_saturate(Warp& w, const Inst& in) {
    const ConvertAux aux = ConvertAux::unpack(in.aux);
    alignas(64) int64_t values[kLanes];
    read_integers(w, in[1][0], aux.from, values);
    const int bits = 8 * type_bytes(aux.to);
    const bool has_sign = is_signed_integer(aux.to);
    const auto high = static_cast<int64_t>(
        aux.to == Type::u64 ? ~uint64_t{0} >> 1
                            : ~uint64_t{0} >> (has_sign ? 65 - bits : 64 - bits));
    const int64_t low = has_sign ? static_cast<int64_t>(~uint64_t{0} << (bits - 1)) : 0;
    for (int64_t& x : values) {
        if (aux.from == Type::u64 && x < 0) x = high;
        x = x < low ? low : x > high ? high : x;
    }
    write_integers(w, in[0][0], aux.to, values);
}
// Every value of `from` is one of `to`.
bool holds_all(Type to, Type from) {
    const bool to_sign = is_signed_integer(to), from_sign = is_signed_integer(from);
    if (to_sign == from_sign) return type_bytes(to) >= type_bytes(from);
    return to_sign && type_bytes(to) > type_bytes(from);
}
template <class D>
void bind_truncate(Type from, Binding& binding) {
    with_type<uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t>(
        from, [&]<class S>() { binding.run = run_lanes<Truncate<D, S>, D, S>; });
}
void bind_integer(const ConvertAux& aux, Binding& binding) {
    if (aux.sat) {
        if (holds_all(aux.to, aux.from))
            binding.error = ".sat cannot happen between these types";
        else
            binding.run = run_saturate;
        return;
    }
    with_type<uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t, int32_t, int64_t>(
        aux.to, [&]<class D>() { bind_truncate<D>(aux.from, binding); });
}

// ---- integer to float ----
void run_integer_to_float(Warp& w, const Inst& in) {
    const ConvertAux aux = ConvertAux::unpack(in.aux);
    alignas(64) int64_t integers[kLanes];
    alignas(64) double values[kLanes];
    read_integers(w, in[1][0], aux.from, integers);
    const bool is_unsigned = aux.from == Type::u64;
    for (int lane = 0; lane < kLanes; ++lane)
        values[lane] = aux.to == Type::f64
                           ? integer_to_f64(integers[lane], is_unsigned, aux.rounding)
                           : integer_to_odd(integers[lane], is_unsigned);
    write_floats(w, in[0][0], aux, values);
}
template <class S>
struct ToF32 {
    static float apply(S x) { return static_cast<float>(x); }
};
void bind_integer_to_float(const ConvertAux& aux, Binding& binding) {
    const bool plain = aux.to == Type::f32 && aux.rounding == Rounding::rn && !aux.sat;
    if (plain && aux.from == Type::s32)
        binding.run = run_lanes<ToF32<int32_t>, float, int32_t>;
    else if (plain && aux.from == Type::u32)
        binding.run = run_lanes<ToF32<uint32_t>, float, uint32_t>;
    else
        binding.run = run_integer_to_float;
}

// ---- float to integer ----
void run_float_to_integer(Warp& w, const Inst& in) {
    const ConvertAux aux = ConvertAux::unpack(in.aux);
    alignas(64) double values[kLanes];
    alignas(64) int64_t integers[kLanes];
    read_floats(w, in[1][0], aux.from, aux.ftz, values);
    const bool nan_is_zero = aux.from != Type::f64 && type_bytes(aux.to) < 8;
    for (int lane = 0; lane < kLanes; ++lane)
        integers[lane] =
            float_to_integer(round_to_integral(values[lane], aux.rounding), aux.to, nan_is_zero);
    write_integers(w, in[0][0], aux.to, integers);
}
// 32-bit signed results are the common case: the clamp comes before the conversion, in a loop
// that vectorises.
template <Rounding R>
struct ToS32 {
    static int32_t apply(float x) {
        const double integral = round(x);
        const double clamped = integral < -0x1p31      ? -0x1p31
                               : integral > 0x7fffffff ? 0x7fffffff
                                                       : integral;
        return static_cast<int32_t>(x != x ? 0.0 : clamped);
    }
    static double round(float x) {
        if constexpr (R == Rounding::rz)
            return std::trunc(x);
        else if constexpr (R == Rounding::rm)
            return std::floor(x);
        else if constexpr (R == Rounding::rp)
            return std::ceil(x);
        else
            return std::rint(x);
    }
};
void bind_float_to_integer(const ConvertAux& aux, Binding& binding) {
    binding.run = run_float_to_integer;
    if (aux.from != Type::f32 || aux.to != Type::s32 || aux.ftz) return;
    switch (aux.rounding) {
        case Rounding::rz:
            binding.run = run_lanes<ToS32<Rounding::rz>, int32_t, float>;
            break;
        case Rounding::rm:
            binding.run = run_lanes<ToS32<Rounding::rm>, int32_t, float>;
            break;
        case Rounding::rp:
            binding.run = run_lanes<ToS32<Rounding::rp>, int32_t, float>;
            break;
        default:
            binding.run = run_lanes<ToS32<Rounding::rn>, int32_t, float>;
            break;
    }
}

// ---- float to float ----
void run_float(Warp& w, const Inst& in) {
    const ConvertAux aux = ConvertAux::unpack(in.aux);
    alignas(64) double values[kLanes];
    read_floats(w, in[1][0], aux.from, aux.ftz, values);
    if (aux.to_integral)
        for (double& x : values) x = round_to_integral(x, aux.rounding);
    write_floats(w, in[0][0], aux, values);
}
// Between f32 and a half, to nearest.
void run_half_to_f32(Warp& w, const Inst& in) {
    const bool bf16 = ConvertAux::unpack(in.aux).from == Type::bf16;
    alignas(64) float row[kLanes], scratch[kLanes];
    read_half(w, in[1][0], {.bf16 = bf16}, row);
    float* d = w.out<float>(in[0][0], scratch);
    // [H200] bf16 is widened by a shift, which keeps a NaN's payload; f16 by the converter.
    if (bf16)
        std::memcpy(d, row, sizeof row);
    else
        for (int lane = 0; lane < kLanes; ++lane) d[lane] = numerics::canonical(row[lane]);
    w.commit<float>(in[0][0], d, scratch);
}
void run_f32_to_half(Warp& w, const Inst& in) {
    alignas(64) float scratch[kLanes];
    write_half(w, in[0][0], {.bf16 = ConvertAux::unpack(in.aux).to == Type::bf16},
               w.in<float>(in[1][0], scratch));
}
template <class T>
struct Copy {
    static T apply(T x) { return x; }
};
void bind_float(const ConvertAux& aux, bool rounded, Binding& binding) {
    if (aux.to_integral && aux.to != aux.from) {
        binding.error = "integer rounding needs equal types";
        return;
    }
    const int to = type_bytes(aux.to), from = type_bytes(aux.from);
    if (!aux.to_integral && to < from && !rounded) {
        binding.error = "a conversion that loses precision needs .rn, .rz, .rm or .rp";
        return;
    }
    if (!aux.to_integral && aux.to == aux.from && rounded) {
        binding.error = "rounding is illegal between equal types";
        return;
    }
    binding.run = run_float;
    if (aux.ftz || aux.sat || aux.to_integral) return;
    if (aux.to == aux.from && to == 4) binding.run = run_lanes<Copy<uint32_t>, uint32_t, uint32_t>;
    if (aux.to == aux.from && to == 8) binding.run = run_lanes<Copy<uint64_t>, uint64_t, uint64_t>;
    if (aux.to == Type::f32 && from == 2) binding.run = run_half_to_f32;
    if (aux.from == Type::f32 && to == 2 && aux.rounding == Rounding::rn)
        binding.run = run_f32_to_half;
}

// Which modifiers the pair of types allows; empty when all is well.
std::string_view illegal(const Match& match, const ConvertAux& aux) {
    const bool from_float = is_float(aux.from), to_float = is_float(aux.to);
    const bool rounded = match.has(".frnd");
    if (aux.ftz && aux.from != Type::f32 && aux.to != Type::f32) return ".ftz needs an .f32 type";
    if (aux.to_integral && !from_float) return "integer rounding needs a floating-point source";
    if (rounded && !to_float) return ".rn, .rz, .rm and .rp need a floating-point result";
    if (to_float && !from_float && !rounded) return "an integer source needs .rn, .rz, .rm or .rp";
    if (!to_float && from_float && !aux.to_integral)
        return "an integer result needs .rni, .rzi, .rmi or .rpi";
    if (aux.sat && aux.to == Type::bf16) return ".sat has no .bf16 form";
    return {};
}
void bind_cvt(const Match& match, Binding& binding) {
    ConvertAux aux{.to = match.type(".dtype"),
                   .from = match.type(".atype"),
                   .ftz = match.has(".ftz"),
                   .sat = match.has(".sat")};
    aux.to_integral = match.has(".irnd");
    aux.rounding = rounding_of(aux.to_integral ? match.get(".irnd") : match.get(".frnd"));
    binding.error = illegal(match, aux);
    if (!binding.error.empty()) return;
    if (!check_value(match, 0, type_bytes(aux.to), binding) ||
        !check_value(match, 1, type_bytes(aux.from), binding))
        return;
    binding.aux = aux.pack();
    if (is_float(aux.from)) {
        if (is_float(aux.to))
            bind_float(aux, match.has(".frnd"), binding);
        else
            bind_float_to_integer(aux, binding);
    } else {
        if (is_float(aux.to))
            bind_integer_to_float(aux, binding);
        else
            bind_integer(aux, binding);
    }
}

// clang-format off
#define WW_TYPES(set) set " = .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .bf16 .f16 .f32 .f64"
constexpr std::string_view kAnchor = "data-movement-and-conversion-instructions-cvt";
constexpr Row kRows[] = {
    {"cvt.irnd{.ftz}{.sat}.dtype.atype d, a", ".irnd = .rni .rzi .rmi .rpi; " WW_TYPES(".dtype") "; " WW_TYPES(".atype"), {10}, kAnchor, bind_cvt},
    {"cvt{.frnd}{.ftz}{.sat}.dtype.atype d, a", ".frnd = .rn .rz .rm .rp; " WW_TYPES(".dtype") "; " WW_TYPES(".atype"), {10}, kAnchor, bind_cvt},
};
// clang-format on

}  // namespace

std::span<const Row> convert_rows() { return kRows; }

}  // namespace ww::isa

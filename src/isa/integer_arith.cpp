// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Integer Arithmetic Instructions": add to neg, min, max. The bit-field and dot
// product instructions of the same chapter are in integer_bits.cpp.
#include <limits>

#include "isa/integer_ops.hpp"
#include "isa/isa.hpp"
#include "isa/packed.hpp"

namespace ww::isa {
namespace {

struct Add {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(Wrap<T>(a) + Wrap<T>(b));
    }
};
struct Sub {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(Wrap<T>(a) - Wrap<T>(b));
    }
};
struct AddSat {
    template <class T>
    static T apply(T a, T b) {
        return clamp_to<T>(int64_t{a} + int64_t{b});
    }
};
struct SubSat {
    template <class T>
    static T apply(T a, T b) {
        return clamp_to<T>(int64_t{a} - int64_t{b});
    }
};
struct MulLo {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(Wrap<T>(a) * Wrap<T>(b));
    }
};
struct MulHi {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>((Twice<T>(a) * Twice<T>(b)) >> (8 * sizeof(T)));
    }
};
struct MadLo {
    template <class T>
    static T apply(T a, T b, T c) {
        return static_cast<T>(Wrap<T>(a) * Wrap<T>(b) + Wrap<T>(c));
    }
};
struct MadHi {
    template <class T>
    static T apply(T a, T b, T c) {
        return Add::apply<T>(MulHi::apply<T>(a, b), c);
    }
};
struct MadHiSat {
    static int32_t apply(int32_t a, int32_t b, int32_t c) {
        return clamp_to<int32_t>(int64_t{MulHi::apply<int32_t>(a, b)} + c);
    }
};
// mul24 and mad24 read the low 24 bits; .hi is bits 47..16 of the product.
template <class T>
int64_t product24(T a, T b) {
    if constexpr (std::is_signed_v<T>) {
        const auto low24 = [](int32_t x) {
            return static_cast<int32_t>(static_cast<uint32_t>(x) << 8) >> 8;
        };
        return int64_t{low24(a)} * low24(b);
    } else {
        return static_cast<int64_t>(uint64_t{a & 0xffffff} * uint64_t{b & 0xffffff});
    }
}
template <int Shift>
struct Mul24 {
    template <class T>
    static T apply(T a, T b) {
        return static_cast<T>(product24<T>(a, b) >> Shift);
    }
};
template <int Shift>
struct Mad24 {
    template <class T>
    static T apply(T a, T b, T c) {
        return Add::apply<T>(Mul24<Shift>::template apply<T>(a, b), c);
    }
};
struct Mad24HiSat {
    static int32_t apply(int32_t a, int32_t b, int32_t c) {
        return clamp_to<int32_t>((product24<int32_t>(a, b) >> 16) + c);
    }
};
struct Sad {
    template <class T>
    static T apply(T a, T b, T c) {
        const Wrap<T> distance = a < b ? Wrap<T>(b) - Wrap<T>(a) : Wrap<T>(a) - Wrap<T>(b);
        return static_cast<T>(Wrap<T>(c) + distance);
    }
};
// A zero divisor gives all ones, as the code that ptxas emits does; MININT / -1 wraps.
struct Div {
    template <class T>
    static T apply(T a, T b) {
        if (b == 0) return static_cast<T>(~T{0});
        if constexpr (std::is_signed_v<T>)
            if (b == -1) return static_cast<T>(Wrap<T>(0) - Wrap<T>(a));
        return static_cast<T>(a / b);
    }
};
struct Rem {
    template <class T>
    static T apply(T a, T b) {
        if (b == 0) return static_cast<T>(~T{0});
        if constexpr (std::is_signed_v<T>)
            if (b == -1) return 0;
        return static_cast<T>(a % b);
    }
};
struct Neg {
    template <class T>
    static T apply(T a) {
        return static_cast<T>(Wrap<T>(0) - Wrap<T>(a));
    }
};
struct Abs {
    template <class T>
    static T apply(T a) {
        return a < 0 ? Neg::apply<T>(a) : a;
    }
};
struct Min {
    template <class T>
    static T apply(T a, T b) {
        return a < b ? a : b;
    }
};
struct Max {
    template <class T>
    static T apply(T a, T b) {
        return a > b ? a : b;
    }
};
struct MinRelu {
    template <class T>
    static T apply(T a, T b) {
        return Max::apply<T>(Min::apply<T>(a, b), T{0});
    }
};
struct MaxRelu {
    template <class T>
    static T apply(T a, T b) {
        return Max::apply<T>(Max::apply<T>(a, b), T{0});
    }
};

// .wide: the sources are half as wide as the result.
template <class T, class W>
struct WideOf {
    static W apply(T a, T b) { return static_cast<W>(W{a} * W{b}); }
    static W apply(T a, T b, W c) { return static_cast<W>(Wrap<W>(W{a} * W{b}) + Wrap<W>(c)); }
};
template <bool Add>
void bind_wide(const Match& match, Binding& binding) {
    const auto bind = [&]<class T, class W>() {
        if constexpr (Add)
            bind_lanes<WideOf<T, W>, W, T, T, W>(match, binding);
        else
            bind_lanes<WideOf<T, W>, W, T, T>(match, binding);
    };
    switch (match.type()) {
        case Type::u16:
            return bind.template operator()<uint16_t, uint32_t>();
        case Type::s16:
            return bind.template operator()<int16_t, int32_t>();
        case Type::u32:
            return bind.template operator()<uint32_t, uint64_t>();
        case Type::s32:
            return bind.template operator()<int32_t, int64_t>();
        default:
            binding.error = "type has no .wide form";
    }
}

// Packed types: elements of a 32-bit register.
template <class Op, int Sources>
void bind_simd(const Match& match, Binding& binding) {
    const std::string_view type = match.get(".type");
    if (type == ".u16x2") return bind_packed<Op, uint16_t, uint32_t, Sources>(match, binding);
    if (type == ".s16x2") return bind_packed<Op, int16_t, uint32_t, Sources>(match, binding);
    if (type == ".u8x4") return bind_packed<Op, uint8_t, uint32_t, Sources>(match, binding);
    if (type == ".s8x4") return bind_packed<Op, int8_t, uint32_t, Sources>(match, binding);
    binding.error = "not a packed type";
}

// clang-format off
#define WW_INTEGERS uint16_t, uint32_t, uint64_t, int16_t, int32_t, int64_t
#define WW_INTEGER_TYPES ".type = .u16 .u32 .u64 .s16 .s32 .s64"
#define WW_ANCHOR(name) "integer-arithmetic-instructions-" name
constexpr Row kRows[] = {
    {"add.type d, a, b", WW_INTEGER_TYPES, {10}, WW_ANCHOR("add"), bind_same<Add, 2, WW_INTEGERS>},
    {"add.sat.s32 d, a, b", "", {10}, WW_ANCHOR("add"), bind_lanes<AddSat, int32_t, int32_t, int32_t>},
    {"add.sat.u32 d, a, b", "", {92, 120, 'f'}, WW_ANCHOR("add"), bind_lanes<AddSat, uint32_t, uint32_t, uint32_t>},
    {"add.type d, a, b", ".type = .u16x2 .s16x2", {80, 90}, WW_ANCHOR("add"), bind_simd<Add, 2>},
    {"add.type d, a, b", ".type = .u8x4 .s8x4", {92, 120, 'f'}, WW_ANCHOR("add"), bind_simd<Add, 2>},
    {"add.sat.type d, a, b", ".type = .u16x2 .s16x2 .u8x4 .s8x4", {92, 120, 'f'}, WW_ANCHOR("add"), bind_simd<AddSat, 2>},
    {"sub.type d, a, b", WW_INTEGER_TYPES, {10}, WW_ANCHOR("sub"), bind_same<Sub, 2, WW_INTEGERS>},
    {"sub.sat.s32 d, a, b", "", {10}, WW_ANCHOR("sub"), bind_lanes<SubSat, int32_t, int32_t, int32_t>},
    {"sub.sat.u32 d, a, b", "", {92, 120, 'f'}, WW_ANCHOR("sub"), bind_lanes<SubSat, uint32_t, uint32_t, uint32_t>},
    {"sub.type d, a, b", ".type = .u16x2 .s16x2 .u8x4 .s8x4", {92, 120, 'f'}, WW_ANCHOR("sub"), bind_simd<Sub, 2>},
    {"sub.sat.type d, a, b", ".type = .u16x2 .s16x2 .u8x4 .s8x4", {92, 120, 'f'}, WW_ANCHOR("sub"), bind_simd<SubSat, 2>},
    {"mul.lo.type d, a, b", WW_INTEGER_TYPES, {10}, WW_ANCHOR("mul"), bind_same<MulLo, 2, WW_INTEGERS>},
    {"mul.hi.type d, a, b", WW_INTEGER_TYPES, {10}, WW_ANCHOR("mul"), bind_same<MulHi, 2, WW_INTEGERS>},
    {"mul.wide.type d, a, b", ".type = .u16 .u32 .s16 .s32", {10}, WW_ANCHOR("mul"), bind_wide<false>},
    {"mad.lo.type d, a, b, c", WW_INTEGER_TYPES, {10}, WW_ANCHOR("mad"), bind_same<MadLo, 3, WW_INTEGERS>},
    {"mad.hi.type d, a, b, c", WW_INTEGER_TYPES, {10}, WW_ANCHOR("mad"), bind_same<MadHi, 3, WW_INTEGERS>},
    {"mad.wide.type d, a, b, c", ".type = .u16 .u32 .s16 .s32", {10}, WW_ANCHOR("mad"), bind_wide<true>},
    {"mad.hi.sat.s32 d, a, b, c", "", {10}, WW_ANCHOR("mad"), bind_lanes<MadHiSat, int32_t, int32_t, int32_t, int32_t>},
    {"mul24.hi.type d, a, b", ".type = .u32 .s32", {10}, WW_ANCHOR("mul24"), bind_same<Mul24<16>, 2, uint32_t, int32_t>},
    {"mul24.lo.type d, a, b", ".type = .u32 .s32", {10}, WW_ANCHOR("mul24"), bind_same<Mul24<0>, 2, uint32_t, int32_t>},
    {"mad24.hi.type d, a, b, c", ".type = .u32 .s32", {10}, WW_ANCHOR("mad24"), bind_same<Mad24<16>, 3, uint32_t, int32_t>},
    {"mad24.lo.type d, a, b, c", ".type = .u32 .s32", {10}, WW_ANCHOR("mad24"), bind_same<Mad24<0>, 3, uint32_t, int32_t>},
    {"mad24.hi.sat.s32 d, a, b, c", "", {10}, WW_ANCHOR("mad24"), bind_lanes<Mad24HiSat, int32_t, int32_t, int32_t, int32_t>},
    {"sad.type d, a, b, c", WW_INTEGER_TYPES, {10}, WW_ANCHOR("sad"), bind_same<Sad, 3, WW_INTEGERS>},
    {"div.type d, a, b", WW_INTEGER_TYPES, {10}, WW_ANCHOR("div"), bind_same<Div, 2, WW_INTEGERS>},
    {"rem.type d, a, b", WW_INTEGER_TYPES, {10}, WW_ANCHOR("rem"), bind_same<Rem, 2, WW_INTEGERS>},
    {"abs.type d, a", ".type = .s16 .s32 .s64", {10}, WW_ANCHOR("abs"), bind_same<Abs, 1, int16_t, int32_t, int64_t>},
    {"abs.type d, a", ".type = .s8x4", {92, 120, 'f'}, WW_ANCHOR("abs"), bind_simd<Abs, 1>},
    {"neg.type d, a", ".type = .s16 .s32 .s64", {10}, WW_ANCHOR("neg"), bind_same<Neg, 1, int16_t, int32_t, int64_t>},
    {"neg.type d, a", ".type = .s8x4", {92, 120, 'f'}, WW_ANCHOR("neg"), bind_simd<Neg, 1>},
    {"min.type d, a, b", WW_INTEGER_TYPES, {10}, WW_ANCHOR("min"), bind_same<Min, 2, WW_INTEGERS>},
    {"min.type d, a, b", ".type = .u16x2 .s16x2", {80, 90}, WW_ANCHOR("min"), bind_simd<Min, 2>},
    {"min.type d, a, b", ".type = .u8x4 .s8x4", {92, 120, 'f'}, WW_ANCHOR("min"), bind_simd<Min, 2>},
    {"min.relu.s32 d, a, b", "", {80, 90}, WW_ANCHOR("min"), bind_lanes<MinRelu, int32_t, int32_t, int32_t>},
    {"min.relu.type d, a, b", ".type = .s16x2", {80, 90}, WW_ANCHOR("min"), bind_simd<MinRelu, 2>},
    {"min.relu.type d, a, b", ".type = .s8x4", {92, 120, 'f'}, WW_ANCHOR("min"), bind_simd<MinRelu, 2>},
    {"max.type d, a, b", WW_INTEGER_TYPES, {10}, WW_ANCHOR("max"), bind_same<Max, 2, WW_INTEGERS>},
    {"max.type d, a, b", ".type = .u16x2 .s16x2", {80, 90}, WW_ANCHOR("max"), bind_simd<Max, 2>},
    {"max.type d, a, b", ".type = .u8x4 .s8x4", {92, 120, 'f'}, WW_ANCHOR("max"), bind_simd<Max, 2>},
    {"max.relu.s32 d, a, b", "", {80, 90}, WW_ANCHOR("max"), bind_lanes<MaxRelu, int32_t, int32_t, int32_t>},
    {"max.relu.type d, a, b", ".type = .s16x2", {80, 90}, WW_ANCHOR("max"), bind_simd<MaxRelu, 2>},
    {"max.relu.type d, a, b", ".type = .s8x4", {92, 120, 'f'}, WW_ANCHOR("max"), bind_simd<MaxRelu, 2>},
};
// clang-format on

}  // namespace

std::span<const Row> integer_arith_rows() { return kRows; }

}  // namespace ww::isa

// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Floating-Point Instructions": testp to max. The special functions of the chapter
// are in float_special.cpp.
#include "isa/float_ops.hpp"
#include "isa/isa.hpp"
#include "isa/predicate_ops.hpp"
#include "numerics/math.hpp"

namespace ww::isa {
namespace {

struct Add {
    template <Rounding R, class T>
    static T apply(T a, T b) {
        return numerics::add<R>(a, b);
    }
};
struct Sub {
    template <Rounding R, class T>
    static T apply(T a, T b) {
        return numerics::sub<R>(a, b);
    }
};
struct Mul {
    template <Rounding R, class T>
    static T apply(T a, T b) {
        return numerics::mul<R>(a, b);
    }
    // Scaled, so that it does not underflow where it matters: |a b| is about 2^-126 there, hence
    // |a| at most about 1.
    static float residual(float result, float a, float b) {
        constexpr float kScale = 0x1p100f;
        return __builtin_fmaf(a * kScale, b, -result * kScale);
    }
};
struct Fma {
    template <Rounding R, class T>
    static T apply(T a, T b, T c) {
        return numerics::fma<R>(a, b, c);
    }
    static float residual(float result, float a, float b, float c) {
        const double rest = static_cast<double>(c) - static_cast<double>(result);
        const double exact = __builtin_fma(static_cast<double>(a), static_cast<double>(b), rest);
        return static_cast<float>(exact * 0x1p100);
    }
};
struct Div {
    template <Rounding R, class T>
    static T apply(T a, T b) {
        return numerics::div<R>(a, b);
    }
};

template <bool Ftz>
struct DivApprox {
    static float apply(float a, float b) {
        return Ftz ? numerics::div_approx_ftz(a, b) : numerics::div_approx(a, b);
    }
};
// What ptxas makes of .full: both operands scaled so that the divisor's reciprocal is normal.
template <bool Ftz>
struct DivFull {
    static float apply(float a, float b) {
        if constexpr (Ftz) {
            a = numerics::flush(a);
            b = numerics::flush(b);
        }
        const float size = std::fabs(b);
        const float scale = size > 0x1p126f ? 0.25f : (!Ftz && size < 0x1p-126f ? 0x1p24f : 1.0f);
        float scaled = a * scale;
        if constexpr (Ftz) scaled = numerics::flush(scaled);
        const float quotient = numerics::canonical(numerics::rcp_approx_ftz(b * scale) * scaled);
        return Ftz ? numerics::flush(quotient) : quotient;
    }
};
template <template <bool> class Op>
void bind_divide(const Match& match, Binding& binding) {
    with_flag(match.has(".ftz"),
              [&]<bool Ftz>() { bind_lanes<Op<Ftz>, float, float, float>(match, binding); });
}

// Additions on the chip, so an f32 NaN comes out canonical.
struct Neg {
    static float apply(float a) { return numerics::canonical(-a); }
    static double apply(double a) { return -a; }
};
struct Abs {
    static float apply(float a) { return numerics::canonical(std::fabs(a)); }
    static double apply(double a) { return std::fabs(a); }
};
// The sign of a, the rest of b.
struct Copysign {
    template <class U>
    static U apply(U a, U b) {
        return (a & Bits<U>::kSign) | (b & ~Bits<U>::kSign);
    }
};

enum class Property : uint8_t { finite, infinite, number, notanumber, normal, subnormal };
template <class U>
bool has_property(Property property, U bits) {
    const U magnitude = bits & ~Bits<U>::kSign, exponent = bits & Bits<U>::kExponent;
    switch (property) {
        case Property::finite:
            return exponent != Bits<U>::kExponent;
        case Property::infinite:
            return magnitude == Bits<U>::kExponent;
        case Property::number:
            return magnitude <= Bits<U>::kExponent;
        case Property::notanumber:
            return magnitude > Bits<U>::kExponent;
        case Property::normal:
            return (exponent != 0 && exponent != Bits<U>::kExponent) || magnitude == 0;
        default:
            return exponent == 0 && magnitude != 0;
    }
}
template <class U>
void run_testp(Warp& w, const Inst& in) {
    alignas(64) U scratch[kLanes];
    const U* a = w.in<U>(in[1][0], scratch);
    const auto property = static_cast<Property>(in.aux);
    w.set_predicate(in[0][0],
                    lanes_where([&](int lane) { return has_property<U>(property, a[lane]); }));
}
void bind_testp(const Match& match, Binding& binding) {
    const int bytes = machine::type_bytes(match.type());
    if (!check_predicate(match, 0, binding) || !check_value(match, 1, bytes, binding)) return;
    constexpr std::string_view kNames[] = {".finite",     ".infinite", ".number",
                                           ".notanumber", ".normal",   ".subnormal"};
    while (kNames[binding.aux] != match.get(".op")) ++binding.aux;
    binding.run = bytes == 4 ? run_testp<uint32_t> : run_testp<uint64_t>;
}

template <bool Max, bool Nan, bool Magnitude>
struct MinMax3 {
    static float apply(float a, float b, float c) {
        if constexpr (Magnitude) a = std::fabs(a), b = std::fabs(b), c = std::fabs(c);
        const float nan = both_nan(a);
        return min_max<Max, Nan>(min_max<Max, Nan>(a, b, nan), c, nan);
    }
};
template <bool Max>
void bind_min_max(const Match& match, Binding& binding) {
    if (!check_xorsign(match, binding)) return;
    with_flag(match.has(".NaN"), [&]<bool Nan>() {
        with_flag(match.has(".xorsign"), [&]<bool Xorsign>() {
            bind_f32_ftz<MinMax<Max, Nan, Xorsign>, 2>(match, binding);
        });
    });
}
template <bool Max>
void bind_min_max3(const Match& match, Binding& binding) {
    with_flag(match.has(".NaN"), [&]<bool Nan>() {
        with_flag(match.has(".abs"), [&]<bool Magnitude>() {
            bind_f32_ftz<MinMax3<Max, Nan, Magnitude>, 3>(match, binding);
        });
    });
}

// clang-format off
#define WW_RND ".rnd = .rn .rz .rm .rp"
#define WW_ANCHOR(name) "floating-point-instructions-" name
constexpr Row kRows[] = {
    {"testp.op.type p, a", ".op = .finite .infinite .number .notanumber .normal .subnormal; .type = .f32 .f64", {20, 20}, WW_ANCHOR("testp"), bind_testp},
    {"copysign.type d, a, b", ".type = .f32 .f64", {20, 20}, WW_ANCHOR("copysign"),
     [](const Match& match, Binding& binding) {
         if (match.type() == Type::f32) bind_lanes<Copysign, uint32_t, uint32_t, uint32_t>(match, binding);
         else bind_lanes<Copysign, uint64_t, uint64_t, uint64_t>(match, binding);
     }},
    {"add{.rnd}{.ftz}{.sat}.f32 d, a, b", WW_RND, {10}, WW_ANCHOR("add"), bind_f32<Add, 2>},
    {"add{.rnd}{.ftz}.f32x2 d, a, b", WW_RND, {86, 100}, WW_ANCHOR("add"), bind_f32x2<Add, 2>},
    {"add{.rnd}.f64 d, a, b", WW_RND, {10, 13}, WW_ANCHOR("add"), bind_f64<Add, 2>},
    {"sub{.rnd}{.ftz}{.sat}.f32 d, a, b", WW_RND, {10}, WW_ANCHOR("sub"), bind_f32<Sub, 2>},
    {"sub{.rnd}{.ftz}.f32x2 d, a, b", WW_RND, {86, 100}, WW_ANCHOR("sub"), bind_f32x2<Sub, 2>},
    {"sub{.rnd}.f64 d, a, b", WW_RND, {10, 13}, WW_ANCHOR("sub"), bind_f64<Sub, 2>},
    {"mul{.rnd}{.ftz}{.sat}.f32 d, a, b", WW_RND, {10}, WW_ANCHOR("mul"), bind_f32<Mul, 2>},
    {"mul{.rnd}{.ftz}.f32x2 d, a, b", WW_RND, {86, 100}, WW_ANCHOR("mul"), bind_f32x2<Mul, 2>},
    {"mul{.rnd}.f64 d, a, b", WW_RND, {10, 13}, WW_ANCHOR("mul"), bind_f64<Mul, 2>},
    {"fma.rnd{.ftz}{.sat}.f32 d, a, b, c", WW_RND, {20, 20}, WW_ANCHOR("fma"), bind_f32<Fma, 3>},
    {"fma.rnd{.ftz}.f32x2 d, a, b, c", WW_RND, {86, 100}, WW_ANCHOR("fma"), bind_f32x2<Fma, 3>},
    {"fma.rnd.f64 d, a, b, c", WW_RND, {14, 13}, WW_ANCHOR("fma"), bind_f64<Fma, 3>},
    {"mad.rnd{.ftz}{.sat}.f32 d, a, b, c", WW_RND, {10, 20}, WW_ANCHOR("mad"), bind_f32<Fma, 3>},
    {"mad.rnd.f64 d, a, b, c", WW_RND, {10, 13}, WW_ANCHOR("mad"), bind_f64<Fma, 3>},
    {"div.approx{.ftz}.f32 d, a, b", "", {14}, WW_ANCHOR("div"), bind_divide<DivApprox>},
    {"div.full{.ftz}.f32 d, a, b", "", {14}, WW_ANCHOR("div"), bind_divide<DivFull>},
    {"div.rnd{.ftz}.f32 d, a, b", WW_RND, {14, 20}, WW_ANCHOR("div"), bind_f32<Div, 2>},
    {"div.rnd.f64 d, a, b", WW_RND, {14, 13}, WW_ANCHOR("div"), bind_f64<Div, 2>},
    {"abs{.ftz}.f32 d, a", "", {10}, WW_ANCHOR("abs"), bind_f32_ftz<Abs, 1>},
    {"abs.f64 d, a", "", {10, 13}, WW_ANCHOR("abs"), bind_lanes<Abs, double, double>},
    {"neg{.ftz}.f32 d, a", "", {10}, WW_ANCHOR("neg"), bind_f32_ftz<Neg, 1>},
    {"neg.f64 d, a", "", {10, 13}, WW_ANCHOR("neg"), bind_lanes<Neg, double, double>},
    {"min{.ftz}{.NaN}{.xorsign.abs}.f32 d, a, b", "", {10}, WW_ANCHOR("min"), bind_min_max<false>},
    {"min{.ftz}{.NaN}{.abs}.f32 d, a, b, c", "", {88, 100}, WW_ANCHOR("min"), bind_min_max3<false>},
    {"min.f64 d, a, b", "", {10, 13}, WW_ANCHOR("min"), bind_lanes<MinMax<false, false, false>, double, double, double>},
    {"max{.ftz}{.NaN}{.xorsign.abs}.f32 d, a, b", "", {10}, WW_ANCHOR("max"), bind_min_max<true>},
    {"max{.ftz}{.NaN}{.abs}.f32 d, a, b, c", "", {88, 100}, WW_ANCHOR("max"), bind_min_max3<true>},
    {"max.f64 d, a, b", "", {10, 13}, WW_ANCHOR("max"), bind_lanes<MinMax<true, false, false>, double, double, double>},
};
// clang-format on

}  // namespace

std::span<const Row> float_arith_rows() { return kRows; }

}  // namespace ww::isa

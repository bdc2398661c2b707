// SPDX-License-Identifier: Apache-2.0
// Modifiers of floating-point instructions, applied in one place: rounding, .ftz, .sat. They are
// template parameters, chosen once at bind time.
#pragma once
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

#include "isa/packed.hpp"
#include "numerics/arith.hpp"

namespace ww::isa {

using numerics::Rounding;

// Op has template <Rounding R> static T apply(T...).
template <class Op, Rounding R, bool Ftz, bool Sat>
struct Modified {
    template <class... T>
    static auto apply(T... x) {
        auto result = Op::template apply<R>(input(x)...);
        if constexpr (Ftz) result = flush_result(result, input(x)...);
        if constexpr (Sat) result = numerics::saturate(result);
        return result;
    }

  private:
    // [H200] Tiny is what stays below 2^-126 when it is rounded to 24 bits as if the exponent had
    // no limit: 2^-126 (1 - 2^-24) is flushed although the subnormal grid rounds it up to 2^-126.
    // Operations where that can happen have residual(result, x...): (exact - result) 2^100.
    template <class T, class... X>
    static T flush_result(T result, X... x) {
        if constexpr (requires { Op::residual(result, x...); }) {
            const bool smallest = (numerics::bits_of(result) & 0x7fffffffu) == 0x00800000u;
            const T rest = Op::residual(result, x...);
            const T short_by = std::signbit(result) ? rest : -rest;
            const bool tiny = R == Rounding::rn ? short_by > T(0x1p-51) : short_by >= T(0x1p-50);
            result = smallest & tiny ? std::copysign(T(0), result) : result;
        }
        return numerics::flush(result);
    }
    template <class T>
    static T input(T x) {
        if constexpr (Ftz)
            return numerics::flush(x);
        else
            return x;
    }
};

// Calls f.template operator()<R>(); no rounding modifier means .rn.
template <class F>
void with_rounding(std::string_view rounding, F&& f) {
    if (rounding == ".rz")
        f.template operator()<Rounding::rz>();
    else if (rounding == ".rm")
        f.template operator()<Rounding::rm>();
    else if (rounding == ".rp")
        f.template operator()<Rounding::rp>();
    else
        f.template operator()<Rounding::rn>();
}
template <class F>
void with_flag(bool flag, F&& f) {
    if (flag)
        f.template operator()<true>();
    else
        f.template operator()<false>();
}

// {.rnd}{.ftz}{.sat} on f32.
template <class Op, int Sources>
void bind_f32(const Match& match, Binding& binding) {
    with_rounding(match.get(".rnd"), [&]<Rounding R>() {
        with_flag(match.has(".ftz"), [&]<bool Ftz>() {
            with_flag(match.has(".sat"), [&]<bool Sat>() {
                bind_same_impl<Modified<Op, R, Ftz, Sat>, float>(
                    match, binding, std::make_index_sequence<Sources>{});
            });
        });
    });
}
// {.rnd}{.ftz} on f32x2: 64 floats.
template <class Op, int Sources>
void bind_f32x2(const Match& match, Binding& binding) {
    with_rounding(match.get(".rnd"), [&]<Rounding R>() {
        with_flag(match.has(".ftz"), [&]<bool Ftz>() {
            bind_packed<Modified<Op, R, Ftz, false>, float, uint64_t, Sources>(match, binding);
        });
    });
}
// An f64 NaN is the first source that is one, made quiet; else what the chip makes of an invalid
// operation. Host instructions would pick a source by the form that the compiler chose.
template <class Op>
struct KeepsNan {
    template <Rounding R, class... T>
    static double apply(T... x) {
        const double result = Op::template apply<R>(x...);
        uint64_t nan = 0xfff8000000000000u;
        const double sources[] = {x...};
        for (size_t i = sizeof...(T); i-- > 0;)
            nan = sources[i] != sources[i] ? numerics::bits_of(sources[i]) | 0x0008000000000000u
                                           : nan;
        return result != result ? numerics::double_of(nan) : result;
    }
};
// {.rnd} on f64.
template <class Op, int Sources>
void bind_f64(const Match& match, Binding& binding) {
    with_rounding(match.get(".rnd"), [&]<Rounding R>() {
        bind_same_impl<Modified<KeepsNan<Op>, R, false, false>, double>(
            match, binding, std::make_index_sequence<Sources>{});
    });
}
// {.ftz} on f32, for operations without rounding: Op has apply(float...).
template <class Op>
struct Unrounded {
    template <Rounding, class... T>
    static auto apply(T... x) {
        return Op::apply(x...);
    }
};
template <class Op, int Sources>
void bind_f32_ftz(const Match& match, Binding& binding) {
    with_flag(match.has(".ftz"), [&]<bool Ftz>() {
        bind_same_impl<Modified<Unrounded<Op>, Rounding::rn, Ftz, false>, float>(
            match, binding, std::make_index_sequence<Sources>{});
    });
}

// The smaller or larger of a and b, where -0 < +0. A NaN loses, or wins when Nan is set. On the
// bits, because integer selects vectorise.
template <bool Max, bool Nan, class T>
inline T min_max(T a, T b, T nan) {
    using I = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    constexpr I kMagnitude = std::numeric_limits<I>::max();
    constexpr I kInfinity =
        sizeof(T) == 4 ? static_cast<I>(0x7f800000) : static_cast<I>(0x7ff0000000000000);
    const I x = std::bit_cast<I>(a), y = std::bit_cast<I>(b);
    // Two's complement order of the values: negative ones have their magnitude inverted.
    constexpr int kTop = 8 * sizeof(T) - 1;
    const I x_order = x ^ (x >> kTop & kMagnitude), y_order = y ^ (y >> kTop & kMagnitude);
    const auto mask = [](bool condition) { return static_cast<I>(-static_cast<I>(condition)); };
    const auto blend = [](I m, I yes, I no) { return (m & yes) | (~m & no); };
    const I x_nan = mask((x & kMagnitude) > kInfinity), y_nan = mask((y & kMagnitude) > kInfinity);
    const I first = mask(Max ? x_order > y_order : x_order < y_order);
    // Branches here would keep the loop from being vectorised.
    if constexpr (Nan)
        return std::bit_cast<T>(blend(x_nan | y_nan, std::bit_cast<I>(nan), blend(first, x, y)));
    const I known = blend((first & ~x_nan) | y_nan, x, y);
    return std::bit_cast<T>(blend(x_nan & y_nan, std::bit_cast<I>(nan), known));
}

template <class T>
struct Bits;
template <>
struct Bits<uint32_t> {
    static constexpr uint32_t kSign = 0x80000000u, kExponent = 0x7f800000u;
};
template <>
struct Bits<uint64_t> {
    static constexpr uint64_t kSign = uint64_t{1} << 63, kExponent = uint64_t{0x7ff} << 52;
};
// The result of two NaNs: canonical in f32, the second one made quiet in f64.
inline float both_nan(float) { return numerics::float_of(numerics::kNanF32); }
inline double both_nan(double b) {
    return numerics::double_of(numerics::bits_of(b) | 0x0008000000000000u);
}

template <bool Max, bool Nan, bool Xorsign>
struct MinMax {
    template <class T>
    static T apply(T a, T b) {
        if constexpr (!Xorsign) return min_max<Max, Nan>(a, b, both_nan(b));
        const T result = min_max<Max, Nan>(std::fabs(a), std::fabs(b), both_nan(b));
        using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
        const U sign = (std::bit_cast<U>(a) ^ std::bit_cast<U>(b)) & Bits<U>::kSign;
        const U bits = std::bit_cast<U>(result);
        const U keep = static_cast<U>(-static_cast<U>(bits <= Bits<U>::kExponent));
        return std::bit_cast<T>(bits | (sign & keep));
    }
};
// .xorsign.abs stands together, but is read as two modifiers.
inline bool check_xorsign(const Match& match, Binding& binding) {
    if (match.has(".xorsign") == match.has(".abs")) return true;
    binding.error = ".xorsign and .abs must stand together";
    return false;
}

}  // namespace ww::isa

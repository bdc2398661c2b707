// SPDX-License-Identifier: Apache-2.0
// Integer helpers that several chapters share: wrapping types, double width, clamping.
#pragma once
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ww::isa {

// Arithmetic wraps, so it is done on the unsigned type of the same width (and at least 32 bits:
// promotion of u16 to int would overflow in mul).
template <class T>
using Wrap = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

// The type of twice the width, same signedness.
template <class T>
using Twice =
    std::conditional_t<(sizeof(T) == 8), std::conditional_t<std::is_signed_v<T>, Int128, UInt128>,
                       std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

// The nearest value of T; S holds every value of T.
template <class T, class S>
constexpr T clamp_to(S x) {
    constexpr S kLow = static_cast<S>(std::numeric_limits<T>::min());
    constexpr S kHigh = static_cast<S>(std::numeric_limits<T>::max());
    return static_cast<T>(x < kLow ? kLow : x > kHigh ? kHigh : x);
}

// x >> amount and x << amount where an amount of the width or more shifts everything out.
template <class T>
constexpr T shift_right(T x, uint32_t amount) {
    constexpr uint32_t kBits = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>)
        return static_cast<T>(x >> (amount < kBits ? amount : kBits - 1));
    else
        return amount < kBits ? static_cast<T>(x >> amount) : T{0};
}
template <class T>
constexpr T shift_left(T x, uint32_t amount) {
    constexpr uint32_t kBits = 8 * sizeof(T);
    return amount < kBits ? static_cast<T>(std::make_unsigned_t<T>(x) << amount) : T{0};
}

}  // namespace ww::isa

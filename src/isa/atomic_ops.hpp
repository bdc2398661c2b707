// SPDX-License-Identifier: Apache-2.0
// What atomics and asynchronous reductions do to one value, and how a host thread does it
// atomically.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstring>

#include "numerics/arith.hpp"
#include "numerics/half.hpp"

namespace ww::isa::atomic {

// ---- operations: what the new value is ----
struct And {
    template <class T>
    static T apply(T old, T b) {
        return static_cast<T>(old & b);
    }
};
struct Or {
    template <class T>
    static T apply(T old, T b) {
        return static_cast<T>(old | b);
    }
};
struct Xor {
    template <class T>
    static T apply(T old, T b) {
        return static_cast<T>(old ^ b);
    }
};
struct Exchange {
    template <class T>
    static T apply(T, T b) {
        return b;
    }
};
struct Add {
    template <class T>
    static T apply(T old, T b) {
        return static_cast<T>(old + b);
    }
};
struct Inc {
    template <class T>
    static T apply(T old, T b) {
        return old >= b ? T{0} : static_cast<T>(old + 1);
    }
};
struct Dec {
    template <class T>
    static T apply(T old, T b) {
        return old == 0 || old > b ? b : static_cast<T>(old - 1);
    }
};
struct Min {
    template <class T>
    static T apply(T old, T b) {
        return b < old ? b : old;
    }
};
struct Max {
    template <class T>
    static T apply(T old, T b) {
        return b > old ? b : old;
    }
};

struct AddF32 {
    static uint32_t apply(uint32_t old, uint32_t b) {
        return numerics::bits_of(numerics::add(numerics::float_of(old), numerics::float_of(b)));
    }
};
// In global memory, f32 additions flush subnormal inputs and results.
struct AddF32Flush {
    static uint32_t apply(uint32_t old, uint32_t b) {
        using numerics::flush;
        return numerics::bits_of(
            flush(numerics::add(flush(numerics::float_of(old)), flush(numerics::float_of(b)))));
    }
};
struct AddF64 {
    static uint64_t apply(uint64_t old, uint64_t b) {
        return numerics::bits_of(numerics::add(numerics::double_of(old), numerics::double_of(b)));
    }
};

// f16 and bf16: sign-magnitude codes whose order is that of the values; NaN above Infinity.
template <uint16_t Infinity, bool Max>
uint16_t half_extreme(uint16_t a, uint16_t b) {
    const bool a_nan = (a & 0x7fff) > Infinity, b_nan = (b & 0x7fff) > Infinity;
    if (a_nan || b_nan) return a_nan && b_nan ? 0x7fff : a_nan ? b : a;
    const auto order = [](uint16_t code) {
        return code & 0x8000 ? -(code & 0x7fff) - 1 : static_cast<int>(code);
    };
    return (order(a) < order(b)) == Max ? b : a;
}
struct AddF16 {
    static uint16_t apply(uint16_t old, uint16_t b) { return numerics::f16_add(old, b); }
};
struct AddBf16 {
    static uint16_t apply(uint16_t old, uint16_t b) { return numerics::bf16_add(old, b); }
};
struct MinF16 {
    static uint16_t apply(uint16_t old, uint16_t b) { return half_extreme<0x7c00, false>(old, b); }
};
struct MaxF16 {
    static uint16_t apply(uint16_t old, uint16_t b) { return half_extreme<0x7c00, true>(old, b); }
};
struct MinBf16 {
    static uint16_t apply(uint16_t old, uint16_t b) { return half_extreme<0x7f80, false>(old, b); }
};
struct MaxBf16 {
    static uint16_t apply(uint16_t old, uint16_t b) { return half_extreme<0x7f80, true>(old, b); }
};
// Two halves in one word; each is atomic by itself, so the word may be.
template <class Op>
struct Pair {
    static uint32_t apply(uint32_t old, uint32_t b) {
        const uint32_t low = Op::apply(static_cast<uint16_t>(old), static_cast<uint16_t>(b));
        const uint32_t high =
            Op::apply(static_cast<uint16_t>(old >> 16), static_cast<uint16_t>(b >> 16));
        return high << 16 | low;
    }
};

// ---- host atomics ----
template <class T>
bool compare_exchange(uint8_t* at, T& expected, T desired) {
    if constexpr (sizeof(T) == 16) {
        // The generic builtins would call a library; the old one is the processor's instruction.
        const T found = __sync_val_compare_and_swap(reinterpret_cast<T*>(at), expected, desired);
        const bool same = found == expected;
        expected = found;
        return same;
    } else {
        return std::atomic_ref<T>(*reinterpret_cast<T*>(at))
            .compare_exchange_strong(expected, desired);
    }
}

template <class T, class Update>
T update(uint8_t* at, Update&& next) {
    T old;
    std::memcpy(&old, at, sizeof old);
    while (!compare_exchange<T>(at, old, next(old))) {
    }
    return old;
}

}  // namespace ww::isa::atomic

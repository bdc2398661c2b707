// SPDX-License-Identifier: Apache-2.0
// The comparison operators of set and setp, and what the two do with the lanes that hold.
#pragma once
#include <string_view>

#include "isa/predicate_ops.hpp"

namespace ww::isa {

enum class Compare : uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

// Ordered comparisons are false with a NaN; the ...u forms are true.
template <Compare C, class T>
inline bool holds(T a, T b) {
    [[maybe_unused]] const bool unordered = a != a || b != b;
    switch (C) {
        case Compare::eq:
            return a == b;
        case Compare::ne:
            return std::is_floating_point_v<T> ? (a < b) | (a > b) : a != b;
        case Compare::lt:
            return a < b;
        case Compare::le:
            return a <= b;
        case Compare::gt:
            return a > b;
        case Compare::ge:
            return a >= b;
        case Compare::equ:
            return !(a < b) & !(a > b);
        case Compare::neu:
            return a != b;
        case Compare::ltu:
            return !(a >= b);
        case Compare::leu:
            return !(a > b);
        case Compare::gtu:
            return !(a <= b);
        case Compare::geu:
            return !(a < b);
        case Compare::num:
            return !unordered;
        case Compare::nan:
            return unordered;
    }
}

// How the lanes that hold become the destination; packed in aux.
struct CompareAux {
    BoolOp op = BoolOp::none;
    uint8_t result_bytes = 0;  // set: width of d; 0: setp, predicates
    uint32_t true_bits = 0;    // set: what a lane that holds gets
    uint8_t half = 0;          // a packed HalfAux: how half operands are read
    uint64_t pack() const {
        return static_cast<uint64_t>(op) | uint64_t{result_bytes} << 8 | uint64_t{half} << 16 |
               uint64_t{true_bits} << 32;
    }
    static CompareAux unpack(uint64_t aux) {
        return {static_cast<BoolOp>(aux & 0xff), static_cast<uint8_t>(aux >> 8),
                static_cast<uint32_t>(aux >> 32), static_cast<uint8_t>(aux >> 16)};
    }
};

// Positions: setp p, q, a, b, {!}c (q may be left out); set d, a, b, {!}c.
inline int first_source(const Inst& in) {
    return CompareAux::unpack(in.aux).result_bytes == 0 ? 2 : 1;
}
void finish_compare(Warp& w, const Inst& in, LaneMask holds);

// Binds a comparison of the f32, f64 or integer operands at first and first + 1, of the type that
// the set gives; binding.aux is already there.
void bind_compared(const Match& match, std::string_view type_set, int first, Binding& binding);

// Calls f.template operator()<C>() for the operator of that name, if it is one of this type's.
template <bool IsFloat, class F>
bool with_compare(std::string_view name, F&& f) {
    using enum Compare;
    if (name == ".eq") return f.template operator()<eq>(), true;
    if (name == ".ne") return f.template operator()<ne>(), true;
    if (name == ".lt" || (!IsFloat && name == ".lo")) return f.template operator()<lt>(), true;
    if (name == ".le" || (!IsFloat && name == ".ls")) return f.template operator()<le>(), true;
    if (name == ".gt" || (!IsFloat && name == ".hi")) return f.template operator()<gt>(), true;
    if (name == ".ge" || (!IsFloat && name == ".hs")) return f.template operator()<ge>(), true;
    if constexpr (IsFloat) {
        if (name == ".equ") return f.template operator()<equ>(), true;
        if (name == ".neu") return f.template operator()<neu>(), true;
        if (name == ".ltu") return f.template operator()<ltu>(), true;
        if (name == ".leu") return f.template operator()<leu>(), true;
        if (name == ".gtu") return f.template operator()<gtu>(), true;
        if (name == ".geu") return f.template operator()<geu>(), true;
        if (name == ".num") return f.template operator()<num>(), true;
        if (name == ".nan") return f.template operator()<nan>(), true;
    }
    return false;
}

}  // namespace ww::isa

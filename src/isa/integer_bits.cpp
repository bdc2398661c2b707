// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Integer Arithmetic Instructions": popc to bmsk (bit fields), dp4a, dp2a, clmad.
#include <bit>

#include "isa/integer_ops.hpp"
#include "isa/isa.hpp"
#include "isa/lane.hpp"

namespace ww::isa {
namespace {

// The low `count` bits set; all of them from the width on.
template <class T>
T low_mask(uint32_t count) {
    return static_cast<T>(shift_left<T>(T{1}, count) - T{1});
}

struct Popc {
    template <class T>
    static uint32_t apply(T a) {
        return static_cast<uint32_t>(std::popcount(a));
    }
};
struct Clz {
    template <class T>
    static uint32_t apply(T a) {
        return static_cast<uint32_t>(std::countl_zero(a));
    }
};
// Position of the most significant bit that is not a copy of the sign; 0xffffffff if none.
template <bool ShiftAmount>
struct Bfind {
    template <class T>
    static uint32_t apply(T a) {
        using U = std::make_unsigned_t<T>;
        const U magnitude = static_cast<U>(std::is_signed_v<T> && a < T{0} ? ~a : a);
        if (magnitude == 0) return 0xffffffffu;
        const auto zeros = static_cast<uint32_t>(std::countl_zero(magnitude));
        return ShiftAmount ? zeros : 8 * sizeof(T) - 1 - zeros;
    }
};
struct Brev {
    template <class T>
    static T apply(T a) {
        uint64_t x = a;
        x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
        x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
        x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
        x = __builtin_bswap64(x);
        return static_cast<T>(x >> (64 - 8 * sizeof(T)));
    }
};
struct Fns {
    static uint32_t apply(uint32_t mask, uint32_t base, int32_t offset) {
        if (offset == 0) return base < 32 && (mask >> base & 1) ? base : 0xffffffffu;
        int64_t count = (offset < 0 ? -int64_t{offset} : int64_t{offset}) - 1;
        const int step = offset > 0 ? 1 : -1;
        for (int64_t position = base; position >= 0 && position < 32; position += step)
            if ((mask >> position & 1) && count-- == 0) return static_cast<uint32_t>(position);
        return 0xffffffffu;
    }
};
// b and c: the low 8 bits of position and length.
struct Bfe {
    template <class T>
    static T apply(T a, uint32_t b, uint32_t c) {
        constexpr uint32_t kBits = 8 * sizeof(T);
        const uint32_t position = b & 0xff, length = c & 0xff;
        using U = std::make_unsigned_t<T>;
        if (length == 0) return T{0};
        // A field that reaches past the top is filled with the sign, which the shift right gives.
        const T field = shift_right<T>(a, position);
        if (length >= kBits) return field;
        if constexpr (std::is_signed_v<T>)
            return static_cast<T>(static_cast<T>(static_cast<U>(field) << (kBits - length)) >>
                                  (kBits - length));
        else
            return field & low_mask<T>(length);
    }
};
struct Bfi {
    template <class T>
    static T apply(T a, T b, uint32_t c, uint32_t d) {
        const uint32_t position = c & 0xff, length = d & 0xff;
        const T mask = shift_left<T>(low_mask<T>(length), position);
        return static_cast<T>((b & ~mask) | (shift_left<T>(a, position) & mask));
    }
};
template <bool Wrapped>
struct Szext {
    template <class T>
    static T apply(T a, uint32_t b) {
        const uint32_t length = Wrapped ? b & 31 : b;
        if (length >= 32) return a;
        if (length == 0) return T{0};
        return static_cast<T>(static_cast<T>(static_cast<uint32_t>(a) << (32 - length)) >>
                              (32 - length));
    }
};
template <bool Wrapped>
struct Bmsk {
    static uint32_t apply(uint32_t a, uint32_t b) {
        const uint32_t start = Wrapped ? a & 31 : a, length = Wrapped ? b & 31 : b;
        return shift_left<uint32_t>(low_mask<uint32_t>(length), start);
    }
};

template <class T>
T byte_of(uint32_t x, int i) {
    if constexpr (std::is_signed_v<T>)
        return static_cast<int8_t>(x >> (8 * i));
    else
        return static_cast<uint8_t>(x >> (8 * i));
}
template <class T>
T half_of(uint32_t x, int i) {
    if constexpr (std::is_signed_v<T>)
        return static_cast<int16_t>(x >> (16 * i));
    else
        return static_cast<uint16_t>(x >> (16 * i));
}
// The sum wraps; the products fit.
template <class A, class B>
struct Dp4a {
    static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
        for (int i = 0; i < 4; ++i)
            c += static_cast<uint32_t>(byte_of<A>(a, i)) * static_cast<uint32_t>(byte_of<B>(b, i));
        return c;
    }
};
template <class A, class B, int First>
struct Dp2a {
    static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
        for (int i = 0; i < 2; ++i)
            c += static_cast<uint32_t>(half_of<A>(a, i)) *
                 static_cast<uint32_t>(byte_of<B>(b, First + i));
        return c;
    }
};
template <bool High>
struct Clmad {
    static uint64_t apply(uint64_t a, uint64_t b, uint64_t c) {
        UInt128 product = 0;
        for (int i = 0; i < 64; ++i)
            if (a >> i & 1) product ^= UInt128{b} << i;
        return static_cast<uint64_t>(High ? product >> 64 : product) ^ c;
    }
};

// The result is always 32 bits wide.
template <class Op, class... T>
void bind_count(const Match& match, Binding& binding) {
    with_type<T...>(match.type(), [&]<class U>() { bind_lanes<Op, uint32_t, U>(match, binding); });
}
void bind_bfe(const Match& match, Binding& binding) {
    with_type<uint32_t, uint64_t, int32_t, int64_t>(match.type(), [&]<class T>() {
        bind_lanes<Bfe, T, T, uint32_t, uint32_t>(match, binding);
    });
}
void bind_bfi(const Match& match, Binding& binding) {
    with_type<uint32_t, uint64_t>(match.type(), [&]<class T>() {
        bind_lanes<Bfi, T, T, T, uint32_t, uint32_t>(match, binding);
    });
}
template <bool Wrapped>
void bind_szext(const Match& match, Binding& binding) {
    with_type<uint32_t, int32_t>(match.type(), [&]<class T>() {
        bind_lanes<Szext<Wrapped>, T, T, uint32_t>(match, binding);
    });
}
template <template <class, class> class Op>
void bind_dot(const Match& match, Binding& binding) {
    const bool a = match.get(".atype") == ".s32", b = match.get(".btype") == ".s32";
    const auto bind = [&]<class T>() {
        bind_lanes<T, uint32_t, uint32_t, uint32_t, uint32_t>(match, binding);
    };
    if (a && b)
        bind.template operator()<Op<int32_t, int32_t>>();
    else if (a)
        bind.template operator()<Op<int32_t, uint32_t>>();
    else if (b)
        bind.template operator()<Op<uint32_t, int32_t>>();
    else
        bind.template operator()<Op<uint32_t, uint32_t>>();
}
template <class A, class B>
using Dp2aLow = Dp2a<A, B, 0>;
template <class A, class B>
using Dp2aHigh = Dp2a<A, B, 2>;

// clang-format off
#define WW_ANCHOR(name) "integer-arithmetic-instructions-" name
#define WW_DOT_TYPES ".atype = .u32 .s32; .btype = .u32 .s32"
constexpr Row kRows[] = {
    {"popc.type d, a", ".type = .b32 .b64", {20, 20}, WW_ANCHOR("popc"), bind_count<Popc, uint32_t, uint64_t>},
    {"clz.type d, a", ".type = .b32 .b64", {20, 20}, WW_ANCHOR("clz"), bind_count<Clz, uint32_t, uint64_t>},
    {"bfind.type d, a", ".type = .u32 .u64 .s32 .s64", {20, 20}, WW_ANCHOR("bfind"),
     bind_count<Bfind<false>, uint32_t, uint64_t, int32_t, int64_t>},
    {"bfind.shiftamt.type d, a", ".type = .u32 .u64 .s32 .s64", {20, 20}, WW_ANCHOR("bfind"),
     bind_count<Bfind<true>, uint32_t, uint64_t, int32_t, int64_t>},
    {"fns.b32 d, mask, base, offset", "", {60, 30}, WW_ANCHOR("fns"), bind_lanes<Fns, uint32_t, uint32_t, uint32_t, int32_t>},
    {"brev.type d, a", ".type = .b32 .b64", {20, 20}, WW_ANCHOR("brev"), bind_same<Brev, 1, uint32_t, uint64_t>},
    {"bfe.type d, a, b, c", ".type = .u32 .u64 .s32 .s64", {20, 20}, WW_ANCHOR("bfe"), bind_bfe},
    {"bfi.type f, a, b, c, d", ".type = .b32 .b64", {20, 20}, WW_ANCHOR("bfi"), bind_bfi},
    {"szext.clamp.type d, a, b", ".type = .u32 .s32", {76, 70}, WW_ANCHOR("szext"), bind_szext<false>},
    {"szext.wrap.type d, a, b", ".type = .u32 .s32", {76, 70}, WW_ANCHOR("szext"), bind_szext<true>},
    {"bmsk.clamp.b32 d, a, b", "", {76, 70}, WW_ANCHOR("bmsk"), bind_lanes<Bmsk<false>, uint32_t, uint32_t, uint32_t>},
    {"bmsk.wrap.b32 d, a, b", "", {76, 70}, WW_ANCHOR("bmsk"), bind_lanes<Bmsk<true>, uint32_t, uint32_t, uint32_t>},
    {"dp4a.atype.btype d, a, b, c", WW_DOT_TYPES, {50, 61}, WW_ANCHOR("dp4a"), bind_dot<Dp4a>},
    {"dp2a.lo.atype.btype d, a, b, c", WW_DOT_TYPES, {50, 61}, WW_ANCHOR("dp2a"), bind_dot<Dp2aLow>},
    {"dp2a.hi.atype.btype d, a, b, c", WW_DOT_TYPES, {50, 61}, WW_ANCHOR("dp2a"), bind_dot<Dp2aHigh>},
    {"clmad.lo.u64 d, a, b, c", "", {93, 80}, WW_ANCHOR("clmad"), bind_lanes<Clmad<false>, uint64_t, uint64_t, uint64_t, uint64_t>},
    {"clmad.hi.u64 d, a, b, c", "", {93, 80}, WW_ANCHOR("clmad"), bind_lanes<Clmad<true>, uint64_t, uint64_t, uint64_t, uint64_t>},
};
// clang-format on

}  // namespace

std::span<const Row> integer_bits_rows() { return kRows; }

}  // namespace ww::isa

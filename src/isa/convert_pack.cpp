// SPDX-License-Identifier: Apache-2.0
// PTX manual, "cvt.pack".
#include "isa/integer_ops.hpp"
#include "isa/isa.hpp"
#include "isa/lane.hpp"

namespace ww::isa {
namespace {

// The low bits of a clamped value.
template <int Bits, bool Signed>
uint32_t saturated(int32_t x) {
    constexpr int32_t kHigh =
        Signed ? (1 << (Bits - 1)) - 1 : static_cast<int32_t>((1u << Bits) - 1);
    constexpr int32_t kLow = Signed ? -kHigh - 1 : 0;
    return static_cast<uint32_t>(x < kLow ? kLow : x > kHigh ? kHigh : x) & ((1u << Bits) - 1);
}
// a above b, and c above both.
template <int Bits, bool Signed>
struct Pack {
    static uint32_t apply(int32_t a, int32_t b) {
        return saturated<Bits, Signed>(a) << Bits | saturated<Bits, Signed>(b);
    }
    static uint32_t apply(int32_t a, int32_t b, uint32_t c) {
        return apply(a, b) | c << (2 * Bits);
    }
};
template <bool WithC, int Bits, bool Signed>
void bind_pack(const Match& match, Binding& binding) {
    if constexpr (WithC)
        bind_lanes<Pack<Bits, Signed>, uint32_t, int32_t, int32_t, uint32_t>(match, binding);
    else
        bind_lanes<Pack<Bits, Signed>, uint32_t, int32_t, int32_t>(match, binding);
}

// clang-format off
constexpr std::string_view kAnchor = "data-movement-and-conversion-instructions-cvt-pack";
constexpr Row kRows[] = {
    {"cvt.pack.sat.u16.s32 d, a, b", "", {65, 72}, kAnchor, bind_pack<false, 16, false>},
    {"cvt.pack.sat.s16.s32 d, a, b", "", {65, 72}, kAnchor, bind_pack<false, 16, true>},
    {"cvt.pack.sat.u8.s32.b32 d, a, b, c", "", {65, 72}, kAnchor, bind_pack<true, 8, false>},
    {"cvt.pack.sat.s8.s32.b32 d, a, b, c", "", {65, 72}, kAnchor, bind_pack<true, 8, true>},
    {"cvt.pack.sat.u4.s32.b32 d, a, b, c", "", {65, 75}, kAnchor, bind_pack<true, 4, false>},
    {"cvt.pack.sat.s4.s32.b32 d, a, b, c", "", {65, 75}, kAnchor, bind_pack<true, 4, true>},
    {"cvt.pack.sat.u2.s32.b32 d, a, b, c", "", {65, 75}, kAnchor, bind_pack<true, 2, false>},
    {"cvt.pack.sat.s2.s32.b32 d, a, b, c", "", {65, 75}, kAnchor, bind_pack<true, 2, true>},
};
// clang-format on

}  // namespace

std::span<const Row> convert_pack_rows() { return kRows; }

}  // namespace ww::isa

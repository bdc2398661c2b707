// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Integer Arithmetic Instructions".
#include <limits>

#include "isa/isa.hpp"
#include "isa/lane.hpp"

namespace ww::isa {
namespace {

// Arithmetic wraps, so it is done on the unsigned type of the same width (and at least 32 bits:
// promotion of u16 to int would overflow in mul).
template <class T>
using Wrap = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

struct Add {
    template <class T>
    static T apply(T a, T b) { return static_cast<T>(Wrap<T>(a) + Wrap<T>(b)); }
};
struct Sub {
    template <class T>
    static T apply(T a, T b) { return static_cast<T>(Wrap<T>(a) - Wrap<T>(b)); }
};

constexpr Row kRows[] = {
    {"add.type d, a, b", ".type = .u16 .u32 .u64 .s16 .s32 .s64", {10}, "integer-arithmetic-instructions-add",
     bind_same<Add, 2, uint16_t, uint32_t, uint64_t, int16_t, int32_t, int64_t>},
    {"sub.type d, a, b", ".type = .u16 .u32 .u64 .s16 .s32 .s64", {10}, "integer-arithmetic-instructions-sub",
     bind_same<Sub, 2, uint16_t, uint32_t, uint64_t, int16_t, int32_t, int64_t>},
};

}  // namespace

std::span<const Row> integer_arith_rows() { return kRows; }

}  // namespace ww::isa

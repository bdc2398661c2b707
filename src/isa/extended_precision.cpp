// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Extended-Precision Integer Arithmetic Instructions": carry through CC.CF.
#include "isa/integer_ops.hpp"
#include "isa/isa.hpp"
#include "isa/lane.hpp"

namespace ww::isa {
namespace {

enum class Operation : uint8_t { add, sub, mad_lo, mad_hi };

// The product's high half depends on the signedness, the carry chain does not.
template <class T>
T high_half(T a, T b) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(
        static_cast<U>(static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b) >> (8 * sizeof(T))));
}

// Subtraction sets the borrow as "carry": CC.CF is 1 when a borrow happened.
template <Operation Op, class T>
T step(T a, T b, T c, bool carry_in, bool& carry_out) {
    using U = std::make_unsigned_t<T>;
    using W = std::conditional_t<sizeof(T) == 4, uint64_t, UInt128>;
    if constexpr (Op == Operation::sub) {
        const W result = W{static_cast<U>(a)} - static_cast<U>(b) - carry_in;
        carry_out = (result >> (8 * sizeof(T)) & 1) != 0;
        return static_cast<T>(result);
    } else {
        U left = static_cast<U>(a);
        if constexpr (Op == Operation::mad_lo)
            left = static_cast<U>(static_cast<U>(a) * static_cast<U>(b));
        if constexpr (Op == Operation::mad_hi) left = static_cast<U>(high_half<T>(a, b));
        const W result = W{left} + static_cast<U>(Op == Operation::add ? b : c) + carry_in;
        carry_out = (result >> (8 * sizeof(T))) != 0;
        return static_cast<T>(result);
    }
}

constexpr uint64_t kReadsCarry = 1, kWritesCarry = 2;

template <Operation Op, class T>
void run_carry(Warp& w, const Inst& in) {
    constexpr bool kThree = Op == Operation::mad_lo || Op == Operation::mad_hi;
    alignas(64) T d_scratch[kLanes], scratch[3][kLanes];
    const T* a = w.in<T>(in[1][0], scratch[0]);
    const T* b = w.in<T>(in[2][0], scratch[1]);
    const T* c = kThree ? w.in<T>(in[3][0], scratch[2]) : b;
    const LaneMask carry = in.aux & kReadsCarry ? w.carry : 0;
    LaneMask result_carry = 0;
    T* d = w.out<T>(in[0][0], d_scratch);
    for (int lane = 0; lane < kLanes; ++lane) {
        bool out = false;
        d[lane] = step<Op, T>(a[lane], b[lane], c[lane], carry >> lane & 1, out);
        result_carry |= LaneMask{out} << lane;
    }
    w.commit<T>(in[0][0], d, d_scratch);
    if (in.aux & kWritesCarry) w.carry = (w.carry & ~w.active) | (result_carry & w.active);
}

template <Operation Op, bool Reads>
void bind_carry(const Match& match, Binding& binding) {
    constexpr int kOperands = Op == Operation::add || Op == Operation::sub ? 3 : 4;
    const int bytes = machine::type_bytes(match.type());
    for (int position = 0; position < kOperands; ++position)
        if (!check_value(match, position, bytes, binding)) return;
    with_type<uint32_t, int32_t, uint64_t, int64_t>(
        match.type(), [&]<class T>() { binding.run = run_carry<Op, T>; });
    binding.aux = (Reads ? kReadsCarry : 0) | (match.has(".cc") ? kWritesCarry : 0);
}

// clang-format off
#define WW_TYPES ".type = .u32 .s32 .u64 .s64"
#define WW_ANCHOR(name) "extended-precision-arithmetic-instructions-" name
constexpr Row kRows[] = {
    {"add.cc.type d, a, b", WW_TYPES, {12}, WW_ANCHOR("add-cc"), bind_carry<Operation::add, false>},
    {"addc{.cc}.type d, a, b", WW_TYPES, {12}, WW_ANCHOR("addc"), bind_carry<Operation::add, true>},
    {"sub.cc.type d, a, b", WW_TYPES, {12}, WW_ANCHOR("sub-cc"), bind_carry<Operation::sub, false>},
    {"subc{.cc}.type d, a, b", WW_TYPES, {12}, WW_ANCHOR("subc"), bind_carry<Operation::sub, true>},
    {"mad.lo.cc.type d, a, b, c", WW_TYPES, {30, 20}, WW_ANCHOR("mad-cc"), bind_carry<Operation::mad_lo, false>},
    {"mad.hi.cc.type d, a, b, c", WW_TYPES, {30, 20}, WW_ANCHOR("mad-cc"), bind_carry<Operation::mad_hi, false>},
    {"madc.lo{.cc}.type d, a, b, c", WW_TYPES, {30, 20}, WW_ANCHOR("madc"), bind_carry<Operation::mad_lo, true>},
    {"madc.hi{.cc}.type d, a, b, c", WW_TYPES, {30, 20}, WW_ANCHOR("madc"), bind_carry<Operation::mad_hi, true>},
};
// clang-format on

}  // namespace

std::span<const Row> extended_precision_rows() { return kRows; }

}  // namespace ww::isa

// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Logic and Shift Instructions".
#include "isa/integer_ops.hpp"
#include "isa/isa.hpp"
#include "isa/predicate_ops.hpp"

namespace ww::isa {
namespace {

struct And {
    template <class T>
    static T apply(T a, T b) {
        return a & b;
    }
};
struct Or {
    template <class T>
    static T apply(T a, T b) {
        return a | b;
    }
};
struct Xor {
    template <class T>
    static T apply(T a, T b) {
        return a ^ b;
    }
};
struct Not {
    template <class T>
    static T apply(T a) {
        return static_cast<T>(~a);
    }
};
struct Cnot {
    template <class T>
    static T apply(T a) {
        return a == 0;
    }
};
struct Shl {
    template <class T>
    static T apply(T a, uint32_t b) {
        return shift_left<T>(a, b);
    }
};
struct Shr {
    template <class T>
    static T apply(T a, uint32_t b) {
        return shift_right<T>(a, b);
    }
};
template <bool Left, bool Wrapped>
struct Shf {
    static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
        const uint32_t amount = Wrapped ? c & 31 : (c < 32 ? c : 32);
        const uint64_t both = uint64_t{b} << 32 | a;
        return static_cast<uint32_t>(Left ? (both << amount) >> 32 : both >> amount);
    }
};

// Bit i of the table answers for a, b, c being the bits of i, a the highest.
uint32_t lookup(uint32_t a, uint32_t b, uint32_t c, const uint32_t (&table)[8]) {
    const uint32_t c0 = (~c & table[0]) | (c & table[1]), c1 = (~c & table[2]) | (c & table[3]);
    const uint32_t c2 = (~c & table[4]) | (c & table[5]), c3 = (~c & table[6]) | (c & table[7]);
    return (~a & ((~b & c0) | (b & c1))) | (a & ((~b & c2) | (b & c3)));
}

// aux: the table in bits 0..7, the BoolOp above it.
template <bool Predicate>
void run_lop3(Warp& w, const Inst& in) {
    constexpr int kFirst = Predicate ? 2 : 1;
    alignas(64) uint32_t d_scratch[kLanes], scratch[3][kLanes], result[kLanes];
    uint32_t table[8];
    for (int i = 0; i < 8; ++i) table[i] = (in.aux >> i & 1) ? 0xffffffffu : 0;
    const uint32_t* a = w.in<uint32_t>(in[kFirst][0], scratch[0]);
    const uint32_t* b = w.in<uint32_t>(in[kFirst + 1][0], scratch[1]);
    const uint32_t* c = w.in<uint32_t>(in[kFirst + 2][0], scratch[2]);
    for (int lane = 0; lane < kLanes; ++lane)
        result[lane] = lookup(a[lane], b[lane], c[lane], table);
    if constexpr (Predicate) {
        const LaneMask nonzero = lanes_where([&](int lane) { return result[lane] != 0; });
        w.set_predicate(in[1][0],
                        combine(static_cast<BoolOp>(in.aux >> 8), nonzero, w.predicate(in[6][0])));
    }
    uint32_t* d = w.out<uint32_t>(in[0][0], d_scratch);
    std::memcpy(d, result, sizeof result);
    w.commit<uint32_t>(in[0][0], d, d_scratch);
}

template <bool Predicate>
void bind_lop3(const Match& match, Binding& binding) {
    constexpr int kFirst = Predicate ? 2 : 1;
    if (!check_value(match, 0, 4, binding)) return;
    for (int i = 0; i < 3; ++i)
        if (!check_value(match, kFirst + i, 4, binding)) return;
    if (Predicate && !check_predicates(match, {1, 6}, binding)) return;
    const OperandInfo& table = match.operands[kFirst + 3];
    if (!table.immediate || table.value > 255) {
        binding.error = "immLut must be a constant from 0 to 255";
        return;
    }
    binding.run = run_lop3<Predicate>;
    binding.aux = table.value | static_cast<uint64_t>(bool_op(match.get(".BoolOp"))) << 8;
}

template <BoolOp Op>
void run_predicates(Warp& w, const Inst& in) {
    w.set_predicate(in[0][0], combine(Op, w.predicate(in[1][0]), w.predicate(in[2][0])));
}
void run_not_predicate(Warp& w, const Inst& in) {
    w.set_predicate(in[0][0], ~w.predicate(in[1][0]));
}

template <BoolOp Op>
void bind_predicates(const Match& match, Binding& binding) {
    if (check_predicates(match, {0, 1, 2}, binding)) binding.run = run_predicates<Op>;
}
void bind_not_predicate(const Match& match, Binding& binding) {
    if (check_predicates(match, {0, 1}, binding)) binding.run = run_not_predicate;
}

template <class Op, class... T>
void bind_shift(const Match& match, Binding& binding) {
    with_type<T...>(match.type(),
                    [&]<class U>() { bind_lanes<Op, U, U, uint32_t>(match, binding); });
}

// clang-format off
#define WW_BITS ".type = .b16 .b32 .b64"
#define WW_ANCHOR(name) "logic-and-shift-instructions-" name
constexpr Row kRows[] = {
    {"and.type d, a, b", WW_BITS, {10}, WW_ANCHOR("and"), bind_same<And, 2, uint16_t, uint32_t, uint64_t>},
    {"and.pred p, q1, q2", "", {10}, WW_ANCHOR("and"), bind_predicates<BoolOp::and_>},
    {"or.type d, a, b", WW_BITS, {10}, WW_ANCHOR("or"), bind_same<Or, 2, uint16_t, uint32_t, uint64_t>},
    {"or.pred p, q1, q2", "", {10}, WW_ANCHOR("or"), bind_predicates<BoolOp::or_>},
    {"xor.type d, a, b", WW_BITS, {10}, WW_ANCHOR("xor"), bind_same<Xor, 2, uint16_t, uint32_t, uint64_t>},
    {"xor.pred p, q1, q2", "", {10}, WW_ANCHOR("xor"), bind_predicates<BoolOp::xor_>},
    {"not.type d, a", WW_BITS, {10}, WW_ANCHOR("not"), bind_same<Not, 1, uint16_t, uint32_t, uint64_t>},
    {"not.pred p, q1", "", {10}, WW_ANCHOR("not"), bind_not_predicate},
    {"cnot.type d, a", WW_BITS, {10}, WW_ANCHOR("cnot"), bind_same<Cnot, 1, uint16_t, uint32_t, uint64_t>},
    {"lop3.b32 d, a, b, c, immLut", "", {43, 50}, WW_ANCHOR("lop3"), bind_lop3<false>},
    {"lop3.BoolOp.b32 d|p, a, b, c, immLut, q", ".BoolOp = .or .and", {82, 70}, WW_ANCHOR("lop3"), bind_lop3<true>},
    {"shf.l.clamp.b32 d, a, b, c", "", {31, 32}, WW_ANCHOR("shf"), bind_lanes<Shf<true, false>, uint32_t, uint32_t, uint32_t, uint32_t>},
    {"shf.l.wrap.b32 d, a, b, c", "", {31, 32}, WW_ANCHOR("shf"), bind_lanes<Shf<true, true>, uint32_t, uint32_t, uint32_t, uint32_t>},
    {"shf.r.clamp.b32 d, a, b, c", "", {31, 32}, WW_ANCHOR("shf"), bind_lanes<Shf<false, false>, uint32_t, uint32_t, uint32_t, uint32_t>},
    {"shf.r.wrap.b32 d, a, b, c", "", {31, 32}, WW_ANCHOR("shf"), bind_lanes<Shf<false, true>, uint32_t, uint32_t, uint32_t, uint32_t>},
    {"shl.type d, a, b", WW_BITS, {10}, WW_ANCHOR("shl"), bind_shift<Shl, uint16_t, uint32_t, uint64_t>},
    {"shr.type d, a, b", ".type = .b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64", {10}, WW_ANCHOR("shr"),
     bind_shift<Shr, uint16_t, uint32_t, uint64_t, int16_t, int32_t, int64_t>},
};
// clang-format on

}  // namespace

std::span<const Row> logic_shift_rows() { return kRows; }

}  // namespace ww::isa

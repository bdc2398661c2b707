// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Half Precision Floating-Point Instructions".
#include "isa/float_ops.hpp"
#include "isa/half_ops.hpp"
#include "isa/half_tables.hpp"
#include "isa/isa.hpp"
#include "numerics/half.hpp"

namespace ww::isa {
namespace {

// f32 holds the sum of two halves well enough to round twice (p >= 2 * 11 + 2), and the product
// of two f16 exactly.
struct Add {
    static float apply(float a, float b) { return a + b; }
};
struct Sub {
    static float apply(float a, float b) { return a - b; }
};
struct Mul {
    static float apply(float a, float b) { return a * b; }
};
// A product of two bf16 may be too small for f32.
struct MulBf16 {
    static float apply(float a, float b) {
        const double exact = static_cast<double>(a) * static_cast<double>(b);
        const float cut = numerics::round_to_f32<Rounding::rz>(exact);
        return numerics::float_of(numerics::bits_of(cut) |
                                  (cut == cut && static_cast<double>(cut) != exact));
    }
};
// The product of two f16 is exact in f32; the sum is rounded to odd there, by its exact error.
struct FmaF16 {
    static float apply(float a, float b, float c) {
        const float product = a * b, sum = product + c, part = sum - product;
        const float error = (product - (sum - part)) + (c - part);
        const uint32_t bits = numerics::bits_of(sum), error_bits = numerics::bits_of(error);
        const uint32_t finite = (bits & 0x7f800000u) != 0x7f800000u;
        const uint32_t inexact = finite & static_cast<uint32_t>((error_bits & 0x7fffffffu) != 0);
        const uint32_t too_far = inexact & (bits ^ error_bits) >> 31;
        return numerics::float_of((bits - too_far) | inexact);
    }
};
struct FmaBf16 {
    static float apply(float a, float b, float c) { return numerics::fma_to_odd_f32(a, b, c); }
};
struct Neg {
    static float apply(float a) { return -a; }
};
struct Abs {
    static float apply(float a) { return std::fabs(a); }
};

template <class Op, size_t... I>
void run_half_impl(Warp& w, const Inst& in, std::index_sequence<I...>) {
    alignas(64) float sources[sizeof...(I)][kMaxHalves], result[kMaxHalves];
    const HalfAux aux = HalfAux::unpack(in.aux);
    (read_half(w, in[I + 1][0], aux, sources[I]), ...);
    const int count = aux.count();
    for (int i = 0; i < count; ++i) result[i] = Op::apply(sources[I][i]...);
    write_half(w, in[0][0], aux, result);
}
template <class Op, int Sources>
void run_half(Warp& w, const Inst& in) {
    run_half_impl<Op>(w, in, std::make_index_sequence<Sources>{});
}

bool check_halves(const Match& match, int operands, Binding& binding) {
    const HalfAux aux = half_aux(match.get(".type"), match);
    binding.aux = aux.pack();
    for (int position = 0; position < operands; ++position)
        if (!check_value(match, position, aux.bytes(), binding)) return false;
    return true;
}
template <class Op, int Sources>
void bind_half(const Match& match, Binding& binding) {
    if (check_halves(match, Sources + 1, binding)) binding.run = run_half<Op, Sources>;
}
template <bool Max>
void bind_min_max(const Match& match, Binding& binding) {
    if (!check_xorsign(match, binding) || !check_halves(match, 3, binding)) return;
    with_flag(match.has(".NaN"), [&]<bool Nan>() {
        with_flag(match.has(".xorsign"),
                  [&]<bool Xorsign>() { binding.run = run_half<MinMax<Max, Nan, Xorsign>, 2>; });
    });
}

// A function of one half is a table of 65536 results.
template <const HalfTable& (*Table)()>
void run_table(Warp& w, const Inst& in) {
    alignas(64) uint16_t codes[kMaxHalves];
    const HalfAux aux = HalfAux::unpack(in.aux);
    const HalfTable& table = Table();
    read_half_codes(w, in[1][0], aux.packed, codes);
    for (int i = 0; i < aux.count(); ++i) codes[i] = table[codes[i]];
    write_half_codes(w, in[0][0], aux.packed, codes);
}
template <const HalfTable& (*Table)()>
void bind_table(const Match& match, Binding& binding) {
    if (check_halves(match, 2, binding)) binding.run = run_table<Table>;
}

// clang-format off
#define WW_RND ".rnd = .rn"
#define WW_F16 ".type = .f16 .f16x2"
#define WW_BF16 ".type = .bf16 .bf16x2"
#define WW_ANCHOR(name) "half-precision-floating-point-instructions-" name
constexpr Row kRows[] = {
    {"add{.rnd}{.ftz}{.sat}.type d, a, b", WW_RND "; " WW_F16, {42, 53}, WW_ANCHOR("add"), bind_half<Add, 2>},
    {"add{.rnd}.type d, a, b", WW_RND "; " WW_BF16, {78, 90}, WW_ANCHOR("add"), bind_half<Add, 2>},
    {"sub{.rnd}{.ftz}{.sat}.type d, a, b", WW_RND "; " WW_F16, {42, 53}, WW_ANCHOR("sub"), bind_half<Sub, 2>},
    {"sub{.rnd}.type d, a, b", WW_RND "; " WW_BF16, {78, 90}, WW_ANCHOR("sub"), bind_half<Sub, 2>},
    {"mul{.rnd}{.ftz}{.sat}.type d, a, b", WW_RND "; " WW_F16, {42, 53}, WW_ANCHOR("mul"), bind_half<Mul, 2>},
    {"mul{.rnd}.type d, a, b", WW_RND "; " WW_BF16, {78, 90}, WW_ANCHOR("mul"), bind_half<MulBf16, 2>},
    {"fma.rnd{.ftz}{.sat}.type d, a, b, c", WW_RND "; " WW_F16, {42, 53}, WW_ANCHOR("fma"), bind_half<FmaF16, 3>},
    {"fma.rnd{.ftz}.relu.type d, a, b, c", WW_RND "; " WW_F16, {70, 80}, WW_ANCHOR("fma"), bind_half<FmaF16, 3>},
    {"fma.rnd{.relu}.type d, a, b, c", WW_RND "; " WW_BF16, {70, 80}, WW_ANCHOR("fma"), bind_half<FmaBf16, 3>},
    {"fma.rnd.oob{.relu}.type d, a, b, c", WW_RND "; .type = .f16 .f16x2 .bf16 .bf16x2", {81, 90}, WW_ANCHOR("fma"), nullptr},
    {"neg{.ftz}.type d, a", WW_F16, {60, 53}, WW_ANCHOR("neg"), bind_half<Neg, 1>},
    {"neg.type d, a", WW_BF16, {70, 80}, WW_ANCHOR("neg"), bind_half<Neg, 1>},
    {"abs{.ftz}.type d, a", WW_F16, {65, 53}, WW_ANCHOR("abs"), bind_half<Abs, 1>},
    {"abs.type d, a", WW_BF16, {70, 80}, WW_ANCHOR("abs"), bind_half<Abs, 1>},
    {"min{.ftz}{.NaN}{.xorsign.abs}.type d, a, b", WW_F16, {70, 80}, WW_ANCHOR("min"), bind_min_max<false>},
    {"min{.NaN}{.xorsign.abs}.type d, a, b", WW_BF16, {70, 80}, WW_ANCHOR("min"), bind_min_max<false>},
    {"max{.ftz}{.NaN}{.xorsign.abs}.type d, a, b", WW_F16, {70, 80}, WW_ANCHOR("max"), bind_min_max<true>},
    {"max{.NaN}{.xorsign.abs}.type d, a, b", WW_BF16, {70, 80}, WW_ANCHOR("max"), bind_min_max<true>},
    {"tanh.approx.type d, a", WW_F16, {70, 75}, WW_ANCHOR("tanh"), bind_table<tanh_f16>},
    {"tanh.approx.type d, a", WW_BF16, {78, 90}, WW_ANCHOR("tanh"), bind_table<tanh_bf16>},
    {"ex2.approx.type d, a", WW_F16, {70, 75}, WW_ANCHOR("ex2"), bind_table<ex2_f16>},
    {"ex2.approx.ftz.type d, a", WW_BF16, {78, 90}, WW_ANCHOR("ex2"), bind_table<ex2_ftz_bf16>},
};
// clang-format on

}  // namespace

std::span<const Row> half_arith_rows() { return kRows; }

}  // namespace ww::isa

// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Half Precision Comparison Instructions": set and setp of f16 and bf16.
#include "isa/compare_ops.hpp"
#include "isa/half_ops.hpp"
#include "isa/isa.hpp"

namespace ww::isa {
namespace {

template <Compare C>
LaneMask compare_scalar(Warp& w, const Inst& in) {
    alignas(64) float a[kLanes], b[kLanes];
    const HalfAux half = HalfAux::unpack(CompareAux::unpack(in.aux).half);
    read_half(w, in[1][0], half, a);
    read_half(w, in[2][0], half, b);
    return lanes_where([&](int lane) { return holds<C>(a[lane], b[lane]); });
}
template <Compare C>
void run_set(Warp& w, const Inst& in) {
    finish_compare(w, in, compare_scalar<C>(w, in));
}
template <Compare C>
void run_setp(Warp& w, const Inst& in) {
    const BoolOp op = CompareAux::unpack(in.aux).op;
    const LaneMask c = op == BoolOp::none ? 0 : w.predicate(in[3][0]);
    w.set_predicate(in[0][0], combine(op, compare_scalar<C>(w, in), c));
}

// The halves of a packed comparison: which lanes hold in the low and the high one.
struct Halves {
    LaneMask low = 0, high = 0;
};
template <Compare C>
Halves compare_packed(Warp& w, const Inst& in, int first) {
    alignas(64) float a[kMaxHalves], b[kMaxHalves];
    const HalfAux half = HalfAux::unpack(CompareAux::unpack(in.aux).half);
    read_half(w, in[first][0], half, a);
    read_half(w, in[first + 1][0], half, b);
    return {lanes_where([&](int lane) { return holds<C>(a[2 * lane], b[2 * lane]); }),
            lanes_where([&](int lane) { return holds<C>(a[2 * lane + 1], b[2 * lane + 1]); })};
}
// setp p|q: p is the low half, q the high one.
template <Compare C>
void run_setp_packed(Warp& w, const Inst& in) {
    const Halves halves = compare_packed<C>(w, in, 2);
    const BoolOp op = CompareAux::unpack(in.aux).op;
    const LaneMask c = op == BoolOp::none ? 0 : w.predicate(in[4][0]);
    w.set_predicate(in[0][0], combine(op, halves.low, c));
    w.set_predicate(in[1][0], combine(op, halves.high, c));
}
template <Compare C>
void run_set_packed(Warp& w, const Inst& in) {
    const Halves halves = compare_packed<C>(w, in, 1);
    const CompareAux aux = CompareAux::unpack(in.aux);
    const LaneMask c = aux.op == BoolOp::none ? 0 : w.predicate(in[3][0]);
    const LaneMask low = combine(aux.op, halves.low, c), high = combine(aux.op, halves.high, c);
    alignas(64) uint32_t scratch[kLanes];
    uint32_t* d = w.out<uint32_t>(in[0][0], scratch);
    for (int lane = 0; lane < kLanes; ++lane)
        d[lane] = ((low >> lane & 1) ? aux.true_bits : 0) |
                  ((high >> lane & 1) ? aux.true_bits << 16 : 0);
    w.commit<uint32_t>(in[0][0], d, scratch);
}

// What a lane that holds gets in a result of this type.
uint32_t true_bits(std::string_view dtype) {
    if (dtype.starts_with(".f16")) return 0x3c00;
    if (dtype.starts_with(".bf16")) return 0x3f80;
    return 0xffffffffu;
}

void bind_setp(const Match& match, Binding& binding) {
    const HalfAux half = half_aux(match.get(".type"), match);
    const BoolOp op = bool_op(match.get(".BoolOp"));
    if (!check_predicates(match, {0}, binding)) return;
    if (half.packed && !check_predicate(match, 1, binding)) return;
    const int first = half.packed ? 2 : 1;
    if (!check_value(match, first, half.bytes(), binding) ||
        !check_value(match, first + 1, half.bytes(), binding))
        return;
    if (op != BoolOp::none && !check_predicate(match, first + 2, binding)) return;
    binding.aux = CompareAux{.op = op, .half = half.pack()}.pack();
    with_compare<true>(match.get(".CmpOp"), [&]<Compare C>() {
        binding.run = half.packed ? run_setp_packed<C> : run_setp<C>;
    });
}
void bind_set(const Match& match, Binding& binding) {
    const HalfAux half = half_aux(match.get(".stype"), match);
    const std::string_view dtype = match.get(".dtype");
    const bool narrow = machine::type_bytes(machine::parse_type(dtype)) == 2;
    const BoolOp op = bool_op(match.get(".BoolOp"));
    if (!check_value(match, 0, narrow ? 2 : 4, binding)) return;
    if (!check_value(match, 1, half.bytes(), binding) ||
        !check_value(match, 2, half.bytes(), binding))
        return;
    if (op != BoolOp::none && !check_predicate(match, 3, binding)) return;
    const uint32_t bits = half.packed ? true_bits(dtype) & 0xffff : true_bits(dtype);
    binding.aux = CompareAux{.op = op,
                             .result_bytes = static_cast<uint8_t>(narrow ? 2 : 4),
                             .true_bits = bits,
                             .half = half.pack()}
                      .pack();
    with_compare<true>(match.get(".CmpOp"), [&]<Compare C>() {
        binding.run = half.packed ? run_set_packed<C> : run_set<C>;
    });
}
// Sources of another type, a half as the result.
void bind_set_half(const Match& match, Binding& binding) {
    const BoolOp op = bool_op(match.get(".BoolOp"));
    if (!check_value(match, 0, 2, binding)) return;
    if (op != BoolOp::none && !check_predicate(match, 3, binding)) return;
    binding.aux =
        CompareAux{.op = op, .result_bytes = 2, .true_bits = true_bits(match.get(".dtype"))}.pack();
    bind_compared(match, ".stype", 1, binding);
}

// clang-format off
#define WW_ANY_COMPARE ".CmpOp = .eq .ne .lt .le .gt .ge .lo .ls .hi .hs .equ .neu .ltu .leu .gtu .geu .num .nan; .BoolOp = .and .or .xor"
#define WW_COMPARE ".CmpOp = .eq .ne .lt .le .gt .ge .equ .neu .ltu .leu .gtu .geu .num .nan; .BoolOp = .and .or .xor"
#define WW_STYPES "; .stype = .b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64 .f32 .f64"
#define WW_ANCHOR(name) "half-precision-comparison-instructions-" name
constexpr Row kRows[] = {
    {"set.CmpOp{.ftz}.dtype.stype d, a, b", WW_ANY_COMPARE "; .dtype = .f16" WW_STYPES, {42, 53}, WW_ANCHOR("set"), bind_set_half},
    {"set.CmpOp.BoolOp{.ftz}.dtype.stype d, a, b, {!}c", WW_ANY_COMPARE "; .dtype = .f16" WW_STYPES, {42, 53}, WW_ANCHOR("set"), bind_set_half},
    {"set.CmpOp.dtype.stype d, a, b", WW_ANY_COMPARE "; .dtype = .bf16" WW_STYPES, {78, 90}, WW_ANCHOR("set"), bind_set_half},
    {"set.CmpOp.BoolOp.dtype.stype d, a, b, {!}c", WW_ANY_COMPARE "; .dtype = .bf16" WW_STYPES, {78, 90}, WW_ANCHOR("set"), bind_set_half},
    {"set.CmpOp{.ftz}.dtype.stype d, a, b", WW_COMPARE "; .dtype = .f16 .bf16 .u16 .s16 .u32 .s32; .stype = .f16", {42, 53}, WW_ANCHOR("set"), bind_set},
    {"set.CmpOp.BoolOp{.ftz}.dtype.stype d, a, b, {!}c", WW_COMPARE "; .dtype = .f16 .bf16 .u16 .s16 .u32 .s32; .stype = .f16", {42, 53}, WW_ANCHOR("set"), bind_set},
    {"set.CmpOp.dtype.stype d, a, b", WW_COMPARE "; .dtype = .bf16 .u16 .s16 .u32 .s32; .stype = .bf16", {78, 90}, WW_ANCHOR("set"), bind_set},
    {"set.CmpOp.BoolOp.dtype.stype d, a, b, {!}c", WW_COMPARE "; .dtype = .bf16 .u16 .s16 .u32 .s32; .stype = .bf16", {78, 90}, WW_ANCHOR("set"), bind_set},
    {"set.CmpOp{.ftz}.dtype.stype d, a, b", WW_COMPARE "; .dtype = .f16x2 .u32 .s32; .stype = .f16x2", {42, 53}, WW_ANCHOR("set"), bind_set},
    {"set.CmpOp.BoolOp{.ftz}.dtype.stype d, a, b, {!}c", WW_COMPARE "; .dtype = .f16x2 .u32 .s32; .stype = .f16x2", {42, 53}, WW_ANCHOR("set"), bind_set},
    {"set.CmpOp.dtype.stype d, a, b", WW_COMPARE "; .dtype = .bf16x2 .u32 .s32; .stype = .bf16x2", {78, 90}, WW_ANCHOR("set"), bind_set},
    {"set.CmpOp.BoolOp.dtype.stype d, a, b, {!}c", WW_COMPARE "; .dtype = .bf16x2 .u32 .s32; .stype = .bf16x2", {78, 90}, WW_ANCHOR("set"), bind_set},
    {"setp.CmpOp{.ftz}.type p, a, b", WW_COMPARE "; .type = .f16", {42, 53}, WW_ANCHOR("setp"), bind_setp},
    {"setp.CmpOp.BoolOp{.ftz}.type p, a, b, {!}c", WW_COMPARE "; .type = .f16", {42, 53}, WW_ANCHOR("setp"), bind_setp},
    {"setp.CmpOp{.ftz}.type p|q, a, b", WW_COMPARE "; .type = .f16x2", {42, 53}, WW_ANCHOR("setp"), bind_setp},
    {"setp.CmpOp.BoolOp{.ftz}.type p|q, a, b, {!}c", WW_COMPARE "; .type = .f16x2", {42, 53}, WW_ANCHOR("setp"), bind_setp},
    {"setp.CmpOp.type p, a, b", WW_COMPARE "; .type = .bf16", {78, 90}, WW_ANCHOR("setp"), bind_setp},
    {"setp.CmpOp.BoolOp.type p, a, b, {!}c", WW_COMPARE "; .type = .bf16", {78, 90}, WW_ANCHOR("setp"), bind_setp},
    {"setp.CmpOp.type p|q, a, b", WW_COMPARE "; .type = .bf16x2", {78, 90}, WW_ANCHOR("setp"), bind_setp},
    {"setp.CmpOp.BoolOp.type p|q, a, b, {!}c", WW_COMPARE "; .type = .bf16x2", {78, 90}, WW_ANCHOR("setp"), bind_setp},
};
// clang-format on

}  // namespace

std::span<const Row> half_compare_rows() { return kRows; }

}  // namespace ww::isa

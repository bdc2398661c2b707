// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Comparison and Selection Instructions". Half precision is in half_compare.cpp.
#include "isa/compare_ops.hpp"
#include "isa/isa.hpp"
#include "numerics/arith.hpp"

namespace ww::isa {
namespace {

template <Compare C, class T, bool Ftz>
void run_compare(Warp& w, const Inst& in) {
    alignas(64) T scratch[2][kLanes];
    const int first = first_source(in);
    const T* a = w.in<T>(in[first][0], scratch[0]);
    const T* b = w.in<T>(in[first + 1][0], scratch[1]);
    const auto value = [](T x) {
        if constexpr (Ftz)
            return numerics::flush(x);
        else
            return x;
    };
    finish_compare(w, in,
                   lanes_where([&](int lane) { return holds<C>(value(a[lane]), value(b[lane])); }));
}

// Equality does not see the sign of an integer: one loop less.
template <class T>
using SignBlind = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                              std::type_identity<T>>::type;

template <class T>
void select_run(const Match& match, Binding& binding) {
    const std::string_view name = match.get(".CmpOp");
    constexpr bool kFloat = std::is_floating_point_v<T>;
    const bool found = with_compare<kFloat>(name, [&]<Compare C>() {
        if constexpr (std::is_same_v<T, float>) {
            if (match.has(".ftz")) {
                binding.run = run_compare<C, T, true>;
                return;
            }
        }
        constexpr bool kEquality = C == Compare::eq || C == Compare::ne;
        binding.run = run_compare<C, std::conditional_t<kEquality, SignBlind<T>, T>, false>;
    });
    if (!found) binding.error = std::string(name) + " does not compare this type";
}

bool legal_comparison(std::string_view op, std::string_view type, bool ftz) {
    if (ftz && type != ".f32") return false;
    const bool equality = op == ".eq" || op == ".ne";
    if (type[1] == 'b') return equality;
    const bool unsigned_only = op == ".lo" || op == ".ls" || op == ".hi" || op == ".hs";
    return !unsigned_only || type[1] == 'u';
}

}  // namespace

void bind_compared(const Match& match, std::string_view type_set, int first, Binding& binding) {
    const Type type = match.type(type_set);
    if (!legal_comparison(match.get(".CmpOp"), match.get(type_set), match.has(".ftz"))) {
        binding.error = std::string(match.get(".CmpOp")) + (match.has(".ftz") ? ".ftz" : "") +
                        " does not compare " + std::string(match.get(type_set));
        return;
    }
    const int bytes = machine::type_bytes(type);
    if (!check_value(match, first, bytes, binding) ||
        !check_value(match, first + 1, bytes, binding))
        return;
    with_type<uint16_t, uint32_t, uint64_t, int16_t, int32_t, int64_t, float, double>(
        type, [&]<class T>() { select_run<T>(match, binding); });
}

namespace {

void bind_setp(const Match& match, Binding& binding) {
    if (!check_predicates(match, {0, 1}, binding)) return;
    const BoolOp op = bool_op(match.get(".BoolOp"));
    if (op != BoolOp::none && !check_predicate(match, 4, binding)) return;
    binding.aux = CompareAux{.op = op}.pack();
    bind_compared(match, ".type", 2, binding);
}
void bind_set(const Match& match, Binding& binding) {
    if (!check_value(match, 0, 4, binding)) return;
    const BoolOp op = bool_op(match.get(".BoolOp"));
    if (op != BoolOp::none && !check_predicate(match, 3, binding)) return;
    const bool one = match.get(".dtype") == ".f32";
    binding.aux =
        CompareAux{.op = op, .result_bytes = 4, .true_bits = one ? 0x3f800000u : 0xffffffffu}
            .pack();
    bind_compared(match, ".stype", 1, binding);
}

template <class T>
void run_selp(Warp& w, const Inst& in) {
    alignas(64) T d_scratch[kLanes], scratch[2][kLanes];
    const T* a = w.in<T>(in[1][0], scratch[0]);
    const T* b = w.in<T>(in[2][0], scratch[1]);
    const LaneMask p = w.predicate(in[3][0]);
    T* d = w.out<T>(in[0][0], d_scratch);
    for (int lane = 0; lane < kLanes; ++lane)
        d[lane] = (p & (LaneMask{1} << lane)) ? a[lane] : b[lane];
    w.commit<T>(in[0][0], d, d_scratch);
}
void bind_selp(const Match& match, Binding& binding) {
    const int bytes = machine::type_bytes(match.type());
    for (int position = 0; position < 3; ++position)
        if (!check_value(match, position, bytes, binding)) return;
    if (!check_predicate(match, 3, binding)) return;
    binding.run = bytes == 2   ? run_selp<uint16_t>
                  : bytes == 4 ? run_selp<uint32_t>
                               : run_selp<uint64_t>;
}

struct SlctInteger {
    template <class T>
    static T apply(T a, T b, int32_t c) {
        return c >= 0 ? a : b;
    }
};
template <bool Ftz>
struct SlctFloat {
    template <class T>
    static T apply(T a, T b, float c) {
        return (Ftz ? numerics::flush(c) : c) >= 0.0f ? a : b;
    }
};
template <class Op, class C>
void bind_slct(const Match& match, Binding& binding) {
    switch (machine::type_bytes(match.type(".dtype"))) {
        case 2:
            return bind_lanes<Op, uint16_t, uint16_t, uint16_t, C>(match, binding);
        case 4:
            return bind_lanes<Op, uint32_t, uint32_t, uint32_t, C>(match, binding);
        default:
            return bind_lanes<Op, uint64_t, uint64_t, uint64_t, C>(match, binding);
    }
}
void bind_slct_float(const Match& match, Binding& binding) {
    if (match.has(".ftz"))
        bind_slct<SlctFloat<true>, float>(match, binding);
    else
        bind_slct<SlctFloat<false>, float>(match, binding);
}

// clang-format off
#define WW_COMPARE ".CmpOp = .eq .ne .lt .le .gt .ge .lo .ls .hi .hs .equ .neu .ltu .leu .gtu .geu .num .nan"
#define WW_ANY(set) set " = .b16 .b32 .b64 .u16 .u32 .u64 .s16 .s32 .s64 .f32 .f64"
#define WW_BOOL "; .BoolOp = .and .or .xor"
#define WW_DTYPE "; .dtype = .u32 .s32 .f32"
#define WW_ANCHOR(name) "comparison-and-selection-instructions-" name
constexpr Row kRows[] = {
    {"set.CmpOp{.ftz}.dtype.stype d, a, b", WW_COMPARE "; " WW_ANY(".stype") WW_DTYPE, {10}, WW_ANCHOR("set"), bind_set},
    {"set.CmpOp.BoolOp{.ftz}.dtype.stype d, a, b, {!}c", WW_COMPARE "; " WW_ANY(".stype") WW_DTYPE WW_BOOL, {10}, WW_ANCHOR("set"), bind_set},
    {"setp.CmpOp{.ftz}.type p{|q}, a, b", WW_COMPARE "; " WW_ANY(".type"), {10}, WW_ANCHOR("setp"), bind_setp},
    {"setp.CmpOp.BoolOp{.ftz}.type p{|q}, a, b, {!}c", WW_COMPARE "; " WW_ANY(".type") WW_BOOL, {10}, WW_ANCHOR("setp"), bind_setp},
    {"selp.type d, a, b, p", WW_ANY(".type"), {10}, WW_ANCHOR("selp"), bind_selp},
    {"slct.dtype.s32 d, a, b, c", WW_ANY(".dtype"), {10}, WW_ANCHOR("slct"), bind_slct<SlctInteger, int32_t>},
    {"slct{.ftz}.dtype.f32 d, a, b, c", WW_ANY(".dtype"), {10}, WW_ANCHOR("slct"), bind_slct_float},
};
// clang-format on

}  // namespace

std::span<const Row> compare_select_rows() { return kRows; }

}  // namespace ww::isa

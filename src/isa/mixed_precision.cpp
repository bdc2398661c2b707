// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Mixed Precision Floating-Point Instructions": f32 with f16 or bf16 sources.
#include "isa/float_ops.hpp"
#include "isa/half_ops.hpp"
#include "isa/isa.hpp"
#include "numerics/half.hpp"

namespace ww::isa {
namespace {

template <bool Bf16>
float value(uint16_t code) {
    return Bf16 ? numerics::bf16_to_f32(code) : numerics::f16_to_f32(code);
}

// A half has no exponent or bits that f32 lacks, so each is an f32 operation.
template <bool Bf16>
struct Add {
    template <Rounding R>
    static float apply(uint16_t a, float c) {
        return numerics::add<R>(value<Bf16>(a), c);
    }
};
template <bool Bf16>
struct Sub {
    template <Rounding R>
    static float apply(uint16_t a, float c) {
        return numerics::sub<R>(value<Bf16>(a), c);
    }
};
template <bool Bf16>
struct Fma {
    template <Rounding R>
    static float apply(uint16_t a, uint16_t b, float c) {
        return numerics::fma<R>(value<Bf16>(a), value<Bf16>(b), c);
    }
};

template <template <bool> class Op, class... Sources>
void bind_mixed(const Match& match, Binding& binding) {
    with_rounding(match.get(".rnd"), [&]<Rounding R>() {
        with_flag(match.has(".sat"), [&]<bool Sat>() {
            with_flag(match.get(".atype") == ".bf16", [&]<bool Bf16>() {
                bind_lanes<Modified<Op<Bf16>, R, false, Sat>, float, Sources...>(match, binding);
            });
        });
    });
}

// clang-format off
#define WW_RND ".rnd = .rn .rz .rm .rp"
#define WW_ATYPE "; .atype = .f16 .bf16"
#define WW_ANCHOR(name) "mixed-precision-floating-point-instructions-" name
constexpr Row kRows[] = {
    {"add{.rnd}{.sat}.f32.atype d, a, c", WW_RND WW_ATYPE, {86, 100}, WW_ANCHOR("add"), bind_mixed<Add, uint16_t, float>},
    {"sub{.rnd}{.sat}.f32.atype d, a, c", WW_RND WW_ATYPE, {86, 100}, WW_ANCHOR("sub"), bind_mixed<Sub, uint16_t, float>},
    {"fma.rnd{.sat}.f32.atype d, a, b, c", WW_RND WW_ATYPE, {86, 100}, WW_ANCHOR("fma"), bind_mixed<Fma, uint16_t, uint16_t, float>},
};
// clang-format on

}  // namespace

std::span<const Row> mixed_precision_rows() { return kRows; }

}  // namespace ww::isa

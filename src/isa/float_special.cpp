// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Floating-Point Instructions": rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh.
#include "isa/float_ops.hpp"
#include "isa/isa.hpp"
#include "numerics/math.hpp"

namespace ww::isa {
namespace {

struct Rcp {
    template <Rounding R, class T>
    static T apply(T a) {
        return numerics::rcp<R>(a);
    }
};
struct Sqrt {
    template <Rounding R, class T>
    static T apply(T a) {
        return numerics::sqrt<R>(a);
    }
};

// A function of numerics/math.hpp as an operation; it flushes where its name says so.
template <float (*Function)(float)>
struct Call {
    static float apply(float a) { return Function(a); }
};
template <float (*Plain)(float), float (*Ftz)(float)>
void bind_approx(const Match& match, Binding& binding) {
    if (match.has(".ftz"))
        bind_lanes<Call<Ftz>, float, float>(match, binding);
    else
        bind_lanes<Call<Plain>, float, float>(match, binding);
}
template <double (*Function)(double)>
struct Call64 {
    static double apply(double a) { return Function(a); }
};

// clang-format off
#define WW_RND ".rnd = .rn .rz .rm .rp"
#define WW_ANCHOR(name) "floating-point-instructions-" name
constexpr Row kRows[] = {
    {"rcp.approx{.ftz}.f32 d, a", "", {14}, WW_ANCHOR("rcp"), bind_approx<numerics::rcp_approx, numerics::rcp_approx_ftz>},
    {"rcp.rnd{.ftz}.f32 d, a", WW_RND, {14, 20}, WW_ANCHOR("rcp"), bind_f32<Rcp, 1>},
    {"rcp.rnd.f64 d, a", WW_RND, {14, 13}, WW_ANCHOR("rcp"), bind_f64<Rcp, 1>},
    {"rcp.approx.ftz.f64 d, a", "", {21, 20}, WW_ANCHOR("rcp-approx-ftz-f64"), bind_lanes<Call64<numerics::rcp_approx_ftz_f64>, double, double>},
    {"sqrt.approx{.ftz}.f32 d, a", "", {14}, WW_ANCHOR("sqrt"), bind_approx<numerics::sqrt_approx, numerics::sqrt_approx_ftz>},
    {"sqrt.rnd{.ftz}.f32 d, a", WW_RND, {14, 20}, WW_ANCHOR("sqrt"), bind_f32<Sqrt, 1>},
    {"sqrt.rnd.f64 d, a", WW_RND, {14, 13}, WW_ANCHOR("sqrt"), bind_f64<Sqrt, 1>},
    {"rsqrt.approx{.ftz}.f32 d, a", "", {14}, WW_ANCHOR("rsqrt"), bind_approx<numerics::rsqrt_approx, numerics::rsqrt_approx_ftz>},
    // The f64 form without .ftz is an accurate software routine of the assembler's, not documented to the bit.
    {"rsqrt.approx.f64 d, a", "", {14, 13}, WW_ANCHOR("rsqrt"), nullptr},
    {"rsqrt.approx.ftz.f64 d, a", "", {40, 20}, WW_ANCHOR("rsqrt-approx-ftz-f64"), bind_lanes<Call64<numerics::rsqrt_approx_ftz_f64>, double, double>},
    {"sin.approx{.ftz}.f32 d, a", "", {14}, WW_ANCHOR("sin"), bind_approx<numerics::sin_approx, numerics::sin_approx_ftz>},
    {"cos.approx{.ftz}.f32 d, a", "", {14}, WW_ANCHOR("cos"), bind_approx<numerics::cos_approx, numerics::cos_approx_ftz>},
    {"lg2.approx{.ftz}.f32 d, a", "", {14}, WW_ANCHOR("lg2"), bind_approx<numerics::lg2_approx, numerics::lg2_approx_ftz>},
    {"ex2.approx{.ftz}.f32 d, a", "", {14}, WW_ANCHOR("ex2"), bind_approx<numerics::ex2_approx, numerics::ex2_approx_ftz>},
    {"tanh.approx.f32 d, a", "", {70, 75}, WW_ANCHOR("tanh"), bind_lanes<Call<numerics::tanh_approx>, float, float>},
};
// clang-format on

}  // namespace

std::span<const Row> float_special_rows() { return kRows; }

}  // namespace ww::isa

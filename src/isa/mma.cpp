// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Warp-level matrix instructions: mma": fragments in, fragments out. What the tensor
// core computes is src/numerics/tensor_core.hpp; where elements live is mma_fragments.hpp.

#include "isa/isa.hpp"
#include "isa/kept_plan.hpp"
#include "isa/lane.hpp"
#include "isa/mma_registers.hpp"
#include "isa/whole_warp.hpp"
#include "numerics/arith.hpp"
#include "numerics/half.hpp"
#include "numerics/tensor_core.hpp"

namespace ww::isa {
namespace {

using machine::Arg;
using machine::GuestTrap;
using numerics::Format;

// An instruction's arithmetic and layout, found once at bind; aux of the instruction points to it.
struct Plan {
    numerics::Model model;
    numerics::Shape shape;
    int a_registers = 0, b_registers = 0, c_registers = 0;  // of 4 bytes, or 8 for f64
    int row_bytes = 0;                        // of A and B: of the registers' contents
    bool center_a = false, center_b = false;  // e2m1 in bits 2-5 of a byte
    int scales = 0;                           // scales of a row of A, and of a column of B
    bool a_rows = true, b_columns = true;     // m8n8k4: layouts
    bool c_is_f16 = false;                    // m8n8k4 with f32 results may take f16 addends
    numerics::Rounding rounding = numerics::Rounding::rn;  // of f64 m8n8k4
};

constexpr int kMaxA = 2048, kMaxB = 1024, kMaxC = 1024;  // bytes, f64 m16n8k16

// The selector {byte-id, thread-id}: the same in all lanes, so the first lane's.
uint32_t selector(const Warp& w, const Arg& arg, int element) {
    alignas(64) uint16_t scratch[kLanes];
    return w.in<uint16_t>(arg[element], scratch)[0];
}

void gather_scales(const Warp& w, const Inst& in, int scales, uint8_t* a, uint8_t* b) {
    alignas(64) uint32_t scratch[kLanes];
    const uint32_t byte_a = selector(w, in[5], 0), thread_a = selector(w, in[5], 1);
    const uint32_t byte_b = selector(w, in[7], 0), thread_b = selector(w, in[7], 1);
    const auto byte_fits = [&](uint32_t byte) {
        return byte % static_cast<uint32_t>(scales) == 0 && byte < 4;
    };
    if (!byte_fits(byte_a) || !byte_fits(byte_b) || thread_a > 1 || thread_b > 3)
        throw GuestTrap(
            "selector of a scale out of range: byte-id must be a multiple of the vector size below "
            "4, "
            "thread-id-a 0 or 1, thread-id-b 0 to 3");
    place_scales_a(w.in<uint32_t>(in[4][0], scratch), byte_a, thread_a, scales, a);
    place_scales_b(w.in<uint32_t>(in[6][0], scratch), byte_b, thread_b, scales, b);
}

// The f64 chain with a rounding other than nearest: fma, k ascending.
void chain_f64(const Plan& plan, const uint8_t* a_bytes, const uint8_t* b_bytes, double* c) {
    const auto [m, n, k] = plan.shape;
    const double* a = reinterpret_cast<const double*>(a_bytes);
    const double* b = reinterpret_cast<const double*>(b_bytes);
    for (int row = 0; row < m; ++row)
        for (int col = 0; col < n; ++col)
            for (int i = 0; i < k; ++i) {
                double& sum = c[row * n + col];
                sum = numerics::detail::f64_fma(a[row * k + i], b[col * k + i], sum, plan.rounding);
            }
}

numerics::Rounding rounding_named(std::string_view name) {
    using numerics::Rounding;
    return name == ".rz"   ? Rounding::rz
           : name == ".rm" ? Rounding::rm
           : name == ".rp" ? Rounding::rp
                           : Rounding::rn;
}

// in: d, a, b, c and, block-scaled, scale-a, selector-a, scale-b, selector-b. Word: of A and B.
// Half: C and D are f16.
template <class Word, class Accumulator, bool Half>
void run_mma(Warp& w, const Inst& in) {
    if (!whole_warp(w, "mma")) return;
    const Plan& plan = *reinterpret_cast<const Plan*>(in.aux);
    alignas(64) uint8_t a[kMaxA], b[kMaxB];
    alignas(64) Accumulator c[kMaxC / sizeof(Accumulator)];
    uint8_t scale_a[16 * 4], scale_b[8 * 4];
    gather_rows<Word>(w, in[1], plan.a_registers, plan.shape.m, plan.row_bytes, a);
    gather_rows<Word>(w, in[2], plan.b_registers, plan.shape.n, plan.row_bytes, b);
    if constexpr (Half) {
        alignas(64) uint32_t scratch[kLanes];
        for (int r = 0; r < plan.c_registers; ++r)
            std::memcpy(c + kLanes * r, w.in<uint32_t>(in[3][r], scratch),
                        sizeof(uint32_t) * kLanes);
    } else {
        gather_pairs<Accumulator>(w, in[3], plan.c_registers, c);
    }
    if (plan.center_a) uncenter(a, plan.shape.m * plan.row_bytes);
    if (plan.center_b) uncenter(b, plan.shape.n * plan.row_bytes);
    numerics::MmaOperands operands{.a = a, .b = b, .c = c, .d = c};
    if (plan.scales) {
        gather_scales(w, in, plan.scales, scale_a, scale_b);
        operands.scale_a = scale_a;
        operands.scale_b = scale_b;
    }
    if (plan.rounding == numerics::Rounding::rn)
        numerics::mma(plan.model, plan.shape, operands);
    else if constexpr (std::is_same_v<Accumulator, double>)
        chain_f64(plan, a, b, c);
    if constexpr (Half) {
        for (int r = 0; r < plan.c_registers; ++r)
            w.commit<uint32_t>(in[0][r], c + kLanes * r, c + kLanes * r);
    } else {
        scatter_pairs<Accumulator>(w, in[0], plan.c_registers, c);
    }
}

// ---- m8n8k4 of f16 ----
using Halves = uint16_t[8][kLanes];  // element, lane: of up to 8 f16 in packed registers

void gather_halves(const Warp& w, const Arg& arg, int registers, Halves& out) {
    alignas(64) uint32_t scratch[kLanes];
    for (int r = 0; r < registers; ++r) {
        const uint32_t* word = w.in<uint32_t>(arg[r], scratch);
        for (int lane = 0; lane < kLanes; ++lane) {
            out[2 * r][lane] = static_cast<uint16_t>(word[lane]);
            out[2 * r + 1][lane] = static_cast<uint16_t>(word[lane] >> 16);
        }
    }
}

// Accumulators of the four products in the wanted element type.
template <class C>
void gather_quad_c(const Warp& w, const Arg& arg, bool given_f16, C (&c)[4][8][8]) {
    alignas(64) Halves halves;
    alignas(64) float words[8][kLanes], scratch[kLanes];
    if (given_f16)
        gather_halves(w, arg, 4, halves);
    else
        for (int e = 0; e < 8; ++e)
            std::memcpy(words[e], w.in<float>(arg[e], scratch), sizeof scratch);
    for (int q = 0; q < 4; ++q)
        for (int i = 0; i < 8; ++i)
            for (int e = 0; e < 8; ++e) {
                const int lane = quad_lane(q, i);
                const Element at = given_f16 ? quad_c_f16(i, e) : quad_c_f32(i, e);
                if constexpr (std::is_same_v<C, uint16_t>)
                    c[q][at.row][at.col] = halves[e][lane];
                else
                    c[q][at.row][at.col] =
                        given_f16 ? numerics::f16_to_f32(halves[e][lane]) : words[e][lane];
            }
}

void scatter_quad_d(Warp& w, const Arg& arg, const float (&d)[4][8][8]) {
    alignas(64) float words[8][kLanes];
    for (int q = 0; q < 4; ++q)
        for (int i = 0; i < 8; ++i)
            for (int e = 0; e < 8; ++e) {
                const Element at = quad_c_f32(i, e);
                words[e][quad_lane(q, i)] = d[q][at.row][at.col];
            }
    for (int e = 0; e < 8; ++e) w.commit<float>(arg[e], words[e], words[e]);
}
void scatter_quad_d(Warp& w, const Arg& arg, const uint16_t (&d)[4][8][8]) {
    alignas(64) uint32_t words[4][kLanes];
    for (int q = 0; q < 4; ++q)
        for (int i = 0; i < 8; ++i)
            std::memcpy(&words[0][quad_lane(q, i)], &d[q][i][0], 4),
                std::memcpy(&words[1][quad_lane(q, i)], &d[q][i][2], 4),
                std::memcpy(&words[2][quad_lane(q, i)], &d[q][i][4], 4),
                std::memcpy(&words[3][quad_lane(q, i)], &d[q][i][6], 4);
    for (int r = 0; r < 4; ++r) w.commit<uint32_t>(arg[r], words[r], words[r]);
}

template <class C>
void run_quad(Warp& w, const Inst& in) {
    if (!whole_warp(w, "mma")) return;
    const Plan& plan = *reinterpret_cast<const Plan*>(in.aux);
    alignas(64) Halves a_halves, b_halves;
    alignas(64) C c[4][8][8];
    gather_halves(w, in[1], 2, a_halves);
    gather_halves(w, in[2], 2, b_halves);
    gather_quad_c<C>(w, in[3], plan.c_is_f16, c);
    for (int q = 0; q < 4; ++q) {
        alignas(64) uint16_t a[8][4], b[8][4];
        for (int i = 0; i < 8; ++i)
            for (int e = 0; e < 4; ++e) {
                const int lane = quad_lane(q, i);
                const Element at_a = quad_a(i, e, plan.a_rows), at_b = quad_b(i, e, plan.b_columns);
                a[at_a.row][at_a.col] = a_halves[e][lane];
                b[at_b.row][at_b.col] = b_halves[e][lane];
            }
        numerics::mma(plan.model, plan.shape, {.a = a, .b = b, .c = c[q], .d = c[q]});
    }
    scatter_quad_d(w, in[0], c);
}

// ---- binds ----
Format format(const Match& match, std::string_view set) {
    const std::string_view name = match.get(set);
    return name.empty() ? Format::none : numerics::format_named(name.substr(1));
}

bool find_model(const Match& match, const numerics::MmaKind& kind, Plan& plan, Binding& binding) {
    const Result<numerics::Model> model = numerics::find_model(kind);
    if (!model) {
        binding.error = model.error()[0].message;
        return false;
    }
    plan.model = *model;
    plan.shape = parse_shape(match.get(".shape"));
    return true;
}

// Register counts from the shape, checked against the operands.
bool check_fragments(const Match& match, Plan& plan, int a_bits, int b_bits, int c_bits,
                     Binding& binding) {
    const int word = a_bits == 64 ? 8 : 4, c_word = c_bits == 64 ? 8 : 4;
    const auto registers = [&](int elements, int bits, int bytes) {
        return elements * bits / (8 * bytes * kLanes);
    };
    plan.row_bytes = plan.shape.k * a_bits / 8;
    plan.a_registers = registers(plan.shape.m * plan.shape.k, a_bits, word);
    plan.b_registers = registers(plan.shape.n * plan.shape.k, b_bits, word);
    plan.c_registers = registers(plan.shape.m * plan.shape.n, c_bits, c_word);
    return check_vector(match, 0, plan.c_registers, c_word, binding) &&
           check_vector(match, 1, plan.a_registers, word, binding) &&
           check_vector(match, 2, plan.b_registers, word, binding) &&
           check_vector(match, 3, plan.c_registers, c_word, binding);
}

// Everything but m8n8k4 of f16. Sets: .shape, .atype, .btype, .dtype, .ctype, maybe .kind, .stype.
void bind_mma(const Match& match, Binding& binding) {
    const std::string_view kind = match.get(".kind"), scale_vector = match.get(".scale_vec_size");
    const bool packed_fp4 = kind == ".kind::mxf4" || kind == ".kind::mxf4nvf4";
    const bool bytes = kind == ".kind::f8f6f4" || kind == ".kind::mxf8f6f4";
    numerics::MmaKind wanted{.sm = match.target_sm,
                             .a = format(match, ".atype"),
                             .b = format(match, ".btype"),
                             .accumulator = format(match, ".dtype"),
                             .packed_fp4 = packed_fp4,
                             .saturate = match.has(".satfinite"),
                             .binary_and = match.get(".bitOp") == ".and"};
    if (wanted.a == Format::b1) wanted.accumulator = Format::s32;
    if (format(match, ".ctype") != wanted.accumulator) {
        binding.error = "the types of c and d must be the same";
        return;
    }
    Plan plan;
    const int shape_k = parse_shape(match.get(".shape")).k;
    if (packed_fp4 || kind == ".kind::mxf8f6f4") {
        plan.scales = scale_vector.empty() ? (packed_fp4 ? 2 : 1)
                                           : scale_vector[sizeof(".scale_vec::") - 1] - '0';
        wanted.scale = format(match, ".stype");
        wanted.scale_block = shape_k / plan.scales;
    }
    if (!find_model(match, wanted, plan, binding)) return;
    const int a_bits = bytes ? 8 : numerics::info(wanted.a).bits,
              b_bits = bytes ? 8 : numerics::info(wanted.b).bits;
    const int c_bits = numerics::info(wanted.accumulator).bits;
    if (!check_fragments(match, plan, a_bits, b_bits, c_bits, binding)) return;
    if (plan.scales &&
        !(check_value(match, 4, 4, binding) && check_vector(match, 5, 2, 0, binding) &&
          check_value(match, 6, 4, binding) && check_vector(match, 7, 2, 0, binding)))
        return;
    plan.center_a = bytes && wanted.a == Format::e2m1;
    plan.center_b = bytes && wanted.b == Format::e2m1;
    plan.rounding = rounding_named(match.get(".rnd"));
    binding.aux = kept_plan(match, plan);
    binding.run = c_bits == 64   ? run_mma<uint64_t, double, false>
                  : c_bits == 16 ? run_mma<uint32_t, uint32_t, true>
                                 : run_mma<uint32_t, uint32_t, false>;
}

void bind_quad(const Match& match, Binding& binding) {
    const Format d = format(match, ".dtype"), c = format(match, ".ctype");
    if (d == Format::f16 && c == Format::f32) {
        binding.error = "with .f32 as the type of c, d must be .f32 too";
        return;
    }
    Plan plan{.a_rows = match.get(".alayout") == ".row",
              .b_columns = match.get(".blayout") == ".col",
              .c_is_f16 = c == Format::f16};
    if (!find_model(match, {.sm = match.target_sm, .accumulator = d, .quad = true}, plan, binding))
        return;
    const int d_registers = d == Format::f16 ? 4 : 8, c_registers = c == Format::f16 ? 4 : 8;
    if (!check_vector(match, 0, d_registers, 4, binding) ||
        !check_vector(match, 1, 2, 4, binding) || !check_vector(match, 2, 2, 4, binding) ||
        !check_vector(match, 3, c_registers, 4, binding))
        return;
    binding.aux = kept_plan(match, plan);
    binding.run = d == Format::f16 ? run_quad<uint16_t> : run_quad<float>;
}

constexpr std::string_view kMma = "warp-level-matrix-instructions-mma";
constexpr std::string_view kSparse = "warp-level-matrix-instructions-mma-sp";
#define WW_FLOATS ".dtype = .f16 .f32; .ctype = .f16 .f32; "
#define WW_F8F6F4 ".atype = .e4m3 .e5m2 .e3m2 .e2m3 .e2m1; .btype = .e4m3 .e5m2 .e3m2 .e2m3 .e2m1; "
#define WW_SCALES " d, a, b, c, scale-a-data, selector-a, scale-b-data, selector-b"
#define WW_SPARSE_SCALES " d, a, b, c, e, f, scale-a-data, selector-a, scale-b-data, selector-b"
#define WW_SP ".spvariant = .sp .sp::ordered_metadata; "
// clang-format off
constexpr Row kRows[] = {
    {"mma.sync.aligned.shape.alayout.blayout.dtype.f16.f16.ctype d, a, b, c",
     ".shape = .m8n8k4; .alayout = .row .col; .blayout = .row .col; " WW_FLOATS, {64, 70}, kMma, bind_quad},
    {"mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype d, a, b, c",
     ".shape = .m16n8k8; .atype = .f16; .btype = .f16; " WW_FLOATS, {65, 75}, kMma, bind_mma},
    {"mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype d, a, b, c",
     ".shape = .m16n8k16; .atype = .f16; .btype = .f16; " WW_FLOATS, {70, 80}, kMma, bind_mma},
    {"mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype d, a, b, c",
     ".shape = .m16n8k4 .m16n8k8; .atype = .tf32; .btype = .tf32; .dtype = .f32; .ctype = .f32", {70, 80}, kMma, bind_mma},
    {"mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype d, a, b, c",
     ".shape = .m16n8k8 .m16n8k16; .atype = .bf16; .btype = .bf16; .dtype = .f32; .ctype = .f32", {70, 80}, kMma, bind_mma},
    {"mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype d, a, b, c",
     ".shape = .m16n8k16 .m16n8k32; .atype = .e4m3 .e5m2; .btype = .e4m3 .e5m2; " WW_FLOATS, {84, 89}, kMma, bind_mma},
    {"mma.sync.aligned.shape.row.col.kind.dtype.atype.btype.ctype d, a, b, c",
     ".shape = .m16n8k32; .kind = .kind::f8f6f4; " WW_FLOATS WW_F8F6F4, {87, 120, 'a'}, kMma, bind_mma},
    {"mma.sync.aligned.shape.row.col.kind.block_scale{.scale_vec_size}.dtype.atype.btype.ctype.stype" WW_SCALES,
     ".shape = .m16n8k64; .kind = .kind::mxf4; .scale_vec_size = .scale_vec::2X; .stype = .ue8m0; .atype = .e2m1; .btype = .e2m1; "
     ".dtype = .f32; .ctype = .f32", {87, 120, 'a'}, kMma, bind_mma},
    {"mma.sync.aligned.shape.row.col.kind.block_scale.scale_vec_size.dtype.atype.btype.ctype.stype" WW_SCALES,
     ".shape = .m16n8k64; .kind = .kind::mxf4nvf4; .scale_vec_size = .scale_vec::2X .scale_vec::4X; .stype = .ue8m0 .ue4m3; "
     ".atype = .e2m1; .btype = .e2m1; .dtype = .f32; .ctype = .f32", {87, 120, 'a'}, kMma, bind_mma},
    {"mma.sync.aligned.shape.row.col.kind.block_scale{.scale_vec_size}.dtype.atype.btype.ctype.stype" WW_SCALES,
     ".shape = .m16n8k32; .kind = .kind::mxf8f6f4; .scale_vec_size = .scale_vec::1X; .stype = .ue8m0; .dtype = .f32; .ctype = .f32; "
     WW_F8F6F4, {87, 120, 'a'}, kMma, bind_mma},
    {"mma.sync.aligned.shape.row.col{.rnd}.dtype.atype.btype.ctype d, a, b, c",
     ".rnd = .rn .rz .rm .rp; .shape = .m8n8k4; .atype = .f64; .btype = .f64; .dtype = .f64; .ctype = .f64", {70, 80}, kMma, bind_mma},
    {"mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype d, a, b, c",
     ".shape = .m16n8k4 .m16n8k8 .m16n8k16; .atype = .f64; .btype = .f64; .dtype = .f64; .ctype = .f64", {78, 90}, kMma, bind_mma},
    {"mma.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype d, a, b, c",
     ".shape = .m8n8k16 .m16n8k16 .m16n8k32; .atype = .u8 .s8; .btype = .u8 .s8; .dtype = .s32; .ctype = .s32", {65, 75}, kMma, bind_mma},
    {"mma.sync.aligned.shape.row.col{.satfinite}.dtype.atype.btype.ctype d, a, b, c",
     ".shape = .m8n8k32 .m16n8k32 .m16n8k64; .atype = .u4 .s4; .btype = .u4 .s4; .dtype = .s32; .ctype = .s32", {65, 75}, kMma, bind_mma},
    {"mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype.bitOp.popc d, a, b, c",
     ".shape = .m8n8k128 .m16n8k128 .m16n8k256; .bitOp = .xor .and; .atype = .b1; .btype = .b1; .dtype = .s32; .ctype = .s32", {70, 75}, kMma,
     bind_mma},
    // Sparse A: mma_sparse.cpp; the block-scaled ones have no semantics.
    {"mma.spvariant.sync.aligned.shape.row.col.dtype.f16.f16.ctype d, a, b, c, e, f", WW_SP ".shape = .m16n8k16 .m16n8k32; " WW_FLOATS,
     {71, 80}, kSparse, bind_mma_sparse},
    {"mma.spvariant.sync.aligned.shape.row.col.f32.bf16.bf16.f32 d, a, b, c, e, f", WW_SP ".shape = .m16n8k16 .m16n8k32", {71, 80}, kSparse, bind_mma_sparse},
    {"mma.spvariant.sync.aligned.shape.row.col.f32.tf32.tf32.f32 d, a, b, c, e, f", WW_SP ".shape = .m16n8k8 .m16n8k16", {71, 80}, kSparse, bind_mma_sparse},
    {"mma.spvariant.sync.aligned.m16n8k64.row.col.dtype.atype.btype.ctype d, a, b, c, e, f",
     WW_SP ".atype = .e4m3 .e5m2; .btype = .e4m3 .e5m2; " WW_FLOATS, {84, 89}, kSparse, bind_mma_sparse},
    {"mma.spvariant.sync.aligned.m16n8k64.row.col.kind::f8f6f4.dtype.atype.btype.ctype d, a, b, c, e, f",
     ".spvariant = .sp::ordered_metadata; " WW_FLOATS WW_F8F6F4, {87, 120, 'a'}, kSparse, bind_mma_sparse},
    {"mma.spvariant.sync.aligned.m16n8k128.row.col.kind.block_scale{.scale_vec_size}.f32.e2m1.e2m1.f32.stype" WW_SPARSE_SCALES,
     ".spvariant = .sp::ordered_metadata; .kind = .kind::mxf4 .kind::mxf4nvf4; .scale_vec_size = .scale_vec::2X .scale_vec::4X; "
     ".stype = .ue8m0 .ue4m3", {87, 120, 'a'}, kSparse},
    {"mma.spvariant.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale{.scale_vec::1X}.f32.atype.btype.f32.ue8m0" WW_SPARSE_SCALES,
     ".spvariant = .sp::ordered_metadata; " WW_F8F6F4, {87, 120, 'a'}, kSparse},
    {"mma.spvariant.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c, e, f",
     WW_SP ".shape = .m16n8k32 .m16n8k64; .atype = .u8 .s8; .btype = .u8 .s8", {71, 80}, kSparse, bind_mma_sparse},
    {"mma.spvariant.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c, e, f",
     WW_SP ".shape = .m16n8k64 .m16n8k128; .atype = .u4 .s4; .btype = .u4 .s4", {71, 80}, kSparse, bind_mma_sparse},
};
// clang-format on

}  // namespace

std::span<const Row> mma_rows() { return kRows; }

}  // namespace ww::isa

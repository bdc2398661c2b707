// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Warp-level matrix multiply-accumulate instructions: wmma". The manual leaves open which
// lane holds which element; here a fragment holds its matrix row after row (B: column after column),
// word i in register i / 32 of lane i % 32, and registers beyond that repeat it. What is computed is
// src/numerics/tensor_core.hpp, with the sums of mma.sync (an H200 agrees; tf32 in steps of k = 4).
#include "isa/isa.hpp"
#include "isa/kept_plan.hpp"
#include "isa/memory_ops.hpp"
#include "isa/whole_warp.hpp"
#include "numerics/half.hpp"
#include "numerics/tensor_core.hpp"

namespace ww::isa {
namespace {

using machine::Agent;
using machine::Arg;
using machine::AsyncAccess;
using machine::GuestTrap;
using machine::MemoryRange;
using numerics::Format;

constexpr int kTf32Step = 4;  // ptxas makes of wmma's k = 8 two HMMA.1684, each with a sum of its own
constexpr int kMaxMatrixBytes = 2048;  // 16 x 16 f32, or 32 x 16 f32

struct Fragment {
    int lines = 0, elements = 0, bits = 0;  // A: m and k; B: n and k; C and D: m and n
    int registers = 0, width = 4;           // as the instruction names them; bytes of one
    int bytes() const { return lines * elements * bits / 8; }
    int distinct() const { return bytes() / width / kLanes; }
};

// An instruction's fragments and arithmetic, found once at bind; aux points to it.
struct Plan {
    Space space = Space::generic;  // load, store
    bool along = true;             // memory holds line after line, as the fragment does
    Fragment a, b, c, d;           // load, store: only a
    numerics::Model model;
    numerics::Shape shape;
    bool widen_c = false;          // c is f16, d is f32
};

template <class Word>
void gather(const Warp& w, const Arg& arg, const Fragment& f, uint8_t* matrix) {
    alignas(64) Word scratch[kLanes];
    for (int r = 0; r < f.distinct(); ++r) std::memcpy(matrix + r * static_cast<int>(sizeof scratch), w.in<Word>(arg[r], scratch), sizeof scratch);
}
template <class Word>
void scatter(Warp& w, const Arg& arg, const Fragment& f, const uint8_t* matrix) {
    for (int r = 0; r < f.registers; ++r) {
        alignas(64) Word value[kLanes];
        std::memcpy(value, matrix + r % f.distinct() * static_cast<int>(sizeof value), sizeof value);
        w.commit<Word>(arg[r], value, value);
    }
}
void gather(const Warp& w, const Arg& arg, const Fragment& f, uint8_t* matrix) {
    if (f.width == 8) gather<uint64_t>(w, arg, f, matrix);
    else gather<uint32_t>(w, arg, f, matrix);
}
void scatter(Warp& w, const Arg& arg, const Fragment& f, const uint8_t* matrix) {
    if (f.width == 8) scatter<uint64_t>(w, arg, f, matrix);
    else scatter<uint32_t>(w, arg, f, matrix);
}

// ---- memory ----
struct Place {
    uint64_t address = 0, stride = 0;  // bytes between lines of memory
};

// All lanes give the same. The stride counts elements; without one, lines are close together.
Place place_of(Warp& w, const Inst& in, int address_at, int stride_at, int line_elements, int bits) {
    alignas(64) uint64_t address[kLanes];
    alignas(64) uint32_t scratch[kLanes];
    w.addresses(in[address_at], address);
    const bool given = in[stride_at].count != 0;
    const uint32_t* stride = given ? w.in<uint32_t>(in[stride_at][0], scratch) : nullptr;
    for (int lane = 1; lane < kLanes; ++lane)
        if (address[lane] != address[0] || (given && stride[lane] != stride[0]))
            throw GuestTrap("the lanes of a warp give different addresses or strides of a wmma matrix", lane);
    const uint64_t elements = given ? stride[0] : static_cast<uint64_t>(line_elements);
    if (elements < static_cast<uint64_t>(line_elements))
        throw GuestTrap("the stride of a wmma matrix is " + std::to_string(elements) + " elements, less than a line of " + std::to_string(line_elements));
    if (elements * static_cast<uint64_t>(bits) % 128 != 0)
        throw GuestTrap("the stride of a wmma matrix must be a multiple of 16 bytes, not " + std::to_string(elements) + " elements of " + std::to_string(bits) + " bits");
    return {address[0], elements * static_cast<uint64_t>(bits) / 8};
}

// f(range of a line of memory, its number): checked; such a line is one of the fragment, or its
// elements lie across them.
template <class F>
void each_line(Warp& w, const Inst& in, const Plan& plan, int address_at, int stride_at, Access kind, F&& f) {
    const Fragment& fragment = plan.a;
    const int lines = plan.along ? fragment.lines : fragment.elements, elements = plan.along ? fragment.elements : fragment.lines;
    const Place place = place_of(w, in, address_at, stride_at, elements, fragment.bits);
    const uint32_t align = static_cast<uint32_t>(std::max(fragment.bits / 8, 4));
    for (int line = 0; line < lines; ++line)
        f(w.range(plan.space, place.address + static_cast<uint64_t>(line) * place.stride, static_cast<uint64_t>(elements * fragment.bits / 8), align, kind, 0), line);
}

// Element by element from one line across all, or back; at least a byte each.
void across(const Fragment& f, uint8_t* matrix, uint8_t* line, int number, bool to_matrix) {
    const size_t bytes = static_cast<size_t>(f.bits / 8);
    for (int i = 0; i < f.lines; ++i) {
        uint8_t *in_matrix = matrix + static_cast<size_t>(i * f.elements + number) * bytes, *in_line = line + static_cast<size_t>(i) * bytes;
        if (to_matrix) std::memcpy(in_matrix, in_line, bytes);
        else std::memcpy(in_line, in_matrix, bytes);
    }
}

// in: d, [a], stride
void run_load(Warp& w, const Inst& in) {
    if (!whole_warp(w, "wmma")) return;
    const Plan& plan = *reinterpret_cast<const Plan*>(in.aux);
    alignas(64) uint8_t matrix[kMaxMatrixBytes];
    each_line(w, in, plan, 1, 2, Access::read, [&](const MemoryRange& range, int number) {
        uint8_t line[kMaxMatrixBytes];
        AsyncAccess{w, in, Agent::thread, 0, 0}.read(range, line);
        if (plan.along) std::memcpy(matrix + static_cast<uint64_t>(number) * range.bytes, line, range.bytes);
        else across(plan.a, matrix, line, number, true);
    });
    scatter(w, in[0], plan.a, matrix);
}

// in: [a], d, stride
void run_store(Warp& w, const Inst& in) {
    if (!whole_warp(w, "wmma")) return;
    const Plan& plan = *reinterpret_cast<const Plan*>(in.aux);
    alignas(64) uint8_t matrix[kMaxMatrixBytes];
    gather(w, in[1], plan.a, matrix);
    each_line(w, in, plan, 0, 2, Access::write, [&](const MemoryRange& range, int number) {
        uint8_t line[kMaxMatrixBytes];
        if (plan.along) std::memcpy(line, matrix + static_cast<uint64_t>(number) * range.bytes, range.bytes);
        else across(plan.a, matrix, line, number, false);
        AsyncAccess{w, in, Agent::thread, 0, 0}.write(range, line);
    });
}

// in: d, a, b, c
void run_mma(Warp& w, const Inst& in) {
    if (!whole_warp(w, "wmma")) return;
    const Plan& plan = *reinterpret_cast<const Plan*>(in.aux);
    alignas(64) uint8_t a[kMaxMatrixBytes], b[kMaxMatrixBytes], c[kMaxMatrixBytes];
    gather(w, in[1], plan.a, a);
    gather(w, in[2], plan.b, b);
    gather(w, in[3], plan.c, c);
    if (plan.widen_c)
        for (int i = plan.c.lines * plan.c.elements - 1; i >= 0; --i) {
            uint16_t half;
            std::memcpy(&half, c + 2 * i, sizeof half);
            const float wide = numerics::f16_to_f32(half);
            std::memcpy(c + 4 * i, &wide, sizeof wide);
        }
    numerics::mma(plan.model, plan.shape, {.a = a, .b = b, .c = c, .d = c});
    scatter(w, in[0], plan.d, c);
}

// ---- binds ----
void keep(const Match& match, const Plan& plan, Binding& binding, machine::Run run) {
    binding.aux = kept_plan(match, plan);
    binding.run = run;
}

// ".m16n16k16"
numerics::Shape shape_of(const Match& match) {
    const std::string_view text = match.get(".shape");
    const auto number_after = [&](char letter) { return std::stoi(std::string(text.substr(text.find(letter) + 1))); };
    return {number_after('m'), number_after('n'), number_after('k')};
}

// The rows of f16 do not name the types of A and B.
Format format_of(const Match& match, std::string_view set) {
    const std::string_view name = match.get(set);
    return name.empty() ? Format::f16 : numerics::format_named(name.substr(1));
}

// A and B of f16 have eight registers, whatever the shape.
Fragment fragment(int lines, int elements, Format format, bool is_operand) {
    Fragment out{.lines = lines, .elements = elements, .bits = numerics::info(format).bits};
    if (format == Format::tf32) out.bits = 32;
    if (out.bits == 64) out.width = 8;
    out.registers = is_operand && format == Format::f16 ? 8 : out.distinct();
    return out;
}

bool check_fragment(const Match& match, int position, const Fragment& f, Binding& binding) {
    return f.registers == 1 ? check_vector(match, position, 1, f.width, binding) : check_vector(match, position, f.registers, f.width, binding);
}

enum class Which { a, b, accumulator };

template <Which Matrix, bool Load>
void bind_memory(const Match& match, Binding& binding) {
    const auto [m, n, k] = shape_of(match);
    const Format format = format_of(match, ".type");
    Plan plan{.space = match.get(".ss").empty() ? Space::generic : Match::space(match.get(".ss"))};
    plan.a = Matrix == Which::a   ? fragment(m, k, format, true)
             : Matrix == Which::b ? fragment(n, k, format, true)
                                  : fragment(m, n, format, false);
    plan.along = (match.get(".layout") == ".row") == (Matrix != Which::b);
    if (!plan.along && plan.a.bits < 8) {
        binding.error = "elements below a byte lie along k: .row of A, .col of B";
        return;
    }
    if (!check_fragment(match, Load ? 0 : 1, plan.a, binding)) return;
    if (match.operands[2].kind != OperandInfo::Kind::absent && !check_value(match, 2, 4, binding)) return;
    keep(match, plan, binding, Load ? run_load : run_store);
}

void bind_multiply(const Match& match, Binding& binding) {
    const Format a = format_of(match, ".atype"), b = format_of(match, ".btype"), c = format_of(match, ".ctype"), d = format_of(match, ".dtype");
    Plan plan{.shape = shape_of(match), .widen_c = c == Format::f16 && d == Format::f32};
    if (c != d && !plan.widen_c) {
        binding.error = "with .f32 as the type of c, d must be .f32 too";
        return;
    }
    if (a != b) {
        binding.error = "the types of a and b must be the same";
        return;
    }
    if (!match.get(".rnd").empty() && match.get(".rnd") != ".rn") {
        binding.error = "f64 products have semantics with .rn only";
        return;
    }
    const Result<numerics::Model> model = numerics::find_model({.sm = match.target_sm,
                                                               .a = a,
                                                               .b = b,
                                                               .accumulator = d,
                                                               .saturate = match.has(".satfinite"),
                                                               .binary_and = match.get(".op") == ".and"});
    if (!model) {
        binding.error = model.error()[0].message;
        return;
    }
    plan.model = *model;
    if (a == Format::tf32) plan.model.chunk = kTf32Step;
    const auto [m, n, k] = plan.shape;
    plan.a = fragment(m, k, a, true);
    plan.b = fragment(n, k, b, true);
    plan.c = fragment(m, n, c, false);
    plan.d = fragment(m, n, d, false);
    if (check_fragment(match, 0, plan.d, binding) && check_fragment(match, 1, plan.a, binding) && check_fragment(match, 2, plan.b, binding) &&
        check_fragment(match, 3, plan.c, binding))
        keep(match, plan, binding, run_mma);
}

#define WW_WMMA(what) "warp-level-matrix-instructions-wmma-" what
#define WW_LAYOUT ".layout = .row .col; .ss = .global .shared .shared::cta; "
#define WW_LAYOUTS ".alayout = .row .col; .blayout = .row .col; "
#define WW_16 ".shape = .m16n16k16 .m8n32k16 .m32n8k16; "
// clang-format off
constexpr auto kLoadA = bind_memory<Which::a, true>;
constexpr auto kLoadB = bind_memory<Which::b, true>;
constexpr auto kLoadC = bind_memory<Which::accumulator, true>;
constexpr auto kStore = bind_memory<Which::accumulator, false>;
constexpr Row kRows[] = {
    {"wmma.load.a.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .f16; " WW_LAYOUT WW_16, {60, 70}, WW_WMMA("load"), kLoadA},
    {"wmma.load.b.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .f16; " WW_LAYOUT WW_16, {60, 70}, WW_WMMA("load"), kLoadB},
    {"wmma.load.c.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .f16 .f32; " WW_LAYOUT WW_16, {60, 70}, WW_WMMA("load"), kLoadC},
    {"wmma.store.d.sync.aligned.layout.shape{.ss}.type [a], d{, stride}", ".type = .f16 .f32; " WW_LAYOUT WW_16, {60, 70}, WW_WMMA("store"), kStore},
    {"wmma.load.a.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .s8 .u8; " WW_LAYOUT WW_16, {63, 72}, WW_WMMA("load"), kLoadA},
    {"wmma.load.b.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .s8 .u8; " WW_LAYOUT WW_16, {63, 72}, WW_WMMA("load"), kLoadB},
    {"wmma.load.c.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .s32; " WW_LAYOUT WW_16, {63, 72}, WW_WMMA("load"), kLoadC},
    {"wmma.store.d.sync.aligned.layout.shape{.ss}.type [a], d{, stride}", ".type = .s32; " WW_LAYOUT WW_16, {63, 72}, WW_WMMA("store"), kStore},
    {"wmma.load.a.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .bf16; " WW_LAYOUT WW_16, {70, 80}, WW_WMMA("load"), kLoadA},
    {"wmma.load.b.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .bf16; " WW_LAYOUT WW_16, {70, 80}, WW_WMMA("load"), kLoadB},
    {"wmma.load.a.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .tf32; .shape = .m16n16k8; " WW_LAYOUT, {70, 80}, WW_WMMA("load"), kLoadA},
    {"wmma.load.b.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .tf32; .shape = .m16n16k8; " WW_LAYOUT, {70, 80}, WW_WMMA("load"), kLoadB},
    {"wmma.load.c.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .f32; .shape = .m16n16k8; " WW_LAYOUT, {70, 80}, WW_WMMA("load"), kLoadC},
    {"wmma.store.d.sync.aligned.layout.shape{.ss}.type [a], d{, stride}", ".type = .f32; .shape = .m16n16k8; " WW_LAYOUT, {70, 80}, WW_WMMA("store"), kStore},
    {"wmma.load.a.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .f64; .shape = .m8n8k4; " WW_LAYOUT, {70, 80}, WW_WMMA("load"), kLoadA},
    {"wmma.load.b.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .f64; .shape = .m8n8k4; " WW_LAYOUT, {70, 80}, WW_WMMA("load"), kLoadB},
    {"wmma.load.c.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .f64; .shape = .m8n8k4; " WW_LAYOUT, {70, 80}, WW_WMMA("load"), kLoadC},
    {"wmma.store.d.sync.aligned.layout.shape{.ss}.type [a], d{, stride}", ".type = .f64; .shape = .m8n8k4; " WW_LAYOUT, {70, 80}, WW_WMMA("store"), kStore},
    {"wmma.load.a.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .s4 .u4; .shape = .m8n8k32; .layout = .row; .ss = .global .shared .shared::cta", {63, 75}, WW_WMMA("load"), kLoadA},
    {"wmma.load.b.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .s4 .u4; .shape = .m8n8k32; .layout = .col; .ss = .global .shared .shared::cta", {63, 75}, WW_WMMA("load"), kLoadB},
    {"wmma.load.a.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .b1; .shape = .m8n8k128; .layout = .row; .ss = .global .shared .shared::cta", {63, 75}, WW_WMMA("load"), kLoadA},
    {"wmma.load.b.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .b1; .shape = .m8n8k128; .layout = .col; .ss = .global .shared .shared::cta", {63, 75}, WW_WMMA("load"), kLoadB},
    {"wmma.load.c.sync.aligned.layout.shape{.ss}.type d, [a]{, stride}", ".type = .s32; .shape = .m8n8k32 .m8n8k128; " WW_LAYOUT, {63, 75}, WW_WMMA("load"), kLoadC},
    {"wmma.store.d.sync.aligned.layout.shape{.ss}.type [a], d{, stride}", ".type = .s32; .shape = .m8n8k32 .m8n8k128; " WW_LAYOUT, {63, 75}, WW_WMMA("store"), kStore},
    {"wmma.mma.sync.aligned.alayout.blayout.shape.dtype.ctype d, a, b, c", ".dtype = .f16 .f32; .ctype = .f16 .f32; " WW_LAYOUTS WW_16, {60, 70}, WW_WMMA("mma"), bind_multiply},
    {"wmma.mma.sync.aligned.alayout.blayout.shape.dtype.atype.btype.ctype{.satfinite} d, a, b, c",
     ".dtype = .s32; .atype = .s8 .u8; .btype = .s8 .u8; .ctype = .s32; " WW_LAYOUTS WW_16, {63, 72}, WW_WMMA("mma"), bind_multiply},
    {"wmma.mma.sync.aligned.alayout.blayout.shape.dtype.atype.btype.ctype d, a, b, c",
     ".dtype = .f32; .atype = .bf16; .btype = .bf16; .ctype = .f32; " WW_LAYOUTS WW_16, {70, 80}, WW_WMMA("mma"), bind_multiply},
    {"wmma.mma.sync.aligned.alayout.blayout.shape.dtype.atype.btype.ctype d, a, b, c",
     ".dtype = .f32; .atype = .tf32; .btype = .tf32; .ctype = .f32; .shape = .m16n16k8; " WW_LAYOUTS, {70, 80}, WW_WMMA("mma"), bind_multiply},
    {"wmma.mma.sync.aligned.alayout.blayout.shape{.rnd}.dtype.atype.btype.ctype d, a, b, c",
     ".rnd = .rn .rz .rm .rp; .dtype = .f64; .atype = .f64; .btype = .f64; .ctype = .f64; .shape = .m8n8k4; " WW_LAYOUTS, {70, 80}, WW_WMMA("mma"), bind_multiply},
    {"wmma.mma.sync.aligned.row.col.shape.dtype.atype.btype.ctype{.satfinite} d, a, b, c",
     ".dtype = .s32; .atype = .s4 .u4; .btype = .s4 .u4; .ctype = .s32; .shape = .m8n8k32", {63, 75}, WW_WMMA("mma"), bind_multiply},
    {"wmma.mma.op.popc.sync.aligned.row.col.shape.dtype.atype.btype.ctype d, a, b, c",
     ".op = .xor .and; .dtype = .s32; .atype = .b1; .btype = .b1; .ctype = .s32; .shape = .m8n8k128", {63, 75}, WW_WMMA("mma"), bind_multiply},
};
// clang-format on

}  // namespace

std::span<const Row> wmma_rows() { return kRows; }

}  // namespace ww::isa

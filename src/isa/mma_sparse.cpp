// SPDX-License-Identifier: Apache-2.0
// mma.sp: two of each four units of a row of A are stored, and 4 bits of metadata say which. A unit is
// an element of 2 bytes or 1, half of a tf32, or a pair of 4-bit elements. Each row of A picks its
// own elements of B, so each is a product of its own. Its sum is taken to be the dense instruction's, over
// the products that are stored; not yet compared with a GPU.

#include "isa/kept_plan.hpp"
#include "isa/mma_registers.hpp"
#include "isa/whole_warp.hpp"

namespace ww::isa {
namespace {

using machine::GuestTrap;
using numerics::Format;

constexpr int kRowsOfA = 16, kColumns = 8, kMostRowBytes = 64;

// aux of the instruction points to it.
struct Plan {
    numerics::Model model;
    int k = 0;               // elements of a row that are stored
    int row_bytes = 0;       // of B; A has half of it
    int unit = 1;            // bytes
    int a_registers = 0, b_registers = 0, c_registers = 0;
    int selector = 0;
    bool ordered = false;    // the two indices ascend
    bool whole = false;      // tf32: both halves of one element
    bool center_a = false, center_b = false;
    int chunks() const { return row_bytes / unit / 4; }
};

// The 4 bits of a chunk, as the figures of the manual distribute them.
uint32_t metadata(const uint32_t* e, const Plan& plan, int row, int chunk) {
    const int g = row % 8, upper = row / 8;
    int lane = 4 * g, bit = 4 * chunk;
    if (plan.chunks() == 4) {
        lane += plan.selector;
        bit += 16 * upper;
    } else if (plan.unit == 2) {
        lane += 2 * plan.selector + chunk / 4;
        bit = 4 * (chunk % 4) + 16 * upper;
    } else {
        lane += 2 * plan.selector + upper + 2 * (chunk / 8);
        bit = 4 * (chunk % 8);
    }
    return e[lane] >> bit & 15;
}

void check_indices(const Plan& plan, uint32_t bits, int row, int chunk) {
    const uint32_t first = bits & 3, second = bits >> 2;
    if (plan.whole ? bits == 4 || bits == 14 : plan.ordered ? first < second : first != second) return;
    throw GuestTrap("invalid metadata of mma.sp: indices " + std::to_string(first) + " and " + std::to_string(second) + " for chunk " +
                    std::to_string(chunk) + " of row " + std::to_string(row) +
                    (plan.whole     ? "; with tf32 they must be 0 and 1, or 2 and 3"
                     : plan.ordered ? "; they must ascend"
                                    : "; they must differ"));
}

// The elements of B that a row of A meets.
void pick(const Plan& plan, const uint32_t* e, int row, const uint8_t* b, uint8_t* picked) {
    const size_t unit = static_cast<size_t>(plan.unit);
    for (int chunk = 0; chunk < plan.chunks(); ++chunk) {
        const uint32_t bits = metadata(e, plan, row, chunk);
        check_indices(plan, bits, row, chunk);
        for (int column = 0; column < kColumns; ++column)
            for (size_t i = 0; i < 2; ++i) {
                const uint8_t* from = b + column * plan.row_bytes + (4 * static_cast<size_t>(chunk) + (bits >> 2 * i & 3)) * unit;
                std::memcpy(picked + column * plan.row_bytes / 2 + (2 * static_cast<size_t>(chunk) + i) * unit, from, unit);
            }
    }
}

// in: d, a, b, c, e, f
template <bool Half>
void run_sparse(Warp& w, const Inst& in) {
    if (!whole_warp(w, "mma")) return;
    const Plan& plan = *reinterpret_cast<const Plan*>(in.aux);
    alignas(64) uint8_t a[kRowsOfA * kMostRowBytes / 2], b[kColumns * kMostRowBytes], picked[kColumns * kMostRowBytes / 2];
    alignas(64) uint32_t c[kRowsOfA * kColumns], scratch[kLanes];
    gather_rows<uint32_t>(w, in[1], plan.a_registers, kRowsOfA, plan.row_bytes / 2, a);
    gather_rows<uint32_t>(w, in[2], plan.b_registers, kColumns, plan.row_bytes, b);
    if (plan.center_a) uncenter(a, kRowsOfA * plan.row_bytes / 2);
    if (plan.center_b) uncenter(b, kColumns * plan.row_bytes);
    if constexpr (Half)
        for (int r = 0; r < plan.c_registers; ++r) std::memcpy(c + kLanes * r, w.in<uint32_t>(in[3][r], scratch), sizeof scratch);
    else
        gather_pairs<uint32_t>(w, in[3], plan.c_registers, c);
    const uint32_t* e = w.in<uint32_t>(in[4][0], scratch);
    for (int row = 0; row < kRowsOfA; ++row) {
        pick(plan, e, row, b, picked);
        uint8_t* of_row = reinterpret_cast<uint8_t*>(c) + row * kColumns * (Half ? 2 : 4);
        numerics::mma(plan.model, {1, kColumns, plan.k}, {.a = a + row * plan.row_bytes / 2, .b = picked, .c = of_row, .d = of_row});
    }
    if constexpr (Half)
        for (int r = 0; r < plan.c_registers; ++r) w.commit<uint32_t>(in[0][r], c + kLanes * r, c + kLanes * r);
    else
        scatter_pairs<uint32_t>(w, in[0], plan.c_registers, c);
}

// ---- bind ----
// The type in a set, or the one that stands in the row's syntax.
Format type_of(const Match& match, std::string_view set) {
    if (const std::string_view chosen = match.get(set); !chosen.empty()) return numerics::format_named(chosen.substr(1));
    const bool accumulates = set == ".dtype" || set == ".ctype";
    for (const std::string_view fixed : {".s32", ".bf16", ".tf32", ".f16"})
        if (match.has(fixed) && (fixed != ".s32" || accumulates)) return accumulates && fixed != ".s32" ? Format::f32 : numerics::format_named(fixed.substr(1));
    return Format::f32;
}

// The selector names the lanes of a quad that hold metadata.
bool take_selector(const Match& match, Plan& plan, Binding& binding) {
    const int count = plan.chunks() == 4 ? 4 : plan.chunks() == 8 ? 2 : 1;
    plan.selector = static_cast<int>(match.operands[5].value);
    if (match.operands[5].immediate && match.operands[5].value < static_cast<uint64_t>(count)) return true;
    binding.error = "the sparsity selector must be an immediate from 0 to " + std::to_string(count - 1);
    return false;
}

}  // namespace

void bind_mma_sparse(const Match& match, Binding& binding) {
    const std::string_view syntax = match.row->syntax;
    const std::string_view chosen = match.get(".shape");
    const numerics::Shape shape = parse_shape(chosen.empty() ? syntax.substr(syntax.find(".m16n8k")) : chosen);
    const Format a = type_of(match, ".atype"), b = type_of(match, ".btype"), d = type_of(match, ".dtype");
    if (type_of(match, ".ctype") != d) {
        binding.error = "the types of c and d must be the same";
        return;
    }
    const Result<numerics::Model> model =
        numerics::find_model({.sm = match.target_sm, .a = a, .b = b, .accumulator = d, .saturate = match.has(".satfinite")});
    if (!model || model->scheme == numerics::Scheme::fp8_as_f16) {
        binding.error = model ? "how a GPU of this target sums sparse products of FP8 is not known" : model.error()[0].message;
        return;
    }
    const bool in_bytes = match.has(".kind::f8f6f4");
    const int bits = in_bytes ? 8 : a == Format::tf32 ? 32 : numerics::info(a).bits, c_bits = numerics::info(d).bits;
    Plan plan{.model = *model, .k = shape.k / 2, .row_bytes = shape.k * bits / 8, .unit = bits >= 16 ? 2 : 1};
    plan.a_registers = kRowsOfA * plan.row_bytes / 2 / 4 / kLanes;
    plan.b_registers = kColumns * plan.row_bytes / 4 / kLanes;
    plan.c_registers = kRowsOfA * kColumns * c_bits / 32 / kLanes;
    plan.ordered = match.get(".spvariant") == ".sp::ordered_metadata";
    plan.whole = a == Format::tf32;
    plan.center_a = in_bytes && a == Format::e2m1;
    plan.center_b = in_bytes && b == Format::e2m1;
    if (!check_vector(match, 0, plan.c_registers, 4, binding) || !check_vector(match, 1, plan.a_registers, 4, binding) ||
        !check_vector(match, 2, plan.b_registers, 4, binding) || !check_vector(match, 3, plan.c_registers, 4, binding) ||
        !check_value(match, 4, 4, binding) || !take_selector(match, plan, binding))
        return;
    binding.aux = kept_plan(match, plan, std::to_string(plan.selector));
    binding.run = c_bits == 16 ? run_sparse<true> : run_sparse<false>;
}

}  // namespace ww::isa

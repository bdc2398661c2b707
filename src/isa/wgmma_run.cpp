// SPDX-License-Identifier: Apache-2.0
// What wgmma does. The four warps of a warpgroup join one operation, the first that comes issues
// it; when all are there it may be performed: A and B from shared memory (A maybe from registers, as
// they were when the warp came), accumulators from and to the registers of all four.
#include <array>

#include "isa/async_groups.hpp"
#include "isa/kept_plan.hpp"
#include "isa/mma_fragments.hpp"
#include "isa/wgmma_matrix.hpp"
#include "isa/wgmma_ops.hpp"
#include "isa/whole_warp.hpp"
#include "numerics/tensor_core.hpp"

namespace ww::isa {
namespace {

using machine::Arg;
using machine::Unit;
using numerics::Format;

constexpr uint32_t kGroupWarps = 4;
constexpr int kRows = 64, kWarpRows = 16, kMaxColumns = 256;

// Found once at bind; aux of the instruction points to it.
struct Plan {
    numerics::Model model;
    numerics::Shape shape;
    bool a_in_registers = false, transpose_a = false, transpose_b = false;
    uint64_t sign = 0;  // the sign bits of A that a negation turns over, in 8 bytes
    bool half = false;  // accumulators are f16
};

// What the warps brought along.
struct Joined {
    std::array<Warp*, kGroupWarps> warps{};
    std::array<std::shared_ptr<machine::Frame>, kGroupWarps> frames;
    uint64_t a = 0, b = 0;  // descriptors
    bool add = false;       // scale-d
    alignas(64) std::array<uint8_t, kRows * kMmaRowBytes> rows_of_a;
};

uint32_t first_of_group(const Warp& w) { return w.key / kGroupWarps * kGroupWarps; }
uint32_t party_of(const Warp& w) { return 1u << w.key % kGroupWarps; }

uint64_t descriptor(const Warp& w, const machine::Operand& operand) {
    alignas(64) uint64_t scratch[kLanes];
    const uint64_t* lanes = w.in<uint64_t>(operand, scratch);
    for (int lane = 1; lane < kLanes; ++lane)
        if (lanes[lane] != lanes[0]) throw GuestTrap("the lanes of a warp give different matrix descriptors", lane);
    return lanes[0];
}

// ---- accumulators: registers of one warp <-> its 16 rows of a row-major matrix ----
uint32_t* row_of(machine::Frame& frame, const machine::Operand& operand) {
    return reinterpret_cast<uint32_t*>(frame.registers.data() + operand.offset);
}

// f(register pair or register, first row, first column) in the order of the registers.
void gather_words(machine::Frame& frame, const Arg& d, int columns, uint32_t* matrix) {
    for (int r = 0; r < d.count; r += 2) {
        alignas(64) uint32_t core[8][8];
        interleave<uint32_t>(row_of(frame, d[r]), row_of(frame, d[r + 1]), core[0]);
        uint32_t* to = matrix + (r / 2 % 2 * 8) * columns + r / 4 * 8;
        for (int row = 0; row < 8; ++row) std::memcpy(to + row * columns, core[row], sizeof core[row]);
    }
}
void scatter_words(machine::Frame& frame, const Arg& d, int columns, const uint32_t* matrix) {
    for (int r = 0; r < d.count; r += 2) {
        alignas(64) uint32_t core[8][8];
        const uint32_t* from = matrix + (r / 2 % 2 * 8) * columns + r / 4 * 8;
        for (int row = 0; row < 8; ++row) std::memcpy(core[row], from + row * columns, sizeof core[row]);
        separate<uint32_t>(core[0], row_of(frame, d[r]), row_of(frame, d[r + 1]));
    }
}
// f16: a register of 32 lanes is 8 rows of 8 columns.
void gather_halves(machine::Frame& frame, const Arg& d, int columns, uint16_t* matrix) {
    for (int r = 0; r < d.count; ++r)
        for (int row = 0; row < 8; ++row)
            std::memcpy(matrix + (r % 2 * 8 + row) * columns + r / 2 * 8, row_of(frame, d[r]) + 4 * row, 16);
}
void scatter_halves(machine::Frame& frame, const Arg& d, int columns, const uint16_t* matrix) {
    for (int r = 0; r < d.count; ++r)
        for (int row = 0; row < 8; ++row)
            std::memcpy(row_of(frame, d[r]) + 4 * row, matrix + (r % 2 * 8 + row) * columns + r / 2 * 8, 16);
}

void perform(const Inst& in, uint64_t number, Joined& joined) {
    const Plan& plan = *reinterpret_cast<const Plan*>(in.aux);
    const AsyncAccess by{*joined.warps[0], in, Agent::mma, number, 0};
    alignas(64) static thread_local uint8_t b[kMaxColumns * kMmaRowBytes];
    alignas(64) static thread_local uint32_t d[kRows * kMaxColumns];
    uint8_t* a = joined.rows_of_a.data();
    const int columns = plan.shape.n;
    if (!plan.a_in_registers) gather_matrix(by, joined.a, kRows, plan.transpose_a, a);
    gather_matrix(by, joined.b, columns, plan.transpose_b, b);
    if (plan.sign)
        for (size_t i = 0; i < joined.rows_of_a.size(); i += sizeof plan.sign) {
            uint64_t word;
            std::memcpy(&word, a + i, sizeof word);
            word ^= plan.sign;
            std::memcpy(a + i, &word, sizeof word);
        }
    const auto each_warp = [&](auto&& halves, auto&& words) {
        for (size_t i = 0; i < kGroupWarps; ++i) {
            const size_t first = i * kWarpRows * static_cast<size_t>(columns);
            if (plan.half) halves(*joined.frames[i], in[0], columns, reinterpret_cast<uint16_t*>(d) + first);
            else words(*joined.frames[i], in[0], columns, d + first);
        }
    };
    if (joined.add) each_warp(gather_halves, gather_words);
    numerics::mma(plan.model, plan.shape, {.a = a, .b = b, .c = joined.add ? d : nullptr, .d = d});
    each_warp(scatter_halves, scatter_words);
}

// ---- joining ----
AsyncOperation begin(const Inst& in, const Warp& w) {
    AsyncOperation operation{.unit = Unit::mma,
                             .inst = &in,
                             .warp = first_of_group(w),
                             .parties = (1u << kGroupWarps) - 1,
                             .missing = (1u << kGroupWarps) - 1};
    const auto joined = std::make_shared<Joined>();
    operation.payload = joined;
    operation.write = [&in, joined](AsyncOperation& self, uint32_t) { perform(in, self.number, *joined); };
    return operation;
}

// in: d, a, b-desc, p, ...
void run_wgmma(Warp& w, const Inst& in) {
    if (!whole_warp(w, "wgmma")) return;
    const Plan& plan = *reinterpret_cast<const Plan*>(in.aux);
    machine::AsyncUnits& async = w.block->cluster.async;
    if (w.id / kGroupWarps * kGroupWarps + kGroupWarps > w.block->warps.size())
        throw GuestTrap("wgmma needs a warpgroup of four warps; the last " +
                        std::to_string(w.block->warps.size() % kGroupWarps) + " of this block are none");
    const LaneMask scale_d = w.predicate(in[3][0]);
    if (scale_d != 0 && scale_d != kAllLanes) throw GuestTrap("the lanes of a warp give different values of scale-d");
    const uint32_t party = w.key % kGroupWarps;
    AsyncOperation* operation = async.joinable(first_of_group(w), party);
    if (!operation) operation = async.issue(begin(in, w), w);
    if (operation->inst != &in)
        throw GuestTrap("the warps of a warpgroup execute different wgmma instructions: another warp went on to the next one"
                        " in its program, this warp is here");
    Joined& joined = *static_cast<Joined*>(operation->payload.get());
    const uint64_t a = plan.a_in_registers ? 0 : descriptor(w, in[1][0]), b = descriptor(w, in[2][0]);
    const bool first = operation->missing == (1u << kGroupWarps) - 1;
    if (!first && (a != joined.a || b != joined.b || (scale_d != 0) != joined.add))
        throw GuestTrap("the warps of a warpgroup give different matrix descriptors or values of scale-d");
    joined.a = a;
    joined.b = b;
    joined.add = scale_d != 0;
    joined.warps[party] = &w;
    joined.frames[party] = w.frame;
    alignas(64) uint32_t scratch[kLanes];
    for (int r = 0; plan.a_in_registers && r < 4; ++r)
        place_rows<uint32_t>(w.in<uint32_t>(in[1][r], scratch), r, kWarpRows, kMmaRowBytes,
                             joined.rows_of_a.data() + party * kWarpRows * kMmaRowBytes);
    operation->missing &= ~(1u << party);
    if (w.grid->sink) w.grid->sink->joined(w, *operation);
    async.joined(*operation);
}

void run_fence(Warp& w, const Inst&) { whole_warp(w, "wgmma"); }

void run_commit(Warp& w, const Inst&) {
    if (whole_warp(w, "wgmma")) commit_group(w, {.unit = Unit::mma, .warp = first_of_group(w), .parties = party_of(w)});
}

// aux: groups that may stay in flight
void run_wait(Warp& w, const Inst& in) {
    if (!whole_warp(w, "wgmma")) return;
    wait_for_groups(w, {.unit = Unit::mma,
                        .warp = first_of_group(w),
                        .parties = party_of(w),
                        .keep = static_cast<uint32_t>(in.aux)});
}

// ---- binds ----
// What of the operands the plan depends on.
std::string written(const Plan& plan) {
    std::string out;
    for (const bool flag : {plan.a_in_registers, plan.transpose_a, plan.transpose_b, plan.sign != 0}) out += flag ? '1' : '0';
    return out;
}

// "m64n128k16"
numerics::Shape parse_shape(std::string_view text) {
    const auto number_after = [&](char letter) { return std::stoi(std::string(text.substr(text.find(letter) + 1))); };
    return {number_after('m'), number_after('n'), number_after('k')};
}

// The immediates after p: -1 or 1 for each matrix, then 0 or 1 for those that may be transposed.
bool take_immediates(const Match& match, bool is_float, int element_bytes, Plan& plan, Binding& binding) {
    const size_t count = match.operands.size();
    const auto value = [&](size_t at) { return static_cast<int32_t>(match.operands[at].value); };
    for (size_t at = 4; at < count; ++at) {
        const bool scale = at < 6;
        const bool fits = match.operands[at].immediate && (value(at) == 1 || value(at) == (scale ? -1 : 0));
        if (fits) continue;
        binding.error = scale ? "imm-scale-a and imm-scale-b must be the immediates 1 or -1"
                              : "imm-trans-a and imm-trans-b must be the immediates 0 or 1";
        return false;
    }
    if (is_float && value(4) != value(5))
        plan.sign = element_bytes == 1 ? 0x8080808080808080u : element_bytes == 2 ? 0x8000800080008000u : 0x8000000080000000u;
    if (count == 8) plan.transpose_a = value(6) == 1;
    if (count > 6) plan.transpose_b = value(count - 1) == 1;
    return true;
}

Format format_of(const Match& match, std::string_view set, std::string_view otherwise) {
    const std::string_view name = match.get(set);
    return numerics::format_named((name.empty() ? otherwise : name).substr(1));
}

}  // namespace

void bind_wgmma(const Match& match, Binding& binding) {
    // Types that a row does not choose stand in its syntax.
    std::string_view fixed;
    for (const std::string_view type : {".f16", ".bf16", ".tf32", ".b1"})
        if (match.has(type)) fixed = type;
    const Format a = format_of(match, ".atype", fixed), b = format_of(match, ".btype", fixed);
    const bool integer = match.has(".s32");
    const Format d = integer ? Format::s32 : format_of(match, ".dtype", ".f32");
    const Result<numerics::Model> model = numerics::find_model({.sm = match.target_sm,
                                                               .unit = numerics::Unit::wgmma,
                                                               .a = a,
                                                               .b = b,
                                                               .accumulator = d,
                                                               .saturate = match.has(".satfinite"),
                                                               .binary_and = a == Format::b1});
    if (!model) {
        binding.error = model.error()[0].message;
        return;
    }
    Plan plan{.model = *model, .shape = parse_shape(match.get(".shape")), .half = d == Format::f16};
    const int words = plan.shape.n / (plan.half ? 4 : 2);
    plan.a_in_registers = match.operands[1].count == 4;
    // They are read and written where they are, behind the back of w.in() and w.out().
    const OperandInfo& accumulators = match.operands[0];
    if (accumulators.count != words || accumulators.width != 4 || !accumulators.exact) {
        binding.malformed = true;
        binding.error = "the accumulators must be " + std::to_string(words) + " registers of 32 bits";
        return;
    }
    if (!check_vector(match, 1, plan.a_in_registers ? 4 : 1, plan.a_in_registers ? 4 : 8, binding) ||
        !check_value(match, 2, 8, binding) || !check_predicate(match, 3, binding))
        return;
    if (!take_immediates(match, !integer, numerics::info(a).bits / 8, plan, binding)) return;
    binding.aux = kept_plan(match, plan, written(plan));
    binding.holds_first = true;
    binding.run = run_wgmma;
}

void bind_wgmma_fence(const Match&, Binding& binding) { binding.run = run_fence; }
void bind_wgmma_commit(const Match&, Binding& binding) { binding.run = run_commit; }
void bind_wgmma_wait(const Match& match, Binding& binding) {
    if (!take_group_count(match, binding)) return;
    binding.lands = binding.aux == 0;
    binding.run = run_wait;
}

}  // namespace ww::isa

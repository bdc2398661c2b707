// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Control Flow Instructions". Targets, tables and call sites are resolved by decode:
// Inst::target is a pc, an index of Program::branch_tables, or an index of Program::calls.
#include <fmt/format.h>

#include "isa/isa.hpp"
#include "isa/lane.hpp"
#include "machine/block.hpp"
#include "machine/program.hpp"

namespace ww::isa {
namespace {

using machine::CallSite;
using machine::Frame;
using machine::GuestTrap;
using machine::Program;
using machine::ProgramFunction;
using machine::ValueSlot;

void run_branch(Warp& w, const Inst& in) { w.branch(w.active, in.target); }

void run_branch_table(Warp& w, const Inst& in) {
    const std::vector<uint32_t>& table = w.grid->program->branch_tables[in.target];
    uint32_t scratch[kLanes], target[kLanes];
    const uint32_t* index = w.in<uint32_t>(in[0][0], scratch);
    for (int lane = 0; lane < kLanes; ++lane) {
        if (!(w.active >> lane & 1)) continue;
        if (index[lane] >= table.size())
            throw GuestTrap(fmt::format("brx.idx index {} is outside its table of {}", index[lane], table.size()), lane);
        target[lane] = table[index[lane]];
    }
    w.branch_each(target);
}

void run_exit(Warp& w, const Inst&) { w.exit_lanes(w.active); }

// Lanes that do not take part in a call or return stay behind at `where`.
void leave_behind(Warp& w, uint32_t where) {
    const LaneMask rest = w.mask & ~w.active;
    if (rest) w.parked.push_back(machine::Split{.pc = where, .mask = rest, .frame = w.frame, .wait = {}});
    w.mask = w.active;
}

uint8_t* local_at(Warp& w, uint32_t frame_base, uint32_t offset, uint32_t bytes, machine::Access kind, int lane) {
    return w.access_lane(machine::Space::local, uint64_t{frame_base} + offset, bytes, kind, lane);
}

// Values of one slot for every active lane, `bytes` each, into values.
void load_slot(Warp& w, const ValueSlot& slot, uint32_t frame_base, std::vector<uint8_t>& values) {
    values.resize(size_t{slot.bytes} * kLanes);
    if (slot.in_register) {
        switch (slot.bytes) {
            case 1: std::memcpy(values.data(), w.in<uint8_t>(slot.operand, values.data()), kLanes); return;
            case 2: {
                uint16_t scratch[kLanes];
                std::memcpy(values.data(), w.in<uint16_t>(slot.operand, scratch), sizeof scratch);
                return;
            }
            case 4: {
                uint32_t scratch[kLanes];
                std::memcpy(values.data(), w.in<uint32_t>(slot.operand, scratch), sizeof scratch);
                return;
            }
            default: {
                uint64_t scratch[kLanes];
                std::memcpy(values.data(), w.in<uint64_t>(slot.operand, scratch), sizeof scratch);
                return;
            }
        }
    }
    for (int lane = 0; lane < kLanes; ++lane) {
        if (!(w.active >> lane & 1)) continue;
        // Parameters may have unwritten parts (padding, unused members): no validity check here.
        const uint8_t* from = local_at(w, frame_base, slot.offset, slot.bytes, machine::Access::write, lane);
        std::memcpy(values.data() + static_cast<size_t>(lane) * slot.bytes, from, slot.bytes);
    }
}

void store_slot(Warp& w, const ValueSlot& slot, uint32_t frame_base, const std::vector<uint8_t>& values) {
    if (slot.in_register) {
        w.write_slow(slot.operand, values.data(), static_cast<int>(slot.bytes), false);
        return;
    }
    for (int lane = 0; lane < kLanes; ++lane) {
        if (!(w.active >> lane & 1)) continue;
        uint8_t* to = local_at(w, frame_base, slot.offset, slot.bytes, machine::Access::write, lane);
        std::memcpy(to, values.data() + static_cast<size_t>(lane) * slot.bytes, slot.bytes);
    }
}

void enter(Warp& w, const Inst& in, const CallSite& site, uint32_t function) {
    const Program& program = *w.grid->program;
    const ProgramFunction& callee = program.functions[function];
    if (callee.builtin) return callee.builtin(w, site);
    if (!callee.has_body) throw GuestTrap(fmt::format("call of {}, which is declared but not defined", callee.name));
    if (site.arguments.size() != callee.parameters.size())
        throw GuestTrap(fmt::format("call of {} with {} arguments; it has {} parameters", callee.name,
                                    site.arguments.size(), callee.parameters.size()));
    const ProgramFunction& caller = program.functions[w.frame->function];
    auto frame = std::make_shared<Frame>();
    frame->function = function;
    frame->return_pc = w.pc + 1;
    frame->call_inst = in.index;
    frame->local_base = (w.frame->local_base + caller.local_bytes + 15) / 16 * 16;
    if (uint64_t{frame->local_base} + callee.local_bytes > w.local_bytes)
        throw GuestTrap(fmt::format("stack overflow: {} needs {} bytes at depth {} of {}", callee.name,
                                    callee.local_bytes, frame->local_base, w.local_bytes));
    leave_behind(w, w.pc + 1);
    std::vector<std::vector<uint8_t>> values(site.arguments.size());
    for (size_t i = 0; i < values.size(); ++i) load_slot(w, site.arguments[i], w.frame->local_base, values[i]);
    frame->registers.resize(callee.register_bytes);
    frame->caller = w.frame;
    const uint32_t base = frame->local_base;
    w.frame = std::move(frame);
    w.registers = w.frame->registers.data();
    for (int lane = 0; lane < kLanes; ++lane)
        if ((w.active >> lane & 1) && callee.local_bytes)
            std::memset(w.local_valid + w.local_bytes * static_cast<uint64_t>(lane) + base, 0, callee.local_bytes);
    for (size_t i = 0; i < values.size(); ++i) store_slot(w, callee.parameters[i], base, values[i]);
    for (const ProgramFunction::FramePointer& pointer : callee.frame_pointers) {
        uint64_t* to = reinterpret_cast<uint64_t*>(w.registers + pointer.register_offset);
        for (int lane = 0; lane < kLanes; ++lane) to[lane] = uint64_t{base} + pointer.local_offset;
    }
    w.next_pc = callee.entry_pc;
}

void run_call(Warp& w, const Inst& in) {
    const CallSite& site = w.grid->program->calls[in.target];
    if (site.function >= 0) return enter(w, in, site, static_cast<uint32_t>(site.function));
    uint64_t scratch[kLanes];
    const uint64_t* target = w.in<uint64_t>(site.target, scratch);
    const int first = __builtin_ctz(w.active);
    const uint64_t index = (target[first] - machine::kCodeWindow) / 16 - 1;
    if ((target[first] & machine::kWindowMask) != machine::kCodeWindow || index >= w.grid->program->functions.size())
        throw GuestTrap(fmt::format("indirect call to {:#x}, which is not a function", target[first]), first);
    LaneMask same = 0;
    for (int lane = 0; lane < kLanes; ++lane)
        if ((w.active >> lane & 1) && target[lane] == target[first]) same |= LaneMask{1} << lane;
    // Lanes with another target make their own call from here; guarded-off lanes go on.
    const LaneMask others = w.active & ~same;
    if (others) {
        w.parked.push_back(machine::Split{.pc = w.pc, .mask = others, .frame = w.frame, .wait = {}});
        w.mask &= ~others;
        w.active = same;
    }
    enter(w, in, site, static_cast<uint32_t>(index));
}

void run_return(Warp& w, const Inst&) {
    if (!w.frame->caller) return w.exit_lanes(w.active);
    const Program& program = *w.grid->program;
    const CallSite& site = program.calls[program.code[w.frame->call_inst].target];
    const ProgramFunction& callee = program.functions[w.frame->function];
    leave_behind(w, w.pc + 1);
    std::vector<std::vector<uint8_t>> values(std::min(site.results.size(), callee.results.size()));
    for (size_t i = 0; i < values.size(); ++i) load_slot(w, callee.results[i], w.frame->local_base, values[i]);
    w.next_pc = w.frame->return_pc;
    w.frame = std::shared_ptr<Frame>(w.frame->caller);
    w.registers = w.frame->registers.data();
    for (size_t i = 0; i < values.size(); ++i) store_slot(w, site.results[i], w.frame->local_base, values[i]);
}

template <machine::Run R, bool EndsThread = false>
void bind_fixed(const Match&, Binding& binding) {
    binding.run = R;
    binding.ends_thread = EndsThread;
}

constexpr Row kRows[] = {
    {"bra{.uni} label", "", {10}, "control-flow-instructions-bra", bind_fixed<run_branch>},
    {"brx.idx{.uni} a, table", "", {60, 30}, "control-flow-instructions-brx-idx", bind_fixed<run_branch_table>},
    {"call{.uni} {(ret), }fn{, (params)}{, table}", "", {10}, "control-flow-instructions-call", bind_fixed<run_call>},
    {"ret{.uni}", "", {10}, "control-flow-instructions-ret", bind_fixed<run_return, true>},
    {"exit", "", {10}, "control-flow-instructions-exit", bind_fixed<run_exit, true>},
};

}  // namespace

std::span<const Row> control_rows() { return kRows; }

}  // namespace ww::isa

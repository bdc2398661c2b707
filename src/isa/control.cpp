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
    if (rest) w.park(rest, where);
    w.mask = w.active;
}

// One argument or result for all lanes. Bytes that nobody wrote (padding, unused members) stay
// unwritten on the other side.
struct Passed {
    explicit Passed(uint32_t size) : bytes(size), data(size_t{size} * kLanes), valid(size_t{size} * kLanes, 1) {}
    uint32_t bytes;
    std::vector<uint8_t> data, valid;  // bytes for lane 0, then lane 1, ...
};

template <class T>
void load_register(const Warp& w, const machine::Operand& operand, Passed& out) {
    T scratch[kLanes];
    const T* from = w.in<T>(operand, scratch);
    std::memcpy(out.data.data(), from, sizeof scratch);
}

// F is called with the place of each active lane's bytes in local memory, and its bytes in passed.
template <class F>
void each_lane(Warp& w, uint32_t at, uint32_t bytes, F&& f) {
    for (uint64_t lane = 0; lane < kLanes; ++lane)
        if (w.active >> lane & 1) f(w.local_bytes * lane + at, lane * bytes);
}

Passed load_slot(Warp& w, const ValueSlot& slot, uint32_t frame_base, uint32_t bytes) {
    Passed out(bytes);
    if (!slot.in_register) {
        each_lane(w, frame_base + slot.offset, bytes, [&](uint64_t from, uint64_t to) {
            std::memcpy(&out.data[to], w.local_data + from, bytes);
            std::memcpy(&out.valid[to], w.local_valid + from, bytes);
        });
        return out;
    }
    switch (bytes) {
        case 1: load_register<uint8_t>(w, slot.operand, out); break;
        case 2: load_register<uint16_t>(w, slot.operand, out); break;
        case 4: load_register<uint32_t>(w, slot.operand, out); break;
        case 8: load_register<uint64_t>(w, slot.operand, out); break;
        case 16: load_register<unsigned __int128>(w, slot.operand, out); break;
        default: throw GuestTrap(fmt::format("a register is passed where {} bytes are expected", bytes));
    }
    return out;
}

void store_slot(Warp& w, const ValueSlot& slot, uint32_t frame_base, const Passed& passed) {
    if (slot.in_register) {
        w.write_slow(slot.operand, passed.data.data(), static_cast<int>(passed.bytes), false);
        return;
    }
    each_lane(w, frame_base + slot.offset, passed.bytes, [&](uint64_t to, uint64_t from) {
        std::memcpy(w.local_data + to, &passed.data[from], passed.bytes);
        std::memcpy(w.local_valid + to, &passed.valid[from], passed.bytes);
    });
}

// The call site's list against the callee's: an indirect call, or a declaration in another place
// than the definition, may disagree.
void check_values(const std::vector<ValueSlot>& site, const std::vector<ValueSlot>& callee, const char* what,
                  const std::string& name) {
    if (site.size() != callee.size())
        throw GuestTrap(fmt::format("call of {} with {} {}s; it has {}", name, site.size(), what, callee.size()));
    for (size_t i = 0; i < site.size(); ++i)
        if (!site[i].in_register && site[i].bytes != callee[i].bytes)
            throw GuestTrap(fmt::format("call of {}: {} {} has {} bytes, the function's has {}", name, what, i,
                                        site[i].bytes, callee[i].bytes));
}

void enter(Warp& w, const Inst& in, const CallSite& site, uint32_t function) {
    const Program& program = *w.grid->program;
    const ProgramFunction& callee = program.functions[function];
    if (callee.builtin) return callee.builtin(w, site);
    if (!callee.has_body) throw GuestTrap(fmt::format("call of {}, which is declared but not defined", callee.name));
    check_values(site.arguments, callee.parameters, "argument", callee.name);
    if (!site.results.empty()) check_values(site.results, callee.results, "result", callee.name);
    const ProgramFunction& caller = program.functions[w.frame->function];
    auto frame = std::make_shared<Frame>();
    frame->function = function;
    frame->return_pc = w.pc + 1;
    frame->call_inst = in.index;
    frame->depth = w.frame->depth + 1;
    frame->local_base = (w.frame->local_base + caller.local_bytes + 15) / 16 * 16;
    if (uint64_t{frame->local_base} + callee.local_bytes > w.local_bytes)
        throw GuestTrap(fmt::format("stack overflow: {} needs {} bytes at depth {} of {}", callee.name,
                                    callee.local_bytes, frame->local_base, w.local_bytes));
    leave_behind(w, w.pc + 1);
    std::vector<Passed> values;
    for (size_t i = 0; i < site.arguments.size(); ++i)
        values.push_back(load_slot(w, site.arguments[i], w.frame->local_base, callee.parameters[i].bytes));
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
    const std::map<uint64_t, uint32_t>& functions = w.grid->program->function_at;
    const auto function = functions.find(target[first]);
    if (function == functions.end())
        throw GuestTrap(fmt::format("indirect call to {:#x}, which is not a function of this module", target[first]), first);
    LaneMask same = 0;
    for (int lane = 0; lane < kLanes; ++lane)
        if ((w.active >> lane & 1) && target[lane] == target[first]) same |= LaneMask{1} << lane;
    // Lanes with another target make their own call from here; guarded-off lanes go on.
    const LaneMask others = w.active & ~same;
    if (others) {
        w.park(others, w.pc);
        w.mask &= ~others;
        w.active = same;
    }
    enter(w, in, site, function->second);
}

void run_return(Warp& w, const Inst&) {
    if (!w.frame->caller) return w.exit_lanes(w.active);
    const Program& program = *w.grid->program;
    const CallSite& site = program.calls[program.code[w.frame->call_inst].target];
    const ProgramFunction& callee = program.functions[w.frame->function];
    leave_behind(w, w.pc + 1);
    std::vector<Passed> values;
    for (size_t i = 0; i < site.results.size(); ++i)
        values.push_back(load_slot(w, callee.results[i], w.frame->local_base, callee.results[i].bytes));
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

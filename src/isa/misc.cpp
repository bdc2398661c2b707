// SPDX-License-Identifier: Apache-2.0
// PTX manual, "Miscellaneous Instructions" and what stands alone: nanosleep, trap, brkpt, pmevent,
// griddepcontrol, setmaxnreg.
#include "isa/isa.hpp"
#include "isa/lane.hpp"

namespace ww::isa {
namespace {

using machine::GuestTrap;

void run_nothing(Warp&, const Inst&) {}
// Time does not pass here, and the scheduler lets others run in any loop: sleeping needs nothing.
void bind_nanosleep(const Match& match, Binding& binding) {
    if (check_value(match, 0, 4, binding)) binding.run = run_nothing;
}
// Launches run one after the other, and complete: what is waited for has happened.
void bind_nothing(const Match&, Binding& binding) { binding.run = run_nothing; }

void run_trap(Warp& w, const Inst&) {
    if (w.active) throw GuestTrap("the program executed trap", __builtin_ctz(w.active));
}
void bind_trap(const Match&, Binding& binding) { binding.run = run_trap; }

void run_brkpt(Warp& w, const Inst&) {
    if (w.active)
        throw GuestTrap("the program executed brkpt, and there is no debugger",
                        __builtin_ctz(w.active));
}
void bind_brkpt(const Match&, Binding& binding) { binding.run = run_brkpt; }

// Registers are not a shared resource here; what ptxas refuses is refused.
void run_setmaxnreg(Warp& w, const Inst&) { w.converged(); }
void bind_setmaxnreg(const Match& match, Binding& binding) {
    const auto& count = match.operands[0];
    if (!count.immediate || count.value < 24 || count.value > 256 || count.value % 8 != 0)
        binding.error = "the register count must be an immediate from 24 to 256, a multiple of 8";
    else
        binding.run = run_setmaxnreg;
}

// clang-format off
constexpr Row kRows[] = {
    {"nanosleep.u32 t", "", {63, 70}, "miscellaneous-instructions-nanosleep", bind_nanosleep},
    {"trap", "", {10}, "miscellaneous-instructions-trap", bind_trap},
    {"brkpt", "", {10}, "miscellaneous-instructions-brkpt", bind_brkpt},
    {"pmevent a", "", {14}, "miscellaneous-instructions-pmevent", bind_nothing},
    {"pmevent.mask a", "", {30, 20}, "miscellaneous-instructions-pmevent", bind_nothing},
    {"setmaxnreg.action.sync.aligned.u32 imm-reg-count", ".action = .inc .dec", {80, 90, 'a'}, "miscellaneous-instructions-setmaxnreg",
     bind_setmaxnreg},
    {"griddepcontrol.action", ".action = .launch_dependents .wait", {78, 90},
     "parallel-synchronization-and-communication-instructions-griddepcontrol", bind_nothing},
};
// clang-format on

}  // namespace

std::span<const Row> misc_rows() { return kRows; }

}  // namespace ww::isa

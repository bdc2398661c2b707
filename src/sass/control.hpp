// SPDX-License-Identifier: Apache-2.0
// The control code in an instruction's encoding: how long the scheduler waits behind it, and which
// of the warp's six scoreboard barriers it sets and waits for. The same place since Volta.
#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace ww::sass {

struct Control {
    int stall = 0;           // cycles before the warp's next instruction may issue, 0 to 15
    bool yield = false;      // the scheduler is asked to turn to another warp
    int write_barrier = -1;  // 0 to 5: set until the results are written; -1: none
    int read_barrier = -1;   // set until the operands are read
    uint8_t wait = 0;        // a bit for each barrier that must be clear before it issues
    uint8_t reuse = 0;       // a bit for each operand slot that the register cache keeps
};

Control control_of(const std::array<uint64_t, 2>& words);
// "B--2---:R1:W-:Y:S04": waits, read barrier, write barrier, yield, stall.
std::string text(const Control& control);

// Cycles before the warp's next instruction may issue: the stall count, at least 1. Summed over a
// piece of code they are its schedule; waits for barriers come on top.
int scheduled_cycles(const Control& control);

}  // namespace ww::sass

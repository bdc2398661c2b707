// SPDX-License-Identifier: Apache-2.0
// Where an instruction comes from: its source lines through inlined calls, and the instructions
// that define the registers it reads. By the text and its branches: nothing runs.
#pragma once
#include <string>
#include <vector>

#include "ptx/module.hpp"

namespace ww::ptx {

struct SourceLine {
    std::string file;
    int line = 0;
};

// The line of a .loc, then the lines of the calls through which it was inlined, outwards. Empty
// for loc < 0.
std::vector<SourceLine> source_lines(const Module& module, int loc);
// The last definitions of the registers that instruction (one of function's) reads, guards too: on
// every path to it, the one that comes last. In text order.
std::vector<const Instruction*> operand_definitions(const Function& function,
                                                    const Instruction& instruction);
// The registers that it writes, as named.
std::vector<std::string> defined_registers(const Instruction& instruction);

}  // namespace ww::ptx

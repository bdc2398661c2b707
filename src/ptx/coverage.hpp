// SPDX-License-Identifier: Apache-2.0
// Which instructions of a module the emulator could not run: what `warpwright isa FILE` reports.
#pragma once
#include <string>
#include <vector>

#include "ptx/module.hpp"

namespace ww::ptx {

struct Unsupported {
    std::string text;  // the opcode as written
    int line = 0;      // of the first one
    size_t count = 0;
    std::string why;  // of the first one
};

struct Coverage {
    size_t instructions = 0;               // all, in functions with a body
    size_t distinct = 0;                   // different opcodes
    std::vector<Unsupported> unsupported;  // in the order of the lines
};

// An instruction is unsupported when no row fits it, or its row has no semantics.
Coverage coverage(const Module& module);

}  // namespace ww::ptx

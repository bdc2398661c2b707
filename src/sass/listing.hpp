// SPDX-License-Identifier: Apache-2.0
// nvdisasm's text (-c -hex -gi -gp) as functions, instructions and labels. Reads what is written;
// what instructions mean is not here (opcode.hpp), nor who follows whom (graph.hpp).
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ww::sass {

struct SourceLine {
    int file = 0;  // index into Listing::files
    int line = 0;
    auto operator<=>(const SourceLine&) const = default;
};
// Where an instruction comes from: its line, then the lines it was inlined at, outwards.
using SourceChain = std::vector<SourceLine>;

struct Instruction {
    uint32_t offset = 0;         // bytes from the start of the section
    int line = 0;                // of the listing
    std::string_view guard;      // "@!P0", "@UP1"; empty: always executed
    std::string_view opcode;     // with its modifiers, "LDG.E.128"
    std::string_view operands;   // "R16, desc[UR6][R2.64]"
    std::string_view jumps;      // the names behind BRANCH_TARGETS of an indirect branch
    std::array<uint64_t, 2> words{};  // the encoding, low word first; 0 where it was not printed
    int chain = -1;              // index into Function::chains; -1: no line known
    int ptx_line = 0;            // in the PTX that the cubin carries; 0: unknown
    int target = -1;             // index of the instruction that a direct branch or call names
};

struct Label {
    std::string_view name;
    int instruction = 0;       // index of the one behind it; the number of instructions at the end
    bool is_function = false;  // a function or subroutine of its own starts here
};

// A code section: a kernel with its subroutines, or a device function.
struct Function {
    std::string name;
    std::vector<Instruction> instructions;
    std::vector<Label> labels;  // in order
    std::vector<SourceChain> chains;
    bool has_encoding = false;
};

struct Listing {
    std::shared_ptr<const std::string> text;  // every string_view points into it
    std::string target;                       // "sm_90a"
    std::vector<std::string> files;
    std::vector<Function> functions;

    const Function* find(std::string_view name) const;
};

// name: what messages call the text. Anything that is no listing of 128-bit instructions (sm_70
// and later) fails with its line.
Result<Listing> read_listing(std::string text, const std::string& name);

// The options with which nvdisasm prints all that read_listing takes.
std::vector<std::string> listing_options();

// "R16", "desc[UR6][R2.64+0x8]": the operands between commas outside of brackets.
std::vector<std::string_view> operands_of(const Instruction& instruction);

}  // namespace ww::sass

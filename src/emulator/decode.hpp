// SPDX-License-Identifier: Apache-2.0
// PTX module -> runnable program: symbols resolved, operands placed, rows bound, registers
// allocated, order of reconvergence computed.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "machine/program.hpp"
#include "ptx/definitions.hpp"
#include "ptx/module.hpp"

namespace ww::emulator {

// Where the variables and functions of module scope live: global addresses, offsets in the constant
// bank, code addresses.
struct ModuleMemory {
    std::map<std::string, uint64_t, std::less<>> global, constant, code;
};

// A parameter of a kernel: bytes from the start of the parameter buffer.
struct KernelParam {
    std::string name;
    uint32_t offset = 0, size = 0, align = 1;
};
std::vector<KernelParam> kernel_params(const ptx::Function& kernel);

// A .shared variable: its bytes from the start of a block's shared memory on. bytes 0: dynamic.
struct SharedVariable {
    std::string name;
    uint64_t offset = 0, bytes = 0, element_bytes = 1;
};

struct Kernel {
    std::shared_ptr<const ptx::Module> module;
    machine::Program program;
    std::vector<KernelParam> params;
    uint32_t param_bytes = 0;
    std::vector<SharedVariable> shared;
    uint32_t stack_bytes = 0;   // local memory a thread needs; without recursion exact
    bool recursive = false;     // recursion or indirect calls: stack_bytes is only the deepest frame
    std::vector<std::pair<uint32_t, int>> call_edges;  // caller, callee (-1: indirect)
    std::vector<uint32_t> max_threads;      // .maxntid / .reqntid, empty when absent
    bool exact_threads = false;             // .reqntid
    std::vector<uint32_t> cluster;          // .reqnctapercluster, empty when absent
    std::vector<const ptx::Instruction*> source;  // per instruction of the program
    std::vector<uint32_t> function_of;            // per instruction: index in program.functions
};

// Fails with diagnostics for what PTX forbids (undefined names, wrong operand kinds). What is
// merely not implemented becomes an instruction that traps when it is reached.
Result<std::unique_ptr<Kernel>> decode(std::shared_ptr<const ptx::Module> module, const std::string& kernel,
                                       const ModuleMemory& memory);

// The address of instruction i for people: "file.ptx:12", and the .cu line when .loc gives one.
struct SourcePlace {
    std::string text;  // the instruction
    int ptx_line = 0, ptx_col = 0;
    std::string file;  // from .loc
    int line = 0;
    std::vector<ptx::SourceLine> call_sites;  // where that line was inlined, innermost first
};
SourcePlace source_place(const Kernel& kernel, uint32_t inst);
// The instructions that define the registers which instruction i reads.
std::vector<SourcePlace> operand_places(const Kernel& kernel, uint32_t inst);

}  // namespace ww::emulator

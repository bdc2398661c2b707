// SPDX-License-Identifier: Apache-2.0
// A kernel ready to run: decoded instructions and the functions it can reach. Made by
// src/emulator from a PTX module, never changed while it runs.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "machine/constants.hpp"
#include "machine/inst.hpp"

namespace ww::machine {

// Where an argument or a return value lives: bytes of a frame's local memory, or a register.
struct ValueSlot {
    bool in_register = false;
    Operand operand;       // register or immediate (caller's side)
    uint32_t offset = 0;   // from the frame's local_base
    uint32_t bytes = 0;
};

struct CallSite {
    int function = -1;      // index in Program::functions; -1: indirect, target gives an address
    Operand target;
    std::vector<ValueSlot> arguments, results;  // on the caller's side
};

using Builtin = void (*)(Warp&, const CallSite&);

struct ProgramFunction {
    std::string name;
    uint32_t entry_pc = 0;
    bool has_body = false;
    Builtin builtin = nullptr;      // vprintf and the like
    uint32_t register_bytes = 0;
    uint32_t local_bytes = 0;       // .local variables, .param variables of calls, own parameters
    std::vector<ValueSlot> parameters, results;  // on the callee's side
    // Registers (8 bytes a lane) that hold addresses of frame variables: local_base + offset,
    // set on entry, since only a call knows its local_base.
    struct FramePointer {
        uint32_t register_offset = 0, local_offset = 0;
    };
    std::vector<FramePointer> frame_pointers;
};

// Function addresses: the window, the module's serial number on its device, and the function's
// number in the module. So a pointer means the same to all kernels of the module, and nothing to others.
constexpr uint64_t kCodeWindow = uint64_t{5} << 56;
constexpr uint64_t code_address(uint32_t module, uint32_t function) {
    return kCodeWindow + (uint64_t{module} << 32) + uint64_t{function} * 16 + 16;
}

struct Program {
    std::string kernel;
    std::vector<Inst> code;
    std::vector<std::unique_ptr<Arg[]>> arg_storage;
    std::vector<std::unique_ptr<Operand[]>> operand_storage;
    ConstantPool constants;
    std::vector<ProgramFunction> functions;  // [0] is the kernel
    std::map<uint64_t, uint32_t> function_at;  // code address -> index in functions
    std::vector<CallSite> calls;             // Inst::target of a call
    std::vector<std::vector<uint32_t>> branch_tables;  // Inst::target of brx.idx: pcs
    uint32_t static_shared_bytes = 0;
    uint32_t shared_align = 16;
    bool ordered = false;  // has atomics whose result depends on the order of the blocks
    // What the scheduler says of instruction i in messages.
    std::vector<std::string> unsupported;  // Inst::target of an instruction without semantics
};

}  // namespace ww::machine

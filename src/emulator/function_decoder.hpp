// SPDX-License-Identifier: Apache-2.0
// Decodes one function of a kernel into the program. decode.cpp drives it, function by function.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "emulator/decode.hpp"
#include "emulator/order.hpp"
#include "emulator/registers.hpp"
#include "emulator/symbols.hpp"
#include "isa/row.hpp"

namespace ww::emulator {

// What all functions of one kernel share.
struct ProgramContext {
    const ptx::Module& module;
    const ModuleMemory& memory;
    Kernel& kernel;
    std::map<std::string, uint32_t, std::less<>> function_ids;     // reachable functions
    std::map<const ptx::Variable*, uint32_t> shared_offsets;       // reachable .shared variables
    std::map<std::string, const ptx::Variable*, std::less<>> module_variables;
    int target_sm = 90;
    Diagnostics& diagnostics;
};

class FunctionDecoder {
  public:
    FunctionDecoder(ProgramContext& context, const ptx::Function& function, uint32_t id);
    // Appends the function's instructions to the program and completes its ProgramFunction.
    void decode();

  private:
    struct PlacedArg {
        uint32_t first = 0;  // into operands_
        machine::Arg arg;    // elements is set when the pool is final
    };
    struct Pending {
        const ptx::Instruction* source = nullptr;
        machine::Inst inst;
        std::vector<PlacedArg> args;
        RegisterUse registers;
        FlowInst flow;
    };

    void layout_frame();
    void decode_instruction(const ptx::Instruction& instruction, uint32_t scope, Pending& out);
    void place_argument(const isa::Operand& operand, std::string_view name, bool is_destination, uint32_t scope,
                        Pending& out, isa::OperandInfo& info);
    void place_address(const isa::Operand& operand, uint32_t scope, Pending& out, isa::OperandInfo& info);
    void place_value(const isa::Operand& operand, bool kill, uint32_t scope, Pending& out, isa::OperandInfo& info);
    void place_label(const isa::Operand& operand, uint32_t scope, Pending& out, isa::OperandInfo& info);
    void place_call(const ptx::Instruction& instruction, uint32_t scope, Pending& out);
    machine::ValueSlot call_slot(const isa::Operand& operand, uint32_t scope, bool result, Pending& out);
    machine::Operand constant(uint64_t bits64, uint32_t bits32);
    machine::Operand variable_address(const ptx::Variable& variable, int64_t displacement, machine::Space& space,
                                      Pending& out);
    void finish();
    void error(isa::Place place, std::string message);
    void rewrite(machine::Operand& operand, const RegisterLayout& layout) const;

    ProgramContext& context_;
    const ptx::Function& function_;
    const uint32_t id_;
    FunctionSymbols symbols_;
    std::map<const ptx::Variable*, uint32_t> frame_offsets_;
    std::map<const ptx::Variable*, uint32_t> frame_pointers_;  // variable -> virtual register
    uint32_t frame_bytes_ = 0;
    std::vector<machine::Operand> operands_;
    std::vector<Pending> pending_;
    std::vector<uint32_t> own_calls_;  // indices of the program's call sites that belong here
    uint32_t base_ = 0;                // pc of the first instruction
};

}  // namespace ww::emulator

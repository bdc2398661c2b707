// SPDX-License-Identifier: Apache-2.0
// Decoding a function: frame layout, call sites, and the placing of registers when all
// instructions are known.
#include <fmt/format.h>

#include <algorithm>

#include "emulator/builtins.hpp"
#include "emulator/function_decoder.hpp"

namespace ww::emulator {

using isa::OperandInfo;
using machine::Bank;
using machine::Operand;
using machine::ProgramFunction;
using machine::ValueSlot;
using ptx::StateSpace;
using Kind = isa::Operand::Kind;

FunctionDecoder::FunctionDecoder(ProgramContext& context, const ptx::Function& function, uint32_t id)
    : context_(context), function_(function), id_(id), symbols_(context.module, function, context.diagnostics) {
    layout_frame();
}

void FunctionDecoder::layout_frame() {
    for (const ptx::Variable* variable : symbols_.locals) {
        const uint64_t align = std::max<uint64_t>(variable->alignment(), 1);
        const uint64_t at = (frame_bytes_ + align - 1) / align * align;
        if (at + variable->bytes() > (uint64_t{1} << 24)) {
            error(variable->place, fmt::format("the frame of '{}' is larger than 16 MiB", function_.name));
            return;
        }
        frame_offsets_[variable] = static_cast<uint32_t>(at);
        frame_bytes_ = static_cast<uint32_t>(at + variable->bytes());
    }
}

ValueSlot FunctionDecoder::call_slot(const isa::Operand& operand, uint32_t scope, bool result, Pending& out) {
    ValueSlot slot;
    const std::optional<Symbol> symbol = operand.kind == Kind::name ? symbols_.find(operand.text, scope) : std::nullopt;
    if (symbol && symbol->kind == Symbol::Kind::variable && symbol->variable->space == StateSpace::param) {
        slot.offset = frame_offsets_[symbol->variable];
        slot.bytes = static_cast<uint32_t>(symbol->variable->bytes());
        return slot;
    }
    OperandInfo info;
    place_value(operand, false, scope, out, info);  // a result register lives on where lanes skip the call
    slot.in_register = true;
    slot.operand = operands_.back();
    slot.bytes = info.immediate ? 0 : static_cast<uint32_t>(info.width);  // 0: as wide as the parameter
    if (info.kind != OperandInfo::Kind::value || (result && info.immediate))
        error(operand.place, "a call passes .param variables, registers and immediates");
    return slot;
}

void FunctionDecoder::place_call(const ptx::Instruction& instruction, uint32_t scope, Pending& out) {
    machine::Program& program = context_.kernel.program;
    const std::vector<const isa::Operand*> given = isa::flat(instruction);
    const std::vector<std::string> names = isa::operand_names(*instruction.row);
    machine::CallSite site;
    for (size_t i = 0; i < instruction.positions.size(); ++i) {
        if (instruction.positions[i] < 0) continue;
        const isa::Operand& operand = *given[static_cast<size_t>(instruction.positions[i])];
        if (names[i] == "ret" || names[i] == "params") {
            std::vector<ValueSlot>& slots = names[i] == "ret" ? site.results : site.arguments;
            for (const isa::Operand& item : operand.items) slots.push_back(call_slot(item, scope, names[i] == "ret", out));
        } else if (names[i] == "fn") {
            const auto direct = context_.function_ids.find(operand.text);
            if (direct != context_.function_ids.end()) {
                site.function = static_cast<int>(direct->second);
            } else {
                OperandInfo info;
                place_value(operand, false, scope, out, info);
                site.target = operands_.back();
            }
        }
    }
    if (site.function >= 0) {
        const ProgramFunction& callee = program.functions[static_cast<size_t>(site.function)];
        for (size_t i = 0; i < site.arguments.size() && i < callee.parameters.size(); ++i)
            if (site.arguments[i].bytes == 0) site.arguments[i].bytes = callee.parameters[i].bytes;
    }
    for (ValueSlot& slot : site.arguments)
        if (slot.bytes == 0) slot.bytes = 4;
    context_.kernel.call_edges.emplace_back(id_, site.function);
    out.inst.target = static_cast<uint32_t>(program.calls.size());
    own_calls_.push_back(out.inst.target);
    program.calls.push_back(std::move(site));
}

void FunctionDecoder::rewrite(Operand& operand, const RegisterLayout& layout) const {
    if (operand.bank == Bank::regs) operand.offset = layout.offset[operand.offset];
}

void FunctionDecoder::decode() {
    base_ = static_cast<uint32_t>(context_.kernel.program.code.size());
    pending_.resize(function_.instructions.size() + 1);
    for (size_t i = 0; i < function_.instructions.size(); ++i)
        decode_instruction(function_.instructions[i], symbols_.scope_of(i), pending_[i]);
    // Running off the end returns.
    static const ptx::Instruction kReturn = [] {
        ptx::Instruction ret;
        ret.opcode = "ret";
        isa::match(ret);
        return ret;
    }();
    decode_instruction(kReturn, 0, pending_.back());
    finish();
}

void FunctionDecoder::finish() {
    machine::Program& program = context_.kernel.program;
    std::vector<FlowInst> flow;
    std::vector<RegisterUse> registers;
    for (Pending& pending : pending_) {
        flow.push_back(std::move(pending.flow));
        registers.push_back(std::move(pending.registers));
    }
    const std::vector<FlowBlock> blocks = flow_blocks(flow);
    const std::vector<uint32_t> order = block_order(blocks);
    const RegisterLayout layout = allocate_registers(symbols_.row_bytes, symbols_.pinned, registers, blocks, order);
    std::vector<uint32_t> rank(pending_.size());
    uint32_t next_rank = base_;
    for (const uint32_t block : order)
        for (uint32_t i = blocks[block].begin; i < blocks[block].end; ++i) rank[i] = next_rank++;

    auto operands = std::make_unique<Operand[]>(operands_.size() + 1);
    std::copy(operands_.begin(), operands_.end(), operands.get());
    for (size_t i = 0; i < operands_.size(); ++i) rewrite(operands[i], layout);
    size_t arg_count = 0;
    for (const Pending& pending : pending_) arg_count += pending.args.size();
    auto args = std::make_unique<machine::Arg[]>(arg_count + 1);
    machine::Arg* next_arg = args.get();
    for (size_t i = 0; i < pending_.size(); ++i) {
        machine::Inst inst = pending_[i].inst;
        rewrite(inst.guard, layout);
        inst.index = base_ + static_cast<uint32_t>(i);
        inst.rank = rank[i];
        inst.args = next_arg;
        inst.arg_count = static_cast<uint16_t>(pending_[i].args.size());
        for (const PlacedArg& placed : pending_[i].args) {
            *next_arg = placed.arg;
            next_arg->elements = operands.get() + placed.first;
            ++next_arg;
        }
        program.code.push_back(inst);
        context_.kernel.source.push_back(i < function_.instructions.size() ? &function_.instructions[i] : nullptr);
        context_.kernel.function_of.push_back(id_);
    }
    program.operand_storage.push_back(std::move(operands));
    program.arg_storage.push_back(std::move(args));
    for (const uint32_t call : own_calls_) {
        machine::CallSite& site = program.calls[call];
        rewrite(site.target, layout);
        for (auto* slots : {&site.arguments, &site.results})
            for (ValueSlot& slot : *slots)
                if (slot.in_register) rewrite(slot.operand, layout);
    }

    ProgramFunction& function = program.functions[id_];
    function.entry_pc = base_;
    function.has_body = true;
    function.register_bytes = layout.bytes;
    function.local_bytes = frame_bytes_;
    for (const auto& [variable, pointer] : frame_pointers_)
        function.frame_pointers.push_back({layout.offset[pointer], frame_offsets_[variable]});
    const auto slots = [&](const std::vector<ptx::Variable>& variables) {
        std::vector<ValueSlot> out;
        for (const ptx::Variable& variable : variables) {
            ValueSlot slot{.bytes = static_cast<uint32_t>(variable.bytes())};
            if (variable.space == StateSpace::reg) {
                const Symbol symbol = *symbols_.find(variable.name, 0);
                slot.in_register = true;
                slot.operand = Operand{.bank = Bank::regs, .width = static_cast<uint8_t>(symbol.width), .offset = layout.offset[symbol.id]};
            } else {
                slot.offset = frame_offsets_[&variable];
            }
            out.push_back(slot);
        }
        return out;
    };
    if (id_ != 0) {
        function.parameters = slots(function_.params);
        function.results = slots(function_.returns);
    }
}

}  // namespace ww::emulator

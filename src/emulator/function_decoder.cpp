// SPDX-License-Identifier: Apache-2.0
// One instruction at a time: positions of the row's syntax -> operands, then bind. Layout of the
// frame and the final placing of registers are in function_layout.cpp.
#include "emulator/function_decoder.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "machine/block.hpp"

namespace ww::emulator {

using isa::OperandInfo;
using machine::Bank;
using machine::Operand;
using machine::Space;
using ptx::StateSpace;
using Kind = isa::Operand::Kind;

namespace {

void run_unsupported(machine::Warp& w, const machine::Inst& in) {
    throw machine::GuestTrap("unsupported: " + w.grid->program->unsupported[in.target]);
}

Space space_of_variable(StateSpace space) {
    switch (space) {
        case StateSpace::constant: return Space::constant;
        case StateSpace::local: return Space::local;
        case StateSpace::param: return Space::local;  // of a call frame; a kernel's are Space::param
        case StateSpace::shared: return Space::shared;
        default: return Space::global;
    }
}

bool names_destination(std::string_view name) {
    return !name.empty() && (name[0] == 'd' || name[0] == 'p' || name[0] == 'q' || name[0] == 'r');
}

}  // namespace

void FunctionDecoder::error(isa::Place place, std::string message) {
    if (context_.diagnostics.size() < 100)
        context_.diagnostics.push_back(at_place(context_.module, place, std::move(message)));
}

Operand FunctionDecoder::constant(uint64_t bits64, uint32_t bits32) {
    return Operand{.bank = Bank::constants, .offset = context_.kernel.program.constants.add(bits64, bits32)};
}

Operand FunctionDecoder::variable_address(const ptx::Variable& variable, int64_t displacement, Space& space,
                                          Pending& out) {
    uint64_t address = static_cast<uint64_t>(displacement);
    space = space_of_variable(variable.space);
    if (variable.space == StateSpace::shared) {
        address += context_.shared_offsets[&variable];
    } else if (const auto it = frame_offsets_.find(&variable); it != frame_offsets_.end()) {
        if (id_ == 0) {
            address += it->second;
        } else {
            const auto [pointer, fresh] = frame_pointers_.try_emplace(&variable, 0);
            if (fresh) {
                pointer->second = symbols_.add_register(8);
                symbols_.pinned[pointer->second] = true;
            }
            out.registers.uses.push_back(pointer->second);
            return Operand{.bank = Bank::regs, .width = 8, .offset = pointer->second};
        }
    } else if (variable.space == StateSpace::param) {
        space = Space::param;
        for (const KernelParam& param : context_.kernel.params)
            if (param.name == variable.name) address += param.offset;
    } else if (const auto global = context_.memory.global.find(variable.name); global != context_.memory.global.end()) {
        address += global->second;
    } else if (const auto bank = context_.memory.constant.find(variable.name); bank != context_.memory.constant.end()) {
        address += bank->second;
    } else {
        error(variable.place, fmt::format("'{}' is declared but defined nowhere", variable.name));
    }
    return constant(address, static_cast<uint32_t>(address));
}

void FunctionDecoder::place_value(const isa::Operand& operand, bool kill, uint32_t scope, Pending& out,
                                  OperandInfo& info) {
    info.kind = OperandInfo::Kind::value;
    Operand placed;
    switch (operand.kind) {
        case Kind::sink: info.kind = OperandInfo::Kind::sink; break;
        case Kind::integer:
        case Kind::real:
            info.immediate = true;
            info.value = operand.value;
            placed = constant(operand.value, operand.kind == Kind::real ? operand.value32
                                                                        : static_cast<uint32_t>(operand.value));
            break;
        case Kind::name: {
            const std::string name = operand.text + operand.component;
            if (const machine::Special special = machine::parse_special(name); special != machine::Special::none) {
                placed = Operand{.bank = Bank::special, .offset = static_cast<uint32_t>(special)};
                info.width = machine::special_bytes(special);
                break;
            }
            std::optional<Symbol> symbol = symbols_.find(operand.text, scope);
            if (symbol && (symbol->kind == Symbol::Kind::reg || symbol->kind == Symbol::Kind::predicate)) {
                const std::string_view part = operand.component;
                if (part == ".y" || part == ".g") symbol->id += 1;
                if (part == ".z" || part == ".b") symbol->id += 2;
                if (part == ".w" || part == ".a") symbol->id += 3;
                placed = Operand{.bank = Bank::regs, .width = static_cast<uint8_t>(symbol->width),
                                 .negated = operand.negated, .offset = symbol->id};
                info.width = symbol->width;
                if (symbol->kind == Symbol::Kind::predicate) info.kind = OperandInfo::Kind::predicate;
                (kill ? out.registers.kills : out.registers.uses).push_back(symbol->id);
                break;
            }
            const ptx::Variable* variable = symbol && symbol->kind == Symbol::Kind::variable ? symbol->variable : nullptr;
            if (!symbol)
                if (const auto it = context_.module_variables.find(operand.text); it != context_.module_variables.end())
                    variable = it->second;
            if (variable) {
                Space space;
                placed = variable_address(*variable, operand.displacement, space, out);
                info.immediate = placed.bank == Bank::constants;
                info.width = 8;
                info.space = space;
            } else if (const auto it = context_.function_ids.find(operand.text); it != context_.function_ids.end()) {
                const uint64_t address = context_.memory.code.find(operand.text)->second;
                placed = constant(address, static_cast<uint32_t>(address));
                info.immediate = true;
            } else {
                error(operand.place, fmt::format("'{}' is not declared", operand.text));
            }
            break;
        }
        default: error(operand.place, "a register or an immediate is expected here");
    }
    operands_.push_back(placed);
}

void FunctionDecoder::place_address(const isa::Operand& operand, uint32_t scope, Pending& out, OperandInfo& info) {
    PlacedArg placed{.first = static_cast<uint32_t>(operands_.size())};
    placed.arg.displacement = operand.displacement;
    info.kind = OperandInfo::Kind::address;
    if (operand.items.empty()) return error(operand.place, "an address needs a base");
    const isa::Operand& base = operand.items[0];
    OperandInfo base_info;
    place_value(base, false, scope, out, base_info);
    if (base_info.kind == OperandInfo::Kind::predicate) error(base.place, "a predicate cannot be an address");
    if (operands_.back().bank == Bank::regs && base_info.width != 8 && base_info.width != 4)
        error(base.place, "an address is a 32-bit or 64-bit register");
    placed.arg.space = info.space = base_info.space;
    placed.arg.count = 1;
    for (size_t i = 1; i < operand.items.size(); ++i) {
        const isa::Operand& part = operand.items[i];
        OperandInfo part_info;
        if (part.kind == Kind::vector)
            for (const isa::Operand& item : part.items) place_value(item, false, scope, out, part_info);
        else
            place_value(part, false, scope, out, part_info);
    }
    placed.arg.coordinates = static_cast<uint16_t>(operands_.size() - placed.first - 1);
    info.count = 1;
    info.width = base_info.width;
    out.args.push_back(placed);
}

void FunctionDecoder::place_label(const isa::Operand& operand, uint32_t scope, Pending& out, OperandInfo& info) {
    info.kind = OperandInfo::Kind::label;
    out.args.push_back({static_cast<uint32_t>(operands_.size()), {}});
    const std::optional<Symbol> symbol = symbols_.find(operand.text, scope);
    if (!symbol) return error(operand.place, fmt::format("label '{}' is not declared in this scope", operand.text));
    if (symbol->kind == Symbol::Kind::label) {
        out.flow.targets = {symbol->id};
        out.inst.target = base_ + symbol->id;
    } else if (symbol->kind == Symbol::Kind::table) {
        std::vector<uint32_t> pcs;
        for (const std::string& target : symbols_.tables[symbol->id]->targets) {
            const std::optional<Symbol> label = symbols_.find(target, symbols_.table_scope[symbol->id]);
            if (!label || label->kind != Symbol::Kind::label)
                return error(operand.place, fmt::format("'{}' in the branch table '{}' is not a label", target, operand.text));
            out.flow.targets.push_back(label->id);
            pcs.push_back(base_ + label->id);
        }
        out.flow.falls_through = out.inst.guard.bank != Bank::none;
        out.inst.target = static_cast<uint32_t>(context_.kernel.program.branch_tables.size());
        context_.kernel.program.branch_tables.push_back(std::move(pcs));
    } else {
        error(operand.place, fmt::format("'{}' is not a label", operand.text));
    }
}

void FunctionDecoder::place_argument(const isa::Operand& operand, std::string_view name, bool is_destination,
                                     uint32_t scope, Pending& out, OperandInfo& info) {
    const bool kill = is_destination && names_destination(name) && out.inst.guard.bank == Bank::none;
    PlacedArg placed{.first = static_cast<uint32_t>(operands_.size())};
    if (operand.kind == Kind::address) return place_address(operand, scope, out, info);
    if (operand.kind == Kind::vector) {
        bool exact = true;
        int width = 0;
        for (const isa::Operand& item : operand.items) {
            OperandInfo item_info;
            place_value(item, kill, scope, out, item_info);
            exact &= operands_.back().bank == Bank::regs && item_info.kind == OperandInfo::Kind::value &&
                     (width == 0 || item_info.width == width);
            width = item_info.width;
            if (item_info.kind == OperandInfo::Kind::sink) continue;
            if (info.kind == OperandInfo::Kind::absent || item_info.immediate) info = item_info;
            else if (item_info.width < info.width) info.width = item_info.width;
        }
        info.exact = exact;
        info.count = static_cast<int>(operand.items.size());
        if (info.kind == OperandInfo::Kind::absent) info.kind = OperandInfo::Kind::sink;
    } else {
        place_value(operand, kill, scope, out, info);
        info.count = 1;
        info.exact = operands_.back().bank == Bank::regs && info.kind == OperandInfo::Kind::value;
        const std::optional<Symbol> symbol =
            operand.kind == Kind::name && operand.component.empty() ? symbols_.find(operand.text, scope) : std::nullopt;
        for (int i = 1; symbol && symbol->kind == Symbol::Kind::reg && i < symbol->vector; ++i) {
            Operand next = operands_.back();
            ++next.offset;
            operands_.push_back(next);
            (kill ? out.registers.kills : out.registers.uses).push_back(next.offset);
            ++info.count;
        }
    }
    placed.arg.count = static_cast<uint16_t>(operands_.size() - placed.first);
    placed.arg.space = info.space;
    out.args.push_back(placed);
}

void FunctionDecoder::decode_instruction(const ptx::Instruction& instruction, uint32_t scope, Pending& out) {
    out.source = &instruction;
    machine::Program& program = context_.kernel.program;
    const auto unsupported = [&](const std::string& why) {
        out.inst.run = run_unsupported;
        out.inst.target = static_cast<uint32_t>(program.unsupported.size());
        out.flow = {};
        program.unsupported.push_back(why);
    };
    if (!instruction.guard.empty()) {
        const std::optional<Symbol> guard = symbols_.find(instruction.guard, scope);
        if (!guard || guard->kind != Symbol::Kind::predicate)
            return error(instruction.place, fmt::format("the guard '{}' is not a predicate register", instruction.guard));
        out.inst.guard = Operand{.bank = Bank::regs, .negated = instruction.guard_negated, .offset = guard->id};
        out.registers.uses.push_back(guard->id);
    }
    if (!instruction.row) return unsupported(instruction.opcode + ": " + instruction.why);
    if (!instruction.row->bind) return unsupported(instruction.opcode + " has no semantics yet");
    isa::Match match;
    match.row = instruction.row;
    match.choices = instruction.choices;
    match.target_sm = context_.target_sm;
    match.operands.resize(instruction.positions.size());
    const std::vector<std::string>& names = isa::operand_names(*instruction.row);
    const bool is_call = std::find(names.begin(), names.end(), "fn") != names.end();
    if (is_call) {
        place_call(instruction, scope, out);
    } else {
        const std::vector<const isa::Operand*> given = isa::flat(instruction);
        for (size_t i = 0; i < instruction.positions.size(); ++i) {
            OperandInfo& info = match.operands[i];
            if (instruction.positions[i] < 0) {
                out.args.push_back({static_cast<uint32_t>(operands_.size()), {}});
                operands_.emplace_back();  // readable, bank none
                continue;
            }
            const isa::Operand& operand = *given[static_cast<size_t>(instruction.positions[i])];
            const bool wants_label = names[i] == "label" || names[i] == "table";
            const bool destination = i == 0 || (i == 1 && instruction.operands[0].kind == Kind::pair);
            if (wants_label) {
                place_label(operand, scope, out, info);
            } else if (names[i][0] != 'd' && operand.kind == Kind::integer && isa::wants_predicate(*instruction.row, i)) {
                info = {.kind = OperandInfo::Kind::predicate, .count = 1, .immediate = true, .value = operand.value};
                out.args.push_back({static_cast<uint32_t>(operands_.size()), {}});
                out.args.back().arg.count = 1;
                operands_.push_back({.bank = Bank::immediate_pred, .offset = operand.value != 0});
            } else {
                place_argument(operand, names[i], destination, scope, out, info);
            }
        }
    }
    isa::Binding binding;
    instruction.row->bind(match, binding);
    if (binding.malformed) return error(instruction.place, instruction.opcode + ": " + binding.error);
    if (!binding.run)
        return unsupported(instruction.opcode + (binding.error.empty() ? " has no semantics yet" : ": " + binding.error));
    program.ordered |= binding.ordered;
    out.registers.lands = binding.lands;
    for (uint32_t i = 0; binding.holds_first && i < out.args[0].arg.count; ++i)
        if (const Operand& held = operands_[out.args[0].first + i]; held.bank == Bank::regs)
            out.registers.holds.push_back(held.offset);
    out.inst.run = binding.run;
    out.inst.aux = binding.aux;
    out.inst.ordering = binding.ordering;
    if (binding.ends_thread) out.flow.falls_through = !instruction.guard.empty();
    if (out.flow.targets.size() == 1 && instruction.guard.empty()) out.flow.falls_through = false;
}

}  // namespace ww::emulator

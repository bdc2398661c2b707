// SPDX-License-Identifier: Apache-2.0
// A module as text: one statement a line, values rather than the author's notation.
#include <cstdio>

#include "ptx/module.hpp"
#include "ptx/printer.hpp"

namespace ww::ptx {
namespace {

std::string_view space_text(StateSpace space) {
    switch (space) {
        case StateSpace::reg:
            return ".reg";
        case StateSpace::sreg:
            return ".sreg";
        case StateSpace::constant:
            return ".const";
        case StateSpace::global:
            return ".global";
        case StateSpace::local:
            return ".local";
        case StateSpace::param:
            return ".param";
        case StateSpace::shared:
            return ".shared";
    }
    return "";
}

std::string_view linkage_text(Linkage linkage) {
    switch (linkage) {
        case Linkage::none:
            return "";
        case Linkage::external:
            return ".extern ";
        case Linkage::visible:
            return ".visible ";
        case Linkage::weak:
            return ".weak ";
        case Linkage::common:
            return ".common ";
    }
    return "";
}

void print_hex(const char* prefix, uint64_t bits, int digits, std::string& out) {
    char text[24];
    std::snprintf(text, sizeof text, "%s%0*llX", prefix, digits,
                  static_cast<unsigned long long>(bits));
    out += text;
}

// "+-4": ptxas does not read "a-4".
void print_addend(int64_t addend, std::string& out) {
    if (addend == 0) return;
    out += '+';
    out += std::to_string(addend);
}

bool is_signed(Type type) {
    return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

void print_initial(const Initial& initial, const Variable& variable, std::string& out) {
    const uint64_t bytes = variable.element_bytes();
    if (!initial.symbol.empty()) {
        const bool masked = initial.mask != ~uint64_t{0};
        if (masked) print_hex("0x", initial.mask, 2, out), out += '(';
        out += initial.generic ? "generic(" + initial.symbol + ")" : initial.symbol;
        print_addend(initial.addend, out);
        if (masked) out += ')';
    } else if (variable.type == Type::f32) {
        print_hex("0f", initial.bits, 8, out);
    } else if (variable.type == Type::f64) {
        print_hex("0d", initial.bits, 16, out);
    } else if (is_signed(variable.type)) {
        const int unused = 64 - static_cast<int>(bytes) * 8;
        out += std::to_string(static_cast<int64_t>(initial.bits << unused) >> unused);
    } else {
        out += std::to_string(initial.bits);
    }
}

// The elements from `at` on as the braces of one level; at ends behind them.
void print_level(const Variable& variable, const std::vector<uint64_t>& levels, size_t level,
                 size_t& at, std::string& out) {
    if (level == levels.size()) {
        print_initial(variable.initial[at++], variable, out);
        return;
    }
    out += '{';
    for (uint64_t i = 0; i < levels[level] && at < variable.initial.size(); ++i) {
        if (i > 0) out += ", ";
        print_level(variable, levels, level + 1, at, out);
    }
    out += '}';
}

void print_list(const std::vector<Operand>& items, std::string& out) {
    for (size_t i = 0; i < items.size(); ++i) {
        if (i > 0) out += ", ";
        print_operand(items[i], out);
    }
}

void print_parameters(const std::vector<Variable>& parameters, std::string& out) {
    out += '(';
    for (size_t i = 0; i < parameters.size(); ++i) {
        if (i > 0) out += ", ";
        print_variable(parameters[i], out);
    }
    out += ')';
}

void print_instruction(const Instruction& instruction, std::string& out) {
    if (!instruction.guard.empty()) {
        out += instruction.guard_negated ? "@!" : "@";
        out += instruction.guard;
        out += ' ';
    }
    out += instruction.opcode;
    if (!instruction.operands.empty()) out += ' ';
    print_list(instruction.operands, out);
    out += ';';
}

void print_loc(const Loc& loc, std::string& out) {
    out += loc.intermediate ? ".loc_intermediate " : ".loc ";
    out += std::to_string(loc.file) + " " + std::to_string(loc.line) + " " +
           std::to_string(loc.col) + loc.rest;
}

void print_statement(const Module& module, const Function& function, const Statement& statement,
                     std::string& out) {
    switch (statement.kind) {
        case Statement::Kind::instruction:
            print_instruction(function.instructions[statement.index], out);
            break;
        case Statement::Kind::variable:
            print_variable(function.variables[statement.index], out);
            out += ';';
            break;
        case Statement::Kind::loc:
            print_loc(module.locs[statement.index], out);
            break;
        case Statement::Kind::pragma:
            out += ".pragma " + function.pragmas[statement.index] + ";";
            break;
        case Statement::Kind::open_scope:
            out += '{';
            break;
        case Statement::Kind::close_scope:
            out += '}';
            break;
        case Statement::Kind::label: {
            const Label& label = function.labels[statement.index];
            out += label.name + ":";
            if (!label.text.empty()) out += " " + label.text;
            break;
        }
    }
}

void print_function(const Module& module, const Function& function, std::string& out) {
    out += linkage_text(function.linkage);
    out += function.entry ? ".entry " : ".func ";
    for (const auto& [name, arguments] : function.directives)
        if (name == ".attribute") out += name + arguments + " ";
    if (!function.returns.empty()) print_parameters(function.returns, out), out += ' ';
    out += function.name;
    if (!function.params.empty()) out += ' ', print_parameters(function.params, out);
    for (const auto& [name, arguments] : function.directives) {
        if (name == ".attribute") continue;
        out += "\n" + name + (arguments.empty() ? "" : " " + arguments);
        if (name == ".pragma") out += ';';
    }
    if (!function.has_body) {
        out += ";\n";
        return;
    }
    out += "\n{\n";
    for (const Statement& statement : function.body) {
        if (statement.kind != Statement::Kind::label) out += '\t';
        print_statement(module, function, statement, out);
        out += '\n';
    }
    out += "}\n";
}

void print_item(const Module& module, const Item& item, std::string& out) {
    switch (item.kind) {
        case Item::Kind::variable:
            print_variable(module.variables[item.index], out), out += ";\n";
            break;
        case Item::Kind::function:
            print_function(module, module.functions[item.index], out);
            break;
        case Item::Kind::section:
            out += module.sections[item.index] + "\n";
            break;
        case Item::Kind::pragma:
            out += ".pragma " + module.pragmas[item.index] + ";\n";
            break;
        case Item::Kind::text:
            out += module.texts[item.index] + "\n";
            break;
        case Item::Kind::file: {
            const SourceFile& file = module.files[item.index];
            out +=
                ".file " + std::to_string(file.index) + " \"" + file.path + "\"" + file.rest + "\n";
            break;
        }
    }
}

}  // namespace

void print_variable(const Variable& variable, std::string& out) {
    out += linkage_text(variable.linkage);
    out += space_text(variable.space);
    const bool of_pointer = variable.attributes.starts_with(".ptr");
    if (!of_pointer && !variable.attributes.empty()) out += " " + variable.attributes;
    if (variable.align != 0) out += " .align " + std::to_string(variable.align);
    if (variable.vector > 1) out += " .v" + std::to_string(variable.vector);
    out += " " + variable.type_text;
    if (of_pointer) out += " " + variable.attributes;
    out += " " + variable.name;
    if (variable.range != 0) out += "<" + std::to_string(variable.range) + ">";
    for (uint64_t size : variable.dims) out += size == 0 ? "[]" : "[" + std::to_string(size) + "]";
    if (!variable.initial_text.empty()) out += " = " + variable.initial_text;
    if (variable.initial.empty()) return;
    std::vector<uint64_t> levels = variable.dims;
    if (variable.vector > 1) levels.push_back(static_cast<uint64_t>(variable.vector));
    out += " = ";
    size_t at = 0;
    print_level(variable, levels, 0, at, out);
}

void print_operand(const Operand& operand, std::string& out) {
    if (operand.negated) out += '!';
    if (operand.minus) out += '-';
    switch (operand.kind) {
        case Operand::Kind::name:
            out += operand.text;
            out += operand.component;
            print_addend(operand.displacement, out);
            break;
        case Operand::Kind::integer:
            out += std::to_string(static_cast<int64_t>(operand.value));
            break;
        case Operand::Kind::real:
            if (operand.text.starts_with("0f") || operand.text.starts_with("0F"))
                print_hex("0f", operand.value32, 8, out);
            else
                print_hex("0d", operand.value, 16, out);
            break;
        case Operand::Kind::sink:
            out += '_';
            break;
        case Operand::Kind::vector:
            out += '{', print_list(operand.items, out), out += '}';
            break;
        case Operand::Kind::group:
            out += '(', print_list(operand.items, out), out += ')';
            break;
        case Operand::Kind::pair:
            for (size_t i = 0; i < operand.items.size(); ++i) {
                if (i > 0) out += '|';
                print_operand(operand.items[i], out);
            }
            break;
        case Operand::Kind::address:
            out += '[';
            for (size_t i = 0; i < operand.items.size(); ++i) {
                if (i > 0) out += ", ";
                print_operand(operand.items[i], out);
                if (i == 0) print_addend(operand.displacement, out);
            }
            out += ']';
            out += operand.component;
            break;
    }
}

std::string prototype_text(const Label& label,
                           const std::vector<std::pair<std::string, std::string>>& directives) {
    std::string out = ".callprototype ";
    if (!label.returns.empty()) print_parameters(label.returns, out), out += ' ';
    out += '_';
    if (!label.params.empty()) out += ' ', print_parameters(label.params, out);
    for (const auto& [name, arguments] : directives)
        out += " " + name + (arguments.empty() ? "" : " " + arguments);
    return out + ";";
}

std::string print(const Instruction& instruction) {
    std::string out;
    print_instruction(instruction, out);
    return out;
}

std::string print(const Module& module) {
    std::string out = ".version " + module.version + "\n.target ";
    for (size_t i = 0; i < module.targets.size(); ++i)
        out += (i > 0 ? ", " : "") + module.targets[i];
    out += "\n.address_size " + std::to_string(module.address_size) + "\n";
    for (const Item& item : module.items) print_item(module, item, out);
    return out;
}

}  // namespace ww::ptx

// SPDX-License-Identifier: Apache-2.0
#include "emulator/symbols.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace ww::emulator {

using machine::Type;
using ptx::StateSpace;

Diagnostic at_place(const ptx::Module& module, ptx::Place place, std::string message) {
    Diagnostic d{.file = module.name, .line = place.line, .col = place.col, .message = std::move(message)};
    size_t at = 0;
    for (int line = 1; line < place.line && at != std::string::npos; ++line) {
        at = module.text.find('\n', at);
        if (at != std::string::npos) ++at;
    }
    if (place.line > 0 && at != std::string::npos)
        d.source_line = module.text.substr(at, module.text.find('\n', at) - at);
    return d;
}

uint32_t FunctionSymbols::add_register(int width) {
    row_bytes.push_back(width == 0 ? 4u : static_cast<uint32_t>(width) * machine::kLanes);
    pinned.push_back(false);
    return static_cast<uint32_t>(row_bytes.size()) - 1;
}

Symbol FunctionSymbols::make_register(const ptx::Variable& variable) {
    Symbol symbol{.kind = variable.type == Type::pred ? Symbol::Kind::predicate : Symbol::Kind::reg,
                  .width = machine::type_bytes(variable.type),
                  .vector = variable.vector,
                  .variable = &variable};
    symbol.id = add_register(symbol.width);
    for (int i = 1; i < variable.vector; ++i) add_register(symbol.width);
    return symbol;
}

void FunctionSymbols::add_name(const std::string& name, const Symbol& symbol, uint32_t scope, ptx::Place place) {
    if (!scopes_[scope].names.emplace(name, symbol).second)
        diagnostics_.push_back(at_place(module_, place, fmt::format("'{}' is declared twice in one scope", name)));
}

void FunctionSymbols::declare(const ptx::Variable& variable, uint32_t scope) {
    if (variable.space == StateSpace::reg) {
        if (variable.type != Type::pred && machine::type_bytes(variable.type) == 0) {
            diagnostics_.push_back(at_place(module_, variable.place,
                                            fmt::format("a register cannot have type {}", variable.type_text)));
            return;
        }
        if (variable.range > 0)
            scopes_[scope].ranges.emplace_back(&variable, variable.name);
        else
            add_name(variable.name, make_register(variable), scope, variable.place);
        return;
    }
    if (variable.space == StateSpace::local || variable.space == StateSpace::param) locals.push_back(&variable);
    add_name(variable.name, Symbol{.kind = Symbol::Kind::variable, .variable = &variable}, scope, variable.place);
}

FunctionSymbols::FunctionSymbols(const ptx::Module& module, const ptx::Function& function, Diagnostics& diagnostics)
    : module_(module), diagnostics_(diagnostics) {
    scopes_.emplace_back();
    for (const auto* list : {&function.returns, &function.params})
        for (const ptx::Variable& variable : *list) {
            declare(variable, 0);
            if (variable.space == StateSpace::reg)
                for (uint32_t v = 0; v < row_bytes.size(); ++v) pinned[v] = true;
        }
    if (function.entry) locals.clear();  // a kernel's parameters are in the parameter buffer
    scopes_.push_back(Scope{.parent = 0});
    uint32_t scope = 1;
    uint32_t next = 0;
    scope_of_.resize(function.instructions.size(), 1);
    for (const ptx::Statement& statement : function.body) {
        switch (statement.kind) {
            case ptx::Statement::Kind::open_scope:
                scopes_.push_back(Scope{.parent = scope});
                scope = static_cast<uint32_t>(scopes_.size()) - 1;
                break;
            case ptx::Statement::Kind::close_scope: scope = scopes_[scope].parent; break;
            case ptx::Statement::Kind::variable: declare(function.variables[statement.index], scope); break;
            case ptx::Statement::Kind::label: {
                const ptx::Label& label = function.labels[statement.index];
                Symbol symbol{.kind = Symbol::Kind::label, .id = next};
                if (label.kind == ptx::Label::Kind::call_prototype) symbol.kind = Symbol::Kind::prototype;
                if (label.kind == ptx::Label::Kind::branch_targets || label.kind == ptx::Label::Kind::call_targets) {
                    symbol.kind = Symbol::Kind::table;
                    symbol.id = static_cast<uint32_t>(tables.size());
                    tables.push_back(&label);
                    table_scope.push_back(scope);
                }
                add_name(label.name, symbol, scope, statement.place);
                break;
            }
            case ptx::Statement::Kind::instruction: scope_of_[next++] = scope; break;
            default: break;
        }
    }
}

std::optional<Symbol> FunctionSymbols::find(std::string_view name, uint32_t scope) {
    const size_t digits = name.find_last_not_of("0123456789") + 1;
    for (uint32_t at = scope; at != UINT32_MAX; at = scopes_[at].parent) {
        Scope& here = scopes_[at];
        if (const auto it = here.names.find(std::string(name)); it != here.names.end()) return it->second;
        if (digits == name.size() || name.size() - digits > 8) continue;
        const uint32_t number = static_cast<uint32_t>(std::stoul(std::string(name.substr(digits))));
        for (const auto& [variable, prefix] : here.ranges)
            if (prefix == name.substr(0, digits) && number < variable->range) {
                const Symbol symbol = make_register(*variable);
                here.names.emplace(std::string(name), symbol);
                return symbol;
            }
    }
    return std::nullopt;
}

}  // namespace ww::emulator

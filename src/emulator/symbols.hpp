// SPDX-License-Identifier: Apache-2.0
// Names of one function while it is decoded: nested scopes of registers, variables and labels.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/module.hpp"

namespace ww::emulator {

struct Symbol {
    enum class Kind : uint8_t { reg, predicate, variable, label, table, prototype };
    Kind kind = Kind::reg;
    uint32_t id = 0;      // reg, predicate: virtual register; label: instruction in the function; table: index
    int width = 0;        // reg: bytes of a lane
    int vector = 1;       // reg: .v2 / .v4, in consecutive virtual registers
    const ptx::Variable* variable = nullptr;
};

class FunctionSymbols {
  public:
    // Walks the body once: declares everything, and gives each instruction its scope.
    // Problems (a name declared twice, labels inside) go to diagnostics.
    FunctionSymbols(const ptx::Module& module, const ptx::Function& function, Diagnostics& diagnostics);

    // Looks outwards from the scope; registers of a range come into being when first named.
    std::optional<Symbol> find(std::string_view name, uint32_t scope);
    uint32_t scope_of(size_t instruction) const { return scope_of_[instruction]; }
    uint32_t add_register(int width);  // a virtual register without a name

    std::vector<uint32_t> row_bytes;   // per virtual register
    std::vector<bool> pinned;
    std::vector<const ptx::Label*> tables;        // by Symbol::id
    std::vector<uint32_t> table_scope;
    std::vector<const ptx::Variable*> locals;     // .local and .param variables of the body

  private:
    struct Scope {
        uint32_t parent = UINT32_MAX;
        std::unordered_map<std::string, Symbol> names;
        std::vector<std::pair<const ptx::Variable*, std::string>> ranges;  // %r<100>
    };
    void declare(const ptx::Variable& variable, uint32_t scope);
    void add_name(const std::string& name, const Symbol& symbol, uint32_t scope, ptx::Place place);
    Symbol make_register(const ptx::Variable& variable);

    const ptx::Module& module_;
    Diagnostics& diagnostics_;
    std::vector<Scope> scopes_;
    std::vector<uint32_t> scope_of_;
};

Diagnostic at_place(const ptx::Module& module, ptx::Place place, std::string message);

}  // namespace ww::emulator

// SPDX-License-Identifier: Apache-2.0
// A PTX module as data: what parse() reads and print() writes. Nothing is resolved here: scopes,
// labels and register allocation are src/emulator's business.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "isa/instruction.hpp"
#include "machine/types.hpp"

namespace ww::ptx {

using isa::Instruction;
using isa::Operand;
using isa::Place;
using machine::Type;

enum class StateSpace : uint8_t { reg, sreg, constant, global, local, param, shared };
enum class Linkage : uint8_t { none, external, visible, weak, common };

// An element of an initialiser: a number (bits in the variable's type) or an address.
struct Initial {
    uint64_t bits = 0;
    std::string symbol;  // non-empty: address of symbol + addend
    int64_t addend = 0;
    bool generic = false;          // generic(symbol)
    uint64_t mask = ~uint64_t{0};  // mask(symbol): the byte of the address that is taken
    std::string text;              // as written, for print()
};

struct Variable {
    StateSpace space = StateSpace::reg;
    Linkage linkage = Linkage::none;
    Type type = Type::none;
    std::string type_text;         // ".b32", also opaque types like ".texref"
    int vector = 1;                // .v2, .v4, .v8
    std::string name;              // without the <count> of a register range
    uint32_t range = 0;            // %r<100>: 100 registers %r0..%r99; 0: one variable
    std::vector<uint64_t> dims;    // array dimensions; 0 for an empty []
    uint32_t align = 0;            // as written; 0: natural
    std::vector<Initial> initial;  // flattened; missing trailing elements are zero
    std::string attributes;        // .attribute(...), .ptr .global .align 16: as written
    std::string initial_text;      // as written, for print()
    Place place;
    uint64_t element_bytes() const;
    uint64_t bytes() const;  // of the whole variable; 0 for an unsized array
    uint64_t alignment() const;
};

struct Label {
    std::string name;
    // .branchtargets / .calltargets / .callprototype attached to the label
    enum class Kind : uint8_t {
        code,
        branch_targets,
        call_targets,
        call_prototype
    } kind = Kind::code;
    std::vector<std::string> targets;
    std::vector<Variable> params, returns;  // of a prototype
    std::string text;                       // as written after the label, for print()
};

struct Statement {
    enum class Kind : uint8_t {
        instruction,
        label,
        variable,
        open_scope,
        close_scope,
        loc,
        pragma
    };
    Kind kind = Kind::instruction;
    uint32_t index = 0;  // into the function's vector of that kind
    Place place;
};

struct Loc {
    int file = 0;  // .file index
    int line = 0, col = 0;
    bool intermediate = false;  // .loc_intermediate: no instruction's loc
    std::string rest;           // ", function_name ..., inlined_at ..." as written
};

struct Function {
    bool entry = false;
    bool has_body = false;
    Linkage linkage = Linkage::none;
    std::string name;
    std::vector<Variable> params, returns;
    std::vector<std::pair<std::string, std::string>>
        directives;  // {".maxntid", "128, 1, 1"}, {".noreturn", ""}
    std::vector<Statement> body;
    std::vector<Instruction> instructions;
    std::vector<Label> labels;
    std::vector<Variable> variables;
    std::vector<std::string> pragmas;
    Place place;
};

struct SourceFile {
    int index = 0;
    std::string path;
    std::string rest;  // ", timestamp, size" as written
};

// One top-level item, for printing in the order of the text.
struct Item {
    enum class Kind : uint8_t { variable, function, file, section, pragma, text };
    Kind kind = Kind::function;
    uint32_t index = 0;
};

struct Module {
    std::string name;                  // for messages: the file's path
    std::string version;               // "9.0"
    std::vector<std::string> targets;  // "sm_90a", "debug"
    int address_size = 64;
    std::vector<Item> items;
    std::vector<Variable> variables;
    std::vector<Function> functions;
    std::vector<SourceFile> files;
    std::vector<std::string> sections;  // .section .debug_xxx { ... } as written
    std::vector<std::string> pragmas;
    std::vector<std::string> texts;  // .alias and the like, as written
    std::vector<Loc> locs;           // Instruction::loc indexes this
    std::string text;                // the whole source, for carets

    const SourceFile* file(int index) const;
    const Function* function(std::string_view name) const;  // prefers one with a body
};

// Reads PTX text. Collects all errors it can (at most 100) with line, column and source line. An
// instruction that no row fits is not an error here: its row is null and `why` says why.
Result<Module> parse(std::string_view text, std::string_view name);
// Canonical text; parse(print(m)) prints the same.
std::string print(const Module& module);
// One instruction as text: "@!%p1 add.s32 \t%r1, %r2, 3;" without the newline.
std::string print(const Instruction& instruction);

}  // namespace ww::ptx

// SPDX-License-Identifier: Apache-2.0
// A row is one grammar line of the PTX manual with its alternatives, availability, anchor and
// meaning. Nothing else in the project switches on an opcode.
//
// Syntax notation, as in the manual: {.x} optional; .name that stands in `sets` is one of that
// set's alternatives; after the space the operands: "d, a, b", "[a]" address, "d|p" pair,
// "{, c}" optional. Operand names starting with p or q, and {!}c, are predicates; "label",
// "(ret)", "fn" and "(params)" are what they say. Sets: ".type = .u16 .u32; .rnd = .rn .rz".
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/instruction.hpp"
#include "machine/inst.hpp"
#include "machine/types.hpp"

namespace ww::isa {

using machine::Type;

// Version of the PTX ISA, major * 10 + minor: 78 is PTX ISA 7.8.
struct Since {
    int ptx = 10;
    int sm = 0;            // lowest target; 90 for sm_90
    char feature = 0;      // 'a': only sm_XXa; 'f': the family of sm_XXf; 0: all from sm on
};

// What a decoded operand is, as far as a bind function may ask.
struct OperandInfo {
    enum class Kind : uint8_t { absent, value, predicate, address, label, function, group, sink };
    Kind kind = Kind::absent;
    int width = 0;      // bytes of the narrowest register; 0: immediate or predicate
    bool exact = false;  // a vector: all elements are registers of that width, no sinks, no special ones
    int count = 0;      // vector elements; 1 for a scalar
    bool immediate = false;
    uint64_t value = 0;  // of an immediate
    machine::Space space = machine::Space::generic;  // address: the symbol's space
};

// What matched: handed to the row's bind function.
class Match {
  public:
    const Row* row = nullptr;
    std::span<const Choice> choices;
    std::vector<OperandInfo> operands;  // per position of the syntax
    // The program has more than one function and the like never matter to a bind; the target does:
    int target_sm = 90;

    // Chosen alternative of a set (".type" or "type"), or "" when the optional was left out.
    std::string_view get(std::string_view set) const;
    bool has(std::string_view literal) const { return !get(literal).empty(); }
    Type type(std::string_view set = ".type") const { return machine::parse_type(get(set)); }
    // Space of ld/st and friends: from a .ss modifier text like ".shared::cta", "" is generic.
    static machine::Space space(std::string_view modifier);
};

// What a bind function fills in. A null run with an error: this combination has no semantics.
struct Binding {
    machine::Run run = nullptr;
    uint64_t aux = 0;
    std::string error;
    bool malformed = false;  // with an error: the text is wrong, and the kernel is refused when it is loaded
    bool ends_thread = false;  // control never goes on to the next instruction (ret, exit)
    // The registers of the first operand are read and written after the instruction, up to one that
    // lands them.
    bool holds_first = false, lands = false;
    machine::Ordering ordering;
    bool ordered = false;  // the result depends on the order of the blocks (float atomics)
};
using Bind = void (*)(const Match&, Binding&);

struct Row {
    std::string_view syntax;
    std::string_view sets;
    Since since;
    std::string_view anchor;  // of the manual's HTML, without '#'
    Bind bind = nullptr;      // null: parsed, but has no semantics here
    std::string_view mnemonic() const;
    std::string_view chapter;  // filled by the table: the file's name, e.g. "integer_arith"
};

// What the .sem, .scope, .volatile and .weak modifiers of an instruction say; otherwise `unsaid`.
machine::Ordering ordering_of(const Match& match, machine::Ordering unsaid);

// All rows, chapter by chapter (isa.cpp holds the one list of chapters).
std::span<const Row> rows();
// Fits an instruction's text to a row; fills row, choices, positions, or why.
void match(Instruction& instruction);
// Number of operand positions in the row's syntax, and the name of each.
std::vector<std::string> operand_names(const Row& row);
// True when the operand position is a predicate by the row's notation.
bool wants_predicate(const Row& row, size_t position);
// Operand positions as decode wants them: pairs opened, in the order of the syntax.
std::vector<const Operand*> flat(const Instruction& instruction);

}  // namespace ww::isa

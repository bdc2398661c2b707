// SPDX-License-Identifier: Apache-2.0
// Registers and numbers in SASS operands, and which registers an instruction writes.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sass/listing.hpp"

namespace ww::sass {

enum class File : uint8_t { general, uniform, predicate, uniform_predicate };

struct Register {
    File file = File::general;
    int index = 0;  // -1: the one that is always zero or true (RZ, URZ, PT, UPT)
    auto operator<=>(const Register&) const = default;
};

// Of "R16", "-R3.reuse", "|R2|", "!P0", "R2.64"; nothing for any other operand.
std::optional<Register> register_of(std::string_view operand);
// Every register that stands in the text: "desc[UR6][R2.64+0x8]" has UR6 and R2.
std::vector<Register> registers_in(std::string_view text);
// Of "0x10", "-0x4", "RZ" (0); nothing for any other operand.
std::optional<int64_t> number_of(std::string_view operand);

struct Written {
    Register first;
    int count = 1;
    bool has(const Register& reg) const {
        return reg.file == first.file && reg.index >= first.index &&
               reg.index < first.index + count && reg.index >= 0;
    }
};
// What it writes, as far as its text says: the destination and predicates beside it. Wide results
// are as wide as their modifiers and shapes say; what a called subroutine writes is not among it.
std::vector<Written> written_by(const Instruction& instruction);

// The address of a load or store: what is added to, and the constant; nothing where there is none.
struct Address {
    std::string_view base;  // "desc[UR6][R2.64"
    int64_t offset = 0;
};
std::optional<Address> address_of(const Instruction& instruction);

}  // namespace ww::sass

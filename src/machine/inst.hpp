// SPDX-License-Identifier: Apache-2.0
// A decoded instruction: a function and the places of its operands. Made once at load by
// src/emulator, executed by src/isa's semantics; nobody looks at text again.
#pragma once
#include <cstdint>

#include "machine/types.hpp"

namespace ww::machine {

class Warp;
struct Inst;
using Run = void (*)(Warp&, const Inst&);

enum class Bank : uint8_t {
    none,       // absent operand, or the sink '_'
    regs,       // the frame's registers; a predicate register is one LaneMask
    constants,  // immediates and symbol addresses, broadcast over the lanes (see ConstantPool)
    special,    // special registers; offset is a Special
    immediate_pred,  // a predicate constant; offset 0 or 1
};

struct Operand {
    Bank bank = Bank::none;
    uint8_t width = 0;  // bytes of one lane's register; 0 for predicates and all other banks
    bool negated = false;  // !p
    uint32_t offset = 0;   // bytes from the start of the bank to lane 0
};

// One operand position of the row's syntax. A position that was left out has count 0.
struct Arg {
    const Operand* elements = nullptr;  // 1, or the elements of a { vector }
    uint16_t count = 0;
    uint16_t coordinates = 0;  // for [map, {c0, c1}]: elements[1..] are the coordinates
    Space space = Space::generic;  // for an address: space its symbol lives in, if it has one
    int64_t displacement = 0;      // for an address: bytes added to the base

    const Operand& operator[](int i) const { return elements[i]; }
};

// How strong an access, a fence or an arrival is, and for whom (PTX manual, "Memory Consistency
// Model"). .sc counts as acq_rel; volatile as relaxed.sys.
enum class Semantics : uint8_t { weak, relaxed, acquire, release, acq_rel };
enum class Scope : uint8_t { cta, cluster, gpu, sys };
struct Ordering {
    Semantics semantics = Semantics::weak;
    Scope scope = Scope::cta;
    bool blind = false;  // red: nobody learns what it read
    bool acquires() const { return semantics == Semantics::acquire || semantics == Semantics::acq_rel; }
    bool releases() const { return semantics == Semantics::release || semantics == Semantics::acq_rel; }
};

struct Inst {
    Run run = nullptr;
    Operand guard;  // @p; bank none: always
    const Arg* args = nullptr;
    uint16_t arg_count = 0;
    Ordering ordering;    // for observers; the machine itself performs all accesses in order
    uint32_t index = 0;   // place in the program; key for line info and reports
    uint32_t rank = 0;    // order for reconvergence: lower runs first
    uint32_t target = 0;  // branch target, or callee; see src/isa/control.cpp
    uint64_t aux = 0;     // whatever the row's bind function packed for its semantics

    const Arg& operator[](int i) const { return args[i]; }
};

}  // namespace ww::machine

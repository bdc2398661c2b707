// SPDX-License-Identifier: Apache-2.0
// Loads and stores of registers through the warp's memory port: shared by ld, st, atom and the
// matrix loads.
#pragma once
#include "isa/lane.hpp"

namespace ww::isa {

// aux of a memory instruction.
struct MemoryAux {
    machine::Space space = machine::Space::generic;
    uint8_t element_bytes = 4;
    uint8_t elements = 1;
    bool is_signed = false;
    uint64_t pack() const {
        return static_cast<uint64_t>(space) | uint64_t{element_bytes} << 8 | uint64_t{elements} << 16 | uint64_t{is_signed} << 24;
    }
    static MemoryAux unpack(uint64_t aux) {
        return {static_cast<machine::Space>(aux & 0xff), static_cast<uint8_t>(aux >> 8),
                static_cast<uint8_t>(aux >> 16), (aux >> 24 & 1) != 0};
    }
};

}  // namespace ww::isa

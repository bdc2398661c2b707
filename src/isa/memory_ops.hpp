// SPDX-License-Identifier: Apache-2.0
// Loads and stores of registers through the warp's memory port: shared by ld, st, atom, cp.async
// and the matrix loads.
#pragma once
#include "isa/lane.hpp"

namespace ww::isa {

using machine::Access;
using machine::Space;
using Bits128 = unsigned __int128;

// aux of a memory instruction.
struct MemoryAux {
    Space space = Space::generic;
    uint8_t element_bytes = 4;
    uint8_t elements = 1;
    uint8_t extra = 0;  // the instruction's own
    uint64_t pack() const {
        return static_cast<uint64_t>(space) | uint64_t{element_bytes} << 8 |
               uint64_t{elements} << 16 | uint64_t{extra} << 24;
    }
    static MemoryAux unpack(uint64_t aux) {
        return {static_cast<Space>(aux & 0xff), static_cast<uint8_t>(aux >> 8),
                static_cast<uint8_t>(aux >> 16), static_cast<uint8_t>(aux >> 24)};
    }
};

// The lanes' pointers step by this many bytes from the first on: the copy is one block.
inline bool is_contiguous(uint8_t* const* pointer, uint64_t bytes) {
    const uint64_t start = reinterpret_cast<uint64_t>(pointer[0]);
    uint64_t unlike = 0;
    for (uint64_t i = 0; i < kLanes; ++i)
        unlike |= reinterpret_cast<uint64_t>(pointer[i]) ^ (start + i * bytes);
    return unlike == 0;
}

// Runs f with another set of active lanes; the lanes are back even when f throws.
template <class F>
void with_lanes(Warp& w, LaneMask lanes, F&& f) {
    struct Restore {
        Warp& warp;
        LaneMask active;
        ~Restore() { warp.active = active; }
    } restore{w, w.active};
    w.active = lanes;
    f();
}

// Number of elements of a .v2/.v4/.v8 modifier; 1 without one.
inline int vector_elements(std::string_view modifier) {
    return modifier.empty() ? 1 : modifier[2] - '0';
}

}  // namespace ww::isa

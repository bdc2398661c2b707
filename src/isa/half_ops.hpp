// SPDX-License-Identifier: Apache-2.0
// f16 and bf16 operands, scalar and packed, as rows of f32: read, modify, write. One rounding at
// the end; whoever needs more than f32 in between rounds to odd (see fma in half_arith.cpp).
#pragma once
#include "isa/lane.hpp"
#include "numerics/formats.hpp"

namespace ww::isa {

constexpr int kMaxHalves = 2 * kLanes;

// How halves are read and written; packed in aux.
struct HalfAux {
    bool packed = false;  // two a lane
    bool bf16 = false;
    bool ftz = false;
    bool sat = false;
    bool relu = false;
    uint8_t pack() const {
        return static_cast<uint8_t>(packed | bf16 << 1 | ftz << 2 | sat << 3 | relu << 4);
    }
    static HalfAux unpack(uint64_t aux) {
        return {(aux & 1) != 0, (aux & 2) != 0, (aux & 4) != 0, (aux & 8) != 0, (aux & 16) != 0};
    }
    int count() const { return packed ? kMaxHalves : kLanes; }
    int bytes() const { return packed ? 4 : 2; }
};
// From the row's .type (one of .f16 .f16x2 .bf16 .bf16x2) and its modifiers.
HalfAux half_aux(std::string_view type, const Match& match);

// The operand's halves as they stand.
void read_half_codes(const Warp& w, const machine::Operand& operand, bool packed, uint16_t* codes);
void write_half_codes(Warp& w, const machine::Operand& operand, bool packed, const uint16_t* codes);
// As f32, flushed where aux says so.
void read_half(const Warp& w, const machine::Operand& operand, HalfAux aux, float* values);
// Saturated or clamped, rounded to nearest even and flushed as aux says; NaN is 0x7fff.
void write_half(Warp& w, const machine::Operand& operand, HalfAux aux, const float* values);

// Rows of codes and of f32; count is a multiple of 32.
void widen(bool bf16, const uint16_t* codes, float* values, int count);
void narrow(bool bf16, const float* values, uint16_t* codes, int count);

}  // namespace ww::isa

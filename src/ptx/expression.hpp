// SPDX-License-Identifier: Apache-2.0
// Values of PTX constant expressions (manual, "Constant Expressions"): 64-bit integers, signed or
// unsigned, and f64. The grammar is in parser.cpp; the arithmetic is here.
#pragma once
#include <cstdint>

#include "ptx/lexer.hpp"

namespace ww::ptx {

struct Constant {
    bool is_real = false;
    bool is_unsigned = false;
    bool single = false;  // a lone 0f literal: bits32 is exact
    uint64_t bits = 0;    // integer, or f64 bits
    uint32_t bits32 = 0;  // real: f32 bits

    double real() const;
    bool is_true() const { return bits != 0; }
};

Constant make_integer(uint64_t bits, bool is_unsigned = false);
Constant make_real(double value);
Constant make_constant(const Token& literal);
// C's precedence, 1 (||) to 10 (* / %); 0 for what is no binary operator.
int precedence(uint16_t op);
// Both return null, or say why the operation is not allowed.
const char* apply_unary(uint16_t op, Constant& value);
const char* apply_binary(uint16_t op, Constant& left, const Constant& right);
// The second and third operand of ?: converted to one type; null or the reason.
const char* choose(const Constant& condition, Constant& yes, const Constant& no);

}  // namespace ww::ptx

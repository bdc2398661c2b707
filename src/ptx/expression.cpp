// SPDX-License-Identifier: Apache-2.0
#include "ptx/expression.hpp"

#include <bit>

namespace ww::ptx {
namespace {

const char* real_binary(uint16_t op, Constant& left, double a, double b) {
    switch (op) {
        case '+':
            left = make_real(a + b);
            return nullptr;
        case '-':
            left = make_real(a - b);
            return nullptr;
        case '*':
            left = make_real(a * b);
            return nullptr;
        case '/':
            left = make_real(a / b);
            return nullptr;
        case '<':
            left = make_integer(a < b);
            return nullptr;
        case '>':
            left = make_integer(a > b);
            return nullptr;
        case two('<', '='):
            left = make_integer(a <= b);
            return nullptr;
        case two('>', '='):
            left = make_integer(a >= b);
            return nullptr;
        case two('=', '='):
            left = make_integer(a == b);
            return nullptr;
        case two('!', '='):
            left = make_integer(a != b);
            return nullptr;
        default:
            return "this operator takes integers only";
    }
}

bool less(uint64_t a, uint64_t b, bool is_unsigned) {
    return is_unsigned ? a < b : static_cast<int64_t>(a) < static_cast<int64_t>(b);
}

uint64_t divide(uint64_t a, uint64_t b, bool is_unsigned) {
    if (is_unsigned) return a / b;
    if (b == ~uint64_t{0}) return uint64_t{0} - a;  // also the smallest integer, which wraps
    return static_cast<uint64_t>(static_cast<int64_t>(a) / static_cast<int64_t>(b));
}

// Shifts take their distance modulo 64: so does ptxas.
uint64_t shift_left(uint64_t a, uint64_t b) { return a << (b & 63); }

uint64_t shift_right(uint64_t a, uint64_t b, bool is_unsigned) {
    if (is_unsigned) return a >> (b & 63);
    return static_cast<uint64_t>(static_cast<int64_t>(a) >> (b & 63));
}

}  // namespace

double Constant::real() const { return std::bit_cast<double>(bits); }

Constant make_integer(uint64_t bits, bool is_unsigned) {
    return Constant{.is_unsigned = is_unsigned, .bits = bits};
}

Constant make_real(double value) {
    return Constant{.is_real = true,
                    .bits = std::bit_cast<uint64_t>(value),
                    .bits32 = std::bit_cast<uint32_t>(static_cast<float>(value))};
}

Constant make_constant(const Token& literal) {
    return Constant{.is_real = literal.kind == Token::Kind::real,
                    .is_unsigned = literal.is_unsigned,
                    .single = literal.single,
                    .bits = literal.bits,
                    .bits32 = literal.bits32};
}

int precedence(uint16_t op) {
    switch (op) {
        case two('|', '|'):
            return 1;
        case two('&', '&'):
            return 2;
        case '|':
            return 3;
        case '^':
            return 4;
        case '&':
            return 5;
        case two('=', '='):
        case two('!', '='):
            return 6;
        case '<':
        case '>':
        case two('<', '='):
        case two('>', '='):
            return 7;
        case two('<', '<'):
        case two('>', '>'):
            return 8;
        case '+':
        case '-':
            return 9;
        case '*':
        case '/':
        case '%':
            return 10;
        default:
            return 0;
    }
}

const char* apply_unary(uint16_t op, Constant& value) {
    if (op == '+') return nullptr;
    if (op == '-') {
        if (value.is_real) {
            value.bits ^= uint64_t{1} << 63;
            value.bits32 ^= 0x80000000u;
        } else {
            value.bits = uint64_t{0} - value.bits;
        }
        return nullptr;
    }
    if (value.is_real) return "this operator takes integers only";
    value = op == '!' ? make_integer(!value.bits) : make_integer(~value.bits, true);
    return nullptr;
}

const char* apply_binary(uint16_t op, Constant& left, const Constant& right) {
    if (left.is_real != right.is_real)
        return "an integer and a floating-point number cannot be mixed";
    if (left.is_real) return real_binary(op, left, left.real(), right.real());
    const uint64_t a = left.bits;
    const uint64_t b = right.bits;
    const bool is_unsigned = left.is_unsigned || right.is_unsigned;
    if ((op == '/' || op == '%') && b == 0) return "division by zero";
    switch (op) {
        case '+':
            left = make_integer(a + b, is_unsigned);
            break;
        case '-':
            left = make_integer(a - b, is_unsigned);
            break;
        case '*':
            left = make_integer(a * b, is_unsigned);
            break;
        case '/':
            left = make_integer(divide(a, b, is_unsigned), is_unsigned);
            break;
        case '%':
            left = make_integer(a % b);
            break;
        case '&':
            left = make_integer(a & b, is_unsigned);
            break;
        case '|':
            left = make_integer(a | b, is_unsigned);
            break;
        case '^':
            left = make_integer(a ^ b, is_unsigned);
            break;
        case two('<', '<'):
            left = make_integer(shift_left(a, b), left.is_unsigned);
            break;
        case two('>', '>'):
            left = make_integer(shift_right(a, b, left.is_unsigned), left.is_unsigned);
            break;
        case '<':
            left = make_integer(less(a, b, is_unsigned));
            break;
        case '>':
            left = make_integer(less(b, a, is_unsigned));
            break;
        case two('<', '='):
            left = make_integer(!less(b, a, is_unsigned));
            break;
        case two('>', '='):
            left = make_integer(!less(a, b, is_unsigned));
            break;
        case two('=', '='):
            left = make_integer(a == b);
            break;
        case two('!', '='):
            left = make_integer(a != b);
            break;
        case two('&', '&'):
            left = make_integer(a && b);
            break;
        case two('|', '|'):
            left = make_integer(a || b);
            break;
        default:
            return "this is no operator of constant expressions";
    }
    return nullptr;
}

const char* choose(const Constant& condition, Constant& yes, const Constant& no) {
    if (condition.is_real) return "the condition of ?: is an integer";
    if (yes.is_real != no.is_real)
        return "both sides of ?: are integers, or both floating-point numbers";
    const bool is_unsigned = yes.is_unsigned || no.is_unsigned;
    if (!condition.is_true()) yes = no;
    if (!yes.is_real) yes.is_unsigned = is_unsigned;
    return nullptr;
}

}  // namespace ww::ptx

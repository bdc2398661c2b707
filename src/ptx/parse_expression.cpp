// SPDX-License-Identifier: Apache-2.0
// Constant expressions: C's grammar and precedence, folded while it is read.
#include "ptx/parser.hpp"

namespace ww::ptx {

bool Parser::starts_expression() const {
    if (token_.kind == Token::Kind::integer || token_.kind == Token::Kind::real) return true;
    return token_.is('-') || token_.is('+') || token_.is('!') || token_.is('~') || token_.is('(') ||
           token_.is("WARP_SZ");
}

bool Parser::parse_expression(Constant& value, int depth) {
    if (!parse_binary(value, 1, depth)) return false;
    if (!token_.is('?')) return true;
    const Token question = token_;
    advance();
    Constant yes, no;
    if (!parse_expression(yes, depth + 1)) return false;
    if (!expect(':', "of the conditional operator")) return false;
    if (!parse_expression(no, depth + 1)) return false;
    if (const char* problem = choose(value, yes, no)) return error(question, problem);
    value = yes;
    return true;
}

bool Parser::parse_binary(Constant& value, int least, int depth) {
    if (!parse_unary(value, depth)) return false;
    while (token_.kind == Token::Kind::op) {
        const Token op = token_;
        const int level = precedence(op.op);
        if (level < least || level == 0) return true;
        advance();
        Constant right;
        if (!parse_binary(right, level + 1, depth + 1)) return false;
        if (const char* problem = apply_binary(op.op, value, right)) return error(op, problem);
        value.single = false;
    }
    return true;
}

bool Parser::parse_unary(Constant& value, int depth) {
    if (depth > kMaxDepth) return too_deep("this expression is");
    if (token_.kind == Token::Kind::integer || token_.kind == Token::Kind::real) {
        value = make_constant(token_);
        advance();
        return true;
    }
    if (accept("WARP_SZ")) {
        value = make_integer(32);
        return true;
    }
    if (token_.is('(')) {
        advance();
        if (token_.is(".s64") || token_.is(".u64")) {
            const Token cast = token_;
            advance();
            if (!expect(')', "after the type of a cast") || !parse_unary(value, depth + 1))
                return false;
            if (value.is_real) return error(cast, "casts take integers only");
            value.is_unsigned = cast.is(".u64");
            return true;
        }
        return parse_expression(value, depth + 1) && expect(')', "to close the parenthesis");
    }
    if (token_.is('-') || token_.is('+') || token_.is('!') || token_.is('~')) {
        const Token op = token_;
        advance();
        if (!parse_unary(value, depth + 1)) return false;
        if (const char* problem = apply_unary(op.op, value)) return error(op, problem);
        return true;
    }
    return expected("a constant");
}

// A non-negative integer expression up to a limit: sizes, counts, alignments.
bool Parser::parse_size(uint64_t& value, uint64_t limit, const char* what) {
    const Token at = token_;
    Constant constant;
    if (!parse_expression(constant)) return false;
    if (constant.is_real) return error(at, std::string(what) + " is an integer");
    if (!constant.is_unsigned && constant.bits >> 63)
        return error(at, std::string(what) + " is negative");
    if (constant.bits > limit)
        return error(at, std::string(what) + " is at most " + std::to_string(limit));
    value = constant.bits;
    return true;
}

// The "+4" or "+-4" behind a symbol, if there is any.
bool Parser::parse_addend(int64_t& addend) {
    if (token_.is('-')) return error_here("a negative offset is written +-4");
    if (!accept('+')) return true;
    const Token at = token_;
    Constant constant;
    if (!parse_expression(constant)) return false;
    if (constant.is_real) return error(at, "an address offset is an integer");
    addend = static_cast<int64_t>(static_cast<uint64_t>(addend) + constant.bits);
    return true;
}

}  // namespace ww::ptx

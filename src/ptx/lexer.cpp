// SPDX-License-Identifier: Apache-2.0
#include "ptx/lexer.hpp"

#include <array>
#include <bit>
#include <charconv>

namespace ww::ptx {
namespace {

enum : uint8_t { kSpace = 1, kStart = 2, kFollow = 4, kDigit = 8, kHex = 16 };

constexpr std::array<uint8_t, 256> make_classes() {
    std::array<uint8_t, 256> classes{};
    for (int c = 'a'; c <= 'z'; ++c) classes[c] = kStart | kFollow;
    for (int c = 'A'; c <= 'Z'; ++c) classes[c] = kStart | kFollow;
    for (int c = '0'; c <= '9'; ++c) classes[c] = kFollow | kDigit | kHex;
    for (int c = 'a'; c <= 'f'; ++c) classes[c] |= kHex;
    for (int c = 'A'; c <= 'F'; ++c) classes[c] |= kHex;
    for (char c : {'_', '$'}) classes[static_cast<uint8_t>(c)] = kStart | kFollow;
    for (char c : {' ', '\t', '\r', '\n', '\v', '\f'}) classes[static_cast<uint8_t>(c)] = kSpace;
    return classes;
}

constexpr std::array<uint8_t, 256> kClasses = make_classes();

bool is_class(char c, uint8_t wanted) { return kClasses[static_cast<uint8_t>(c)] & wanted; }

int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

}  // namespace

void append_token(std::string& text, const Token& token) {
    const bool joins = !text.empty() && is_class(text.back(), kFollow);
    if (joins && is_wordlike(token)) text += ' ';
    text += token.text;
}

Token Lexer::next() {
    Token token;
    skip_space(token);
    token.first_on_line = fresh_line_;
    fresh_line_ = false;
    const size_t begin = at_;
    if (token.kind == Token::Kind::bad) return token;
    token.place = {line_, static_cast<int>(begin - line_start_) + 1};
    if (at_ >= text_.size()) return token;
    const char c = peek();
    if (is_class(c, kStart) || (c == '%' && is_class(peek(1), kFollow)) ||
        (c == '.' && is_class(peek(1), kStart)))
        lex_word(token);
    else if (is_class(c, kDigit) || (c == '.' && is_class(peek(1), kDigit)))
        lex_number(token);
    else if (c == '"')
        lex_string(token);
    else
        lex_op(token);
    token.text = text_.substr(begin, at_ - begin);
    return token;
}

void Lexer::skip_to(size_t offset) {
    for (; at_ < offset && at_ < text_.size(); ++at_)
        if (text_[at_] == '\n') {
            ++line_;
            line_start_ = at_ + 1;
            fresh_line_ = true;
        }
}

void Lexer::skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
}

// White space, comments, and the line marks ("# 12 file") that a preprocessor leaves.
void Lexer::skip_space(Token& token) {
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (c == '\n') {
            ++at_;
            ++line_;
            line_start_ = at_;
            fresh_line_ = true;
        } else if (is_class(c, kSpace)) {
            ++at_;
        } else if (c == '/' && peek(1) == '/') {
            skip_line();
        } else if (c == '/' && peek(1) == '*') {
            const size_t close = text_.find("*/", at_ + 2);
            if (close == std::string_view::npos) {
                token.kind = Token::Kind::bad;
                token.problem = "this comment is not closed";
                token.text = text_.substr(at_, 2);
                token.place = {line_, static_cast<int>(at_ - line_start_) + 1};
                skip_to(text_.size());
                return;
            }
            skip_to(close + 2);
        } else if (c == '#' && fresh_line_ && (peek(1) == ' ' || text_.substr(at_, 5) == "#line")) {
            skip_line();
        } else {
            return;
        }
    }
}

// A directive is a dot and one name, so that ".reg.u32" is two. Other words take their dots and
// "::" with them: an opcode is one token.
void Lexer::lex_word(Token& token) {
    const bool directive = peek() == '.';
    token.kind = directive ? Token::Kind::directive : Token::Kind::word;
    ++at_;
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (is_class(c, kFollow)) {
            ++at_;
        } else if (c == '.' && !directive && is_class(peek(1), kFollow)) {
            at_ += 2;
        } else if (c == ':' && peek(1) == ':' && is_class(peek(2), kFollow)) {
            at_ += 3;
        } else {
            return;
        }
    }
}

// 0f and 0d literals: exactly 8 or 16 hexadecimal digits.
void Lexer::lex_bits(Token& token, size_t digits) {
    at_ += 2;
    size_t count = 0;
    for (; is_class(peek(), kFollow); ++at_, ++count) {
        if (!is_class(peek(), kHex)) count = 1000;
        token.bits = token.bits << 4 | static_cast<uint64_t>(digit_value(peek()) & 15);
    }
    if (count != digits) {
        token.kind = Token::Kind::bad;
        token.problem = digits == 8 ? "0f takes exactly 8 hexadecimal digits"
                                    : "0d takes exactly 16 hexadecimal digits";
        return;
    }
    token.kind = Token::Kind::real;
    if (digits == 8) {
        token.single = true;
        token.bits32 = static_cast<uint32_t>(token.bits);
        token.bits =
            std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(token.bits32)));
    } else {
        token.bits32 =
            std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(token.bits)));
    }
}

void Lexer::lex_decimal_real(Token& token) {
    double value = 0;
    const char* begin = text_.data() + at_;
    const auto parsed = std::from_chars(begin, text_.data() + text_.size(), value);
    at_ += static_cast<size_t>(parsed.ptr - begin);
    if (parsed.ec != std::errc() || is_class(peek(), kFollow)) {
        token.kind = Token::Kind::bad;
        token.problem = "this floating-point number cannot be read";
        if (parsed.ptr == begin) ++at_;
        return;
    }
    token.kind = Token::Kind::real;
    token.bits = std::bit_cast<uint64_t>(value);
    token.bits32 = std::bit_cast<uint32_t>(static_cast<float>(value));
}

void Lexer::lex_number(Token& token) {
    const char second = static_cast<char>(peek(1) | 0x20);
    if (peek() == '0' && (second == 'f' || second == 'd'))
        return lex_bits(token, second == 'f' ? 8 : 16);
    size_t end = at_;
    while (end < text_.size() && is_class(text_[end], kDigit)) ++end;
    const bool prefixed = peek() == '0' && (second == 'x' || second == 'b');
    if (!prefixed && end < text_.size() && (text_[end] == '.' || (text_[end] | 0x20) == 'e'))
        return lex_decimal_real(token);
    int base = 10;
    if (prefixed) {
        base = second == 'x' ? 16 : 2;
        at_ += 2;
    } else if (peek() == '0') {
        base = 8;
    }
    token.kind = Token::Kind::integer;
    const size_t first = at_;
    bool overflow = false;
    for (; digit_value(peek()) < base; ++at_) {
        const auto digit = static_cast<uint64_t>(digit_value(peek()));
        overflow |= __builtin_mul_overflow(token.bits, static_cast<uint64_t>(base), &token.bits);
        overflow |= __builtin_add_overflow(token.bits, digit, &token.bits);
    }
    const bool empty = at_ == first;
    token.is_unsigned = peek() == 'U' || token.bits >> 63;
    if (peek() == 'U') ++at_;
    if (overflow || empty || is_class(peek(), kFollow)) {
        token.kind = Token::Kind::bad;
        token.problem =
            overflow ? "this integer needs more than 64 bits" : "this number cannot be read";
        while (is_class(peek(), kFollow)) ++at_;
    }
}

// As for ptxas, a backslash is a character like others.
void Lexer::lex_string(Token& token) {
    token.kind = Token::Kind::string;
    for (++at_; at_ < text_.size() && text_[at_] != '\n'; ++at_)
        if (text_[at_] == '"') {
            ++at_;
            return;
        }
    token.kind = Token::Kind::bad;
    token.problem = "this string is not closed";
}

void Lexer::lex_op(Token& token) {
    const char c = peek();
    const char d = peek(1);
    const bool pair = ((c == '<' || c == '>' || c == '&' || c == '|') && d == c) ||
                      ((c == '<' || c == '>' || c == '=' || c == '!') && d == '=') ||
                      (c == '@' && d == '@');
    if (pair) {
        token.kind = Token::Kind::op;
        token.op = two(c, d);
        at_ += 2;
        return;
    }
    ++at_;
    if (std::string_view(",;:{}[]()<>|@!+-*/%&^~?=").find(c) == std::string_view::npos) {
        token.kind = Token::Kind::bad;
        token.problem = "this character has no meaning in PTX";
        while (at_ < text_.size() && static_cast<uint8_t>(text_[at_]) >= 0x80) ++at_;
        return;
    }
    token.kind = Token::Kind::op;
    token.op = static_cast<uint8_t>(c);
}

}  // namespace ww::ptx

// SPDX-License-Identifier: Apache-2.0
// PTX text to tokens, one at a time. A token keeps a view of the text; nothing is allocated.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "isa/instruction.hpp"

namespace ww::ptx {

struct Token {
    enum class Kind : uint8_t {
        end,
        word,       // identifier or opcode: "%r1", "ld.global.L2::128B.u32", "v.x"
        directive,  // ".reg": a dot and one name
        integer,    // bits, is_unsigned
        real,       // bits (f64), bits32 (f32)
        string,     // text with its quotes
        op,         // op: one or two characters, see two()
        bad         // problem says what is wrong
    };
    Kind kind = Kind::end;
    bool is_unsigned = false;
    bool single = false;  // a 0f literal: bits32 is exact
    bool first_on_line = false;
    uint16_t op = 0;
    uint32_t bits32 = 0;
    uint64_t bits = 0;
    std::string_view text;
    isa::Place place;
    const char* problem = nullptr;

    bool is(char c) const { return kind == Kind::op && op == static_cast<uint8_t>(c); }
    bool is(std::string_view name) const {
        return (kind == Kind::word || kind == Kind::directive) && text == name;
    }
};

// A name or an integer. (Not a real number: "32.b" would be one.)
inline bool is_wordlike(const Token& token) {
    return token.kind == Token::Kind::word || token.kind == Token::Kind::directive ||
           token.kind == Token::Kind::integer;
}
// Appends the token, behind a space where the two would read as one.
void append_token(std::string& text, const Token& token);

constexpr uint16_t two(char a, char b) {
    return static_cast<uint16_t>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b) << 8);
}

class Lexer {
  public:
    explicit Lexer(std::string_view text) : text_(text) {}
    Token next();
    // Byte offset just after the last token, and a jump to one: for blocks that are kept as
    // written.
    size_t offset() const { return at_; }
    void skip_to(size_t offset);

  private:
    char peek(size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }
    void skip_space(Token& token);
    void skip_line();
    void lex_word(Token& token);
    void lex_number(Token& token);
    void lex_bits(Token& token, size_t digits);
    void lex_decimal_real(Token& token);
    void lex_string(Token& token);
    void lex_op(Token& token);

    std::string_view text_;
    size_t at_ = 0;
    size_t line_start_ = 0;
    int line_ = 1;
    bool fresh_line_ = true;
};

}  // namespace ww::ptx

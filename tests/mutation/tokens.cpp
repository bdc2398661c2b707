// SPDX-License-Identifier: Apache-2.0
#include "tokens.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace ww::mutation {
namespace {

constexpr std::array<std::string_view, 19> kSigns = {"<<=", ">>=", "<<", ">>", "<=", ">=", "==",
                                                     "!=",  "&&",  "||", "::", "->", "++", "--",
                                                     "+=",  "-=",  "*=", "/=", "|="};

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

size_t end_of_number(std::string_view s, size_t at) {
    const bool hex = s.substr(at, 2) == "0x" || s.substr(at, 2) == "0X";
    size_t end = at;
    while (end < s.size()) {
        const char c = s[end], before = end > at ? s[end - 1] : '\0';
        const bool exponent = hex ? before == 'p' || before == 'P' : before == 'e' || before == 'E';
        if (in_name(c) || c == '.' || ((c == '+' || c == '-') && exponent)) ++end;
        else break;
    }
    return end;
}

size_t end_of_text(std::string_view s, size_t at) {
    for (size_t end = at + 1; end < s.size(); ++end) {
        if (s[end] == '\\') ++end;
        else if (s[end] == '"') return end + 1;
    }
    return s.size();
}

// The end of a comment or preprocessor line that starts here, or at.
size_t skipped(std::string_view s, size_t at) {
    const auto until = [&](std::string_view what) {
        const size_t found = s.find(what, at);
        return found == std::string_view::npos ? s.size() : found;
    };
    if (s.substr(at, 2) == "//" || s[at] == '#') return until("\n");
    if (s.substr(at, 2) == "/*") return std::min(s.size(), until("*/") + 2);
    return at;
}

Token next_token(std::string_view s, size_t at) {
    Token token{.begin = at};
    const char c = s[at];
    if (std::isdigit(static_cast<unsigned char>(c))) {
        token.kind = Token::Kind::number;
        token.end = end_of_number(s, at);
    } else if (in_name(c)) {
        token.kind = Token::Kind::name;
        token.end = at;
        while (token.end < s.size() && in_name(s[token.end])) ++token.end;
    } else if (c == '"') {
        token.kind = Token::Kind::text;
        token.end = end_of_text(s, at);
    } else {
        const auto sign = std::find_if(kSigns.begin(), kSigns.end(), [&](std::string_view each) {
            return s.substr(at, each.size()) == each;
        });
        token.end = at + (sign == kSigns.end() ? 1 : sign->size());
    }
    token.text = s.substr(at, token.end - at);
    token.spaced = at > 0 && is_space(s[at - 1]) && token.end < s.size() && is_space(s[token.end]);
    return token;
}

}  // namespace

std::vector<Token> tokens_of(std::string_view s) {
    std::vector<Token> out;
    int line = 1;
    for (size_t at = 0; at < s.size();) {
        const size_t behind = skipped(s, at);
        if (behind > at || is_space(s[at])) {
            const size_t end = behind > at ? behind : at + 1;
            line += static_cast<int>(std::count(s.begin() + static_cast<long>(at),
                                                s.begin() + static_cast<long>(end), '\n'));
            at = end;
            continue;
        }
        Token token = next_token(s, at);
        token.line = line;
        out.push_back(token);
        at = token.end;
    }
    return out;
}

std::string_view line_at(std::string_view s, size_t at) {
    const size_t before = at == 0 ? std::string_view::npos : s.rfind('\n', at - 1);
    const size_t begin = before == std::string_view::npos ? 0 : before + 1;
    return s.substr(begin, std::min(s.find('\n', at), s.size()) - begin);
}

std::vector<std::pair<size_t, size_t>> unused_functions(std::string_view source,
                                                        const std::vector<std::string_view>& texts) {
    constexpr std::string_view kMark = "__device__ __forceinline__";
    struct Function {
        std::string_view name;
        size_t begin, end;
    };
    std::vector<Function> functions;
    for (size_t at = source.find(kMark); at != source.npos; at = source.find(kMark, at + 1)) {
        Function made{{}, at, source.find("\n}", at)};
        const size_t open = source.find('(', at + kMark.size());
        if (made.end == source.npos || open > made.end) continue;
        for (const Token& token : tokens_of(source.substr(at, open - at)))
            if (token.kind == Token::Kind::name)
                made.name = token.text;
        functions.push_back(made);
    }
    const auto occurs = [](std::string_view text, std::string_view name, size_t begin, size_t end) {
        for (const Token& token : tokens_of(text))
            if (token.text == name && (token.begin < begin || token.begin >= end)) return true;
        return false;
    };
    std::vector<std::pair<size_t, size_t>> out;
    for (const Function& each : functions) {
        bool used = occurs(source, each.name, each.begin, each.end);
        for (const std::string_view text : texts) used |= occurs(text, each.name, 0, 0);
        if (!used) out.emplace_back(each.begin, each.end);
    }
    return out;
}

}  // namespace ww::mutation

// SPDX-License-Identifier: Apache-2.0
// Tokens, errors, recovery and scopes of the parser.
#include "ptx/parser.hpp"

#include "base/text.hpp"

namespace ww::ptx {
namespace {

constexpr size_t kMaxSourceLine = 240;  // longer lines are shown without a caret

std::string line_at(std::string_view text, size_t offset, int col) {
    const size_t begin = offset - static_cast<size_t>(col - 1);
    size_t end = begin;
    while (end < text.size() && text[end] != '\n' && end - begin <= kMaxSourceLine) ++end;
    if (end - begin > kMaxSourceLine) return {};
    if (end > begin && text[end - 1] == '\r') --end;
    return std::string(text.substr(begin, end - begin));
}

bool starts_statement(const Token& token) {
    if (token.kind == Token::Kind::end || token.kind == Token::Kind::directive) return true;
    if (token.is('}') || token.is('{') || token.is('@')) return true;
    return token.kind == Token::Kind::word && token.text[0] != '%' &&
           token.text.find('.') != std::string_view::npos;
}

}  // namespace

Parser::Parser(std::string_view text, std::string_view name) : text_(text), lexer_(text) {
    module_.name = std::string(name);
    module_.text = std::string(text);
}

Result<Module> Parser::run() {
    scopes_.emplace_back();
    advance();
    while (token_.kind != Token::Kind::end && errors_.size() < kMaxErrors && !stop_)
        parse_module_statement();
    if (errors_.empty() && (module_.version.empty() || module_.targets.empty()))
        error_here("a PTX module starts with .version and .target");
    if (!errors_.empty()) return fail(std::move(errors_));
    return std::move(module_);
}

void Parser::advance() {
    previous_ = token_;
    previous_end_ = lexer_.offset();
    token_ = lexer_.next();
}

bool Parser::accept(char c) {
    if (!token_.is(c)) return false;
    advance();
    return true;
}

bool Parser::accept(std::string_view name) {
    if (!token_.is(name)) return false;
    advance();
    return true;
}

bool Parser::expect(char c, const char* after) {
    if (accept(c)) return true;
    const std::string what = std::string("'") + c + "' " + after;
    if (token_.kind == Token::Kind::bad || !token_.first_on_line || previous_.text.empty())
        return expected(what);
    return error(after_previous(), "expected " + what);
}

bool Parser::expected(std::string_view what) {
    std::string message = "expected " + std::string(what);
    if (token_.kind == Token::Kind::end)
        message += ", but the text ends";
    else if (token_.kind != Token::Kind::bad)
        message += ", not '" + std::string(token_.text.substr(0, 60)) + "'";
    return error_here(std::move(message));
}

bool Parser::too_deep(std::string_view what) {
    stop_ = true;
    return error_here(std::string(what) + " nested too deeply");
}

// Where something is missing at the end of a line: just behind the last token.
Token Parser::after_previous() const {
    Token at = previous_;
    at.place.col += static_cast<int>(previous_.text.size());
    at.text = text_.substr(previous_end_, 0);
    return at;
}

bool Parser::error(const Token& at, std::string message) {
    if (errors_.size() >= kMaxErrors) return false;
    if (at.kind == Token::Kind::bad) message = at.problem;
    const size_t offset =
        at.text.data() ? static_cast<size_t>(at.text.data() - text_.data()) : text_.size();
    errors_.push_back({.severity = Severity::error,
                       .file = module_.name,
                       .line = at.place.line,
                       .col = at.place.col,
                       .message = std::move(message),
                       .source_line = line_at(text_, offset, at.place.col)});
    if (errors_.size() == kMaxErrors)
        errors_.back().message += " (too many errors; the rest is not read)";
    return false;
}

// Behind the next ';', or at a line that starts a statement.
void Parser::recover() {
    while (!accept(';')) {
        if (token_.first_on_line && starts_statement(token_)) return;
        if (token_.kind == Token::Kind::end) return;
        if (token_.is('}') && open_braces_-- <= 0) return;
        advance();
    }
}

bool Parser::declare(const Token& name) {
    Scope& scope = scopes_.back();
    const auto [entry, added] = scope.names.emplace(name.text, name.place);
    if (!added)
        return error(name, "'" + std::string(name.text) +
                               "' is already declared in this scope, in line " +
                               std::to_string(entry->second.line));
    const size_t last = name.text.find_last_not_of("0123456789");
    if (last == std::string_view::npos || last + 1 == name.text.size() ||
        name.text.size() - last > 9)
        return true;
    const auto range = scope.range_sizes.find(name.text.substr(0, last + 1));
    if (range == scope.range_sizes.end()) return true;
    if (std::stoull(std::string(name.text.substr(last + 1))) >= range->second) return true;
    return error(name, "'" + std::string(name.text) +
                           "' is already declared in this scope, as one of " +
                           std::string(range->first) + "<" + std::to_string(range->second) + ">");
}

bool Parser::declare_range(const Token& name, uint64_t size) {
    Scope& scope = scopes_.back();
    const auto [entry, added] = scope.ranges.emplace(name.text, name.place);
    scope.range_sizes[name.text] = size;
    if (added) return true;
    return error(name, "'" + std::string(name.text) +
                           "<...>' is already declared in this scope, in line " +
                           std::to_string(entry->second.line));
}

Result<Module> parse(std::string_view text, std::string_view name) {
    return Parser(text, name).run();
}

}  // namespace ww::ptx

// SPDX-License-Identifier: Apache-2.0
#include "source_edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "tokens.hpp"

namespace ww::mutation {
namespace {

using Names = std::vector<std::string_view>;
struct Replacement {
    std::string_view from;
    Names to;
};

const std::vector<Replacement> kComparisons = {{"==", {"!="}}, {"!=", {"=="}}, {"<", {">", ">="}},
                                               {">", {"<"}},   {"<=", {">="}}, {">=", {"<"}},
                                               {"&&", {"||"}}, {"||", {"&&"}}};
const std::vector<Replacement> kOperators = {
    {"+", {"-"}},  {"-", {"+"}},    {"*", {"+"}},    {"/", {"*", "%"}}, {"%", {"/"}},
    {">>", {"<<"}}, {"<<", {">>"}}, {"+=", {"-="}}, {">>=", {"<<="}}};
const std::vector<Replacement> kWrappers = {{"add_rn_f32", {"sub_rn_f32", "mul_rn_f32"}},
                                            {"sub_rn_f32", {"add_rn_f32"}},
                                            {"mul_rn_f32", {"add_rn_f32"}},
                                            {"max_f32", {"add_rn_f32"}},
                                            {"max_NaN_f32", {"add_rn_f32"}},
                                            {"div_rn_f32", {"mul_rn_f32"}}};
// In the text of an asm statement.
const std::vector<Replacement> kAsmOpcodes = {
    {"add.rn", {"sub.rn", "add.rz"}}, {"sub.rn", {"add.rn"}}, {"mul.rn", {"add.rn", "mul.rz"}},
    {"fma.rn", {"fma.rz"}},           {"rcp.rn", {"sqrt.rn"}}, {"max.f32", {"min.f32"}},
    {"cvt.rn.bf16", {"cvt.rz.bf16"}},
    {"max.NaN.f32", {"min.NaN.f32"}}, {"abs.f32", {"neg.f32"}}, {"div.rn", {"div.rz"}},
    {"ex2.approx.ftz", {"lg2.approx.ftz"}}, {"cvt.rn.f16.f32", {"cvt.rz.f16.f32"}}};
const std::vector<Replacement> kAsmLanes = {{"sync.bfly", {"sync.up", "sync.down", "sync.idx"}},
                                            {"0x1f", {"0x0f", "0x1e"}},
                                            {"0xffffffff", {"0x7fffffff"}}};
// A statement that begins with one of these is a declaration or control flow: not dropped.
const std::set<std::string_view> kKept = {
    "const",  "constexpr", "float", "unsigned", "int",   "using",  "return", "struct",   "static",
    "Step",   "Params",    "size_t", "alignas", "template", "if", "for",     "namespace", "extern",
    "else",   "__shared__", "__device__", "Bf16", "Smem",
    "T",      "Place",     "Quantized", "QueryFragments", "RowState", "Probabilities", "uint2", "enum"};
const std::set<std::string_view> kWords = {"return", "const", "unsigned", "float", "int", "for",
                                           "if", "long", "static_cast", "reinterpret_cast", "asm",
                                           "volatile", "void", "size_t", "sizeof"};

class Finder {
  public:
    explicit Finder(std::string_view source) : source_(source), tokens_(tokens_of(source)) {}

    std::vector<Edit> run() {
        int condition = 0;  // parentheses of a for or an if that are open
        for (size_t i = 0; i < tokens_.size(); ++i) {
            const Token& token = tokens_[i];
            const bool opens = token.text == "(";
            if (opens && (condition > 0 || (i > 0 && (is(i - 1, "for") || is(i - 1, "if"))))) ++condition;
            if (token.text == ")" && condition > 0) --condition;
            in_condition_ = condition > 0;
            if (token.kind == Token::Kind::number) number(token);
            if (token.kind == Token::Kind::text) asm_text(token);
            if (token.kind == Token::Kind::sign && token.spaced) sign(i);
            if (token.kind == Token::Kind::name) name(i);
            if (starts_statement(i)) statement(i);
        }
        return std::move(edits_);
    }

  private:
    bool is(size_t i, std::string_view text) const {
        return i < tokens_.size() && tokens_[i].text == text;
    }
    bool is_operand(size_t i) const {
        return i < tokens_.size() &&
               (tokens_[i].kind == Token::Kind::number ||
                (tokens_[i].kind == Token::Kind::name && !kWords.count(tokens_[i].text)));
    }
    std::string_view between(size_t begin, size_t end) const {
        return source_.substr(begin, end - begin);
    }
    void add(Kind kind, size_t begin, size_t end, std::string replacement, int line) {
        edits_.push_back(Edit{kind, begin, end, std::move(replacement), line, in_condition_});
    }
    void replace(Kind kind, const Token& token, std::string replacement) {
        add(kind, token.begin, token.end, std::move(replacement), token.line);
    }
    void table(Kind kind, const Token& token, const std::vector<Replacement>& rows) {
        for (const Replacement& row : rows)
            if (row.from == token.text)
                for (const std::string_view to : row.to) replace(kind, token, std::string(to));
    }

    // Numbers on lines about lanes make the wrong lane, others a changed constant.
    bool about_lanes(const Token& token) const {
        const std::string_view line = line_at(source_, token.begin);
        return line.find("shfl") != line.npos || line.find("mask") != line.npos ||
               line.find("threadIdx") != line.npos;
    }

    void number(const Token& token) {
        const Kind kind = about_lanes(token) ? Kind::lane : Kind::constant;
        const std::string text(token.text);
        const bool real = text.find('.') != text.npos || (text.find('p') != text.npos);
        if (real) {
            for (const char* by : {" * 1.5f", " * 1.001f", " * -1.0f"})
                replace(kind, token, "(" + text + by + ")");
            return;
        }
        char* end = nullptr;
        const unsigned long long value = std::strtoull(text.c_str(), &end, 0);
        const std::string suffix = end;
        std::set<unsigned long long> values = {value + 1, value * 2, value > 0 ? value - 1 : 2};
        if (text.starts_with("0x")) values = {value ^ 1, value ^ (value >> 1), value ^ 0x10000};
        values.erase(value);
        for (const unsigned long long each : values)
            replace(kind, token,
                    text.starts_with("0x") ? fmt::format("{:#x}{}", each, suffix)
                                           : fmt::format("{}{}", each, suffix));
    }

    void asm_text(const Token& token) {
        const auto inside = [&](Kind kind, const std::vector<Replacement>& rows) {
            for (const Replacement& row : rows) {
                const size_t at = token.text.find(row.from);
                if (at == std::string_view::npos) continue;
                for (const std::string_view to : row.to)
                    add(kind, token.begin + at, token.begin + at + row.from.size(), std::string(to),
                        token.line);
            }
        };
        inside(Kind::opcode, kAsmOpcodes);
        if (token.text.find("shfl") != token.text.npos) inside(Kind::lane, kAsmLanes);
    }

    void sign(size_t i) {
        const Token& token = tokens_[i];
        table(Kind::comparison, token, kComparisons);
        table(Kind::opcode, token, kOperators);
        const bool order = token.text == "<" || token.text == ">" || token.text == "<=" ||
                           token.text == ">=";
        if (order) bound(i);
        const bool fixed_order = token.text == "-" || token.text == "/" || token.text == "%";
        // a - b -> b - a, where both are single tokens.
        if (fixed_order && i > 0 && is_operand(i - 1) && is_operand(i + 1) && !is(i + 2, "(") &&
            !is(i + 2, "::") && !is(i - 2, ".") && !is(i + 2, ".")) {
            const Token &a = tokens_[i - 1], &b = tokens_[i + 1];
            add(Kind::operand, a.begin, b.end, fmt::format("{} {} {}", b.text, token.text, a.text),
                a.line);
        }
    }

    void bound(size_t i) {
        const Token& token = tokens_[i];
        const bool has_equal = token.text.size() == 2;
        replace(Kind::bound, token, has_equal ? std::string(1, token.text[0]) : std::string(token.text) + "=");
        if (!is_operand(i + 1) || is(i + 2, "(")) return;
        size_t last = i + 1;  // a.b.c
        while (is(last + 1, ".") && is_operand(last + 2)) last += 2;
        const std::string_view right = between(tokens_[i + 1].begin, tokens_[last].end);
        for (const char* by : {" + 1", " - 1"})
            add(Kind::bound, tokens_[i + 1].begin, tokens_[last].end, fmt::format("({}{})", right, by),
                token.line);
    }

    void name(size_t i) {
        const Token& token = tokens_[i];
        if (i > 0 && tokens_[i - 1].text == "::") table(Kind::opcode, token, kWrappers);
        if (token.text == "threadIdx" && is(i + 2, "x")) {
            for (const char* by : {" ^ 1", " + 1"})
                add(Kind::lane, token.begin, tokens_[i + 2].end, fmt::format("(threadIdx.x{})", by),
                    token.line);
        }
        const bool declares = i > 0 && (tokens_[i - 1].kind == Token::Kind::name
                                            ? tokens_[i - 1].text != "return"
                                            : is(i - 1, "*") || is(i - 1, ">"));
        if (is(i + 1, "(") && !kWords.count(token.text) && !declares) arguments(i + 1);
        if (!declares && is_operand(i) && !is(i + 1, "(") && !is(i + 1, "::") && !is(i - 1, ".") &&
            !is(i + 1, "."))
            other_name(i);
    }

    // f(a, b) -> f(b, a), for each pair of neighbours.
    void arguments(size_t open) {
        std::vector<std::pair<size_t, size_t>> items;  // begin and end in the source
        int depth = 0;
        size_t first = open + 1;
        for (size_t i = open; i < tokens_.size(); ++i) {
            const std::string_view text = tokens_[i].text;
            const bool closes = text == ")" || text == "]" || text == "}";
            if (text == "(" || text == "[" || text == "{") ++depth;
            if (closes) --depth;
            const bool ends = (closes && depth == 0) || (text == "," && depth == 1);
            if (ends && i > first)
                items.emplace_back(tokens_[first].begin, tokens_[i - 1].end);
            if (ends) first = i + 1;
            if (closes && depth == 0) break;
        }
        for (size_t k = 0; k + 1 < items.size(); ++k) {
            const auto [a, a_end] = items[k];
            const auto [b, b_end] = items[k + 1];
            if (between(a, a_end) == between(b, b_end)) continue;
            add(Kind::operand, a, b_end,
                fmt::format("{}{}{}", between(b, b_end), between(a_end, b), between(a, a_end)),
                tokens_[open].line);
        }
    }

    // Another name of the same statement in its place.
    void other_name(size_t i) {
        const auto ends = [&](size_t k) { return is(k, ";") || is(k, "{") || is(k, "}"); };
        size_t from = i, to = i;
        while (from > 0 && !ends(from - 1)) --from;
        while (to + 1 < tokens_.size() && !ends(to + 1)) ++to;
        std::set<std::string_view> tried = {tokens_[i].text};
        for (size_t k = from; k <= to; ++k) {
            const bool plain = is_operand(k) && tokens_[k].kind == Token::Kind::name &&
                               !is(k + 1, "(") && !is(k + 1, "::") && (k == 0 || !is(k - 1, ".")) &&
                               !is(k + 1, ".") && (k == 0 || !is(k - 1, "::"));
            if (plain && std::islower(static_cast<unsigned char>(tokens_[k].text[0])) &&
                tried.insert(tokens_[k].text).second)
                replace(Kind::operand, tokens_[i], std::string(tokens_[k].text));
        }
    }

    bool starts_statement(size_t i) const {
        if (i == 0) return false;
        const std::string_view before = tokens_[i - 1].text;
        const bool after_control = before == ")" && tokens_[i].line > tokens_[i - 1].line;
        const bool same_line = before == ")" && tokens_[i].kind == Token::Kind::name;
        return before == ";" || before == "{" || before == "}" || after_control || same_line;
    }

    void statement(size_t i) {
        const Token& first = tokens_[i];
        const bool is_name = first.kind == Token::Kind::name;
        if (!is_name || (kKept.count(first.text) && first.text != "asm")) return;
        int depth = 0;
        size_t last = i;
        for (; last < tokens_.size(); ++last) {
            const std::string_view text = tokens_[last].text;
            if (text == "{" || text == "}") return;
            if (text == "(") ++depth;
            if (text == ")" && --depth < 0) return;  // a part of a for (...)
            if (text == ";" && depth == 0) break;
        }
        if (last >= tokens_.size()) return;
        const std::string_view text = between(first.begin, tokens_[last].end);
        std::string empty = ";";
        empty.append(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')), '\n');
        const bool orders = text.find("bar") != text.npos || text.find("_group") != text.npos;
        add(orders ? Kind::barrier : Kind::dropped, first.begin, tokens_[last].end, std::move(empty),
            first.line);
    }

    std::string_view source_;
    std::vector<Token> tokens_;
    std::vector<Edit> edits_;
    bool in_condition_ = false;
};

}  // namespace

std::vector<Edit> source_edits(std::string_view source) { return Finder(source).run(); }

std::string applied(std::string_view source, const Edit& edit) {
    std::string out(source.substr(0, edit.begin));
    out += edit.replacement;
    out += source.substr(edit.end);
    return out;
}

}  // namespace ww::mutation

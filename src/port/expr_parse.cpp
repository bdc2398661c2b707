// SPDX-License-Identifier: Apache-2.0
// Expr::parse: recursive descent over the text, straight to postfix steps.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "base/text.hpp"
#include "port/expr.hpp"

namespace ww::port {
namespace {

using Op = Expr::Op;
using Kind = Expr::Kind;
using Step = Expr::Step;

constexpr size_t kMaxText = 4096;
constexpr int kMaxDepth = 64;

struct Operator {
    std::string_view text;
    Op op;
    int level;  // 0 binds loosest
    bool real;  // also in real expressions
};
// Longer spellings before their prefixes.
constexpr Operator kOperators[] = {
    {"||", Op::logical_or, 0, false}, {"&&", Op::logical_and, 1, false},
    {"==", Op::equal, 2, false},      {"!=", Op::not_equal, 2, false},
    {"<=", Op::less_equal, 2, false}, {">=", Op::greater_equal, 2, false},
    {"<", Op::less, 2, false},        {">", Op::greater, 2, false},
    {"+", Op::add, 3, true},          {"-", Op::subtract, 3, true},
    {"*", Op::multiply, 4, true},     {"/", Op::divide, 4, true},
    {"%", Op::remainder, 4, false},
};
constexpr int kLevels = 5;

struct Function {
    std::string_view name;
    Op op;
    int min_arguments, max_arguments;
    bool integer, real;
};
constexpr Function kFunctions[] = {
    {"ceil_div", Op::ceil_div, 2, 2, true, false},
    {"min", Op::minimum, 2, 64, true, true},
    {"max", Op::maximum, 2, 64, true, true},
    {"sqrt", Op::square_root, 1, 1, false, true},
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<double> constant_named(std::string_view name) {
    if (name == "log2e") return 1.4426950408889634;
    if (name == "ln2") return 0.6931471805599453;
    if (name == "pi") return 3.141592653589793;
    return std::nullopt;
}

class Parser {
  public:
    Parser(std::string_view text, Kind kind) : text_(text), kind_(kind) {}

    bool parse() {
        if (text_.size() > kMaxText) return wrong(0, "an expression of more than 4096 characters");
        skip();
        if (at_ == text_.size()) return wrong(0, "an empty expression");
        if (!level(0)) return false;
        if (at_ == text_.size()) return true;
        if (text_[at_] == ')') return wrong(at_, "a ')' that closes nothing");
        return wrong(at_, fmt::format("unexpected '{}' after an expression", shown()));
    }

    std::vector<Step> steps;
    std::string message;
    size_t message_at = 0;

  private:
    bool wrong(size_t at, std::string text) {
        message = std::move(text);
        message_at = at;
        return false;
    }
    void skip() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    }
    // The character at hand, in a form that fits a message.
    std::string shown() const {
        const auto c = static_cast<unsigned char>(text_[at_]);
        return c >= 0x20 && c < 0x7f ? std::string(1, text_[at_]) : fmt::format("\\x{:02x}", c);
    }
    void emit(Op op, size_t at) {
        steps.push_back(Step{.op = op, .at = static_cast<uint32_t>(at)});
    }

    const Operator* operator_at(int wanted) {
        for (const Operator& candidate : kOperators)
            if (text_.substr(at_).starts_with(candidate.text))
                return candidate.level == wanted ? &candidate : nullptr;
        return nullptr;
    }

    bool level(int wanted) {
        if (wanted == kLevels) return unary();
        if (!level(wanted + 1)) return false;
        bool compared = false;
        while (const Operator* found = operator_at(wanted)) {
            const size_t at = at_;
            if (kind_ == Kind::real && !found->real)
                return wrong(at,
                             fmt::format("'{}' has no meaning in a real expression", found->text));
            if (compared) return wrong(at, "comparisons do not chain; join two with &&");
            at_ += found->text.size();
            skip();
            if (!level(wanted + 1)) return false;
            emit(found->op, at);
            compared = wanted == 2;
        }
        return true;
    }

    bool unary() {
        const size_t at = at_;
        if (++depth_ > kMaxDepth) return wrong(at, "an expression nested more than 64 deep");
        bool good = false;
        if (at_ < text_.size() && text_[at_] == '-') {
            ++at_;
            skip();
            good = unary();
            if (good) emit(Op::negate, at);
        } else if (at_ < text_.size() && text_[at_] == '!' && kind_ == Kind::integer) {
            ++at_;
            skip();
            good = unary();
            if (good) emit(Op::logical_not, at);
        } else {
            good = primary();
        }
        --depth_;
        return good;
    }

    bool primary() {
        if (at_ == text_.size()) return wrong(at_, "the expression ends too early");
        const char c = text_[at_];
        if (c == '(') {
            const size_t open = at_++;
            skip();
            return level(0) && close(open);
        }
        if (is_digit(c) || (c == '.' && kind_ == Kind::real)) return number();
        if (is_letter(c)) return name();
        return wrong(at_, fmt::format("unexpected '{}'", shown()));
    }

    bool close(size_t open) {
        if (at_ == text_.size() || text_[at_] != ')') {
            if (at_ == text_.size()) return wrong(open, "a '(' without its ')'");
            return wrong(at_, fmt::format("unexpected '{}', a ')' was due", shown()));
        }
        ++at_;
        skip();
        return true;
    }

    bool number() {
        const size_t at = at_;
        const char* first = text_.data() + at_;
        const char* last = text_.data() + text_.size();
        Step step{.op = Op::push, .at = static_cast<uint32_t>(at)};
        std::from_chars_result end{};
        if (kind_ == Kind::real) {
            step.op = Op::push_real;
            end = std::from_chars(first, last, step.real);
        } else {
            end = std::from_chars(first, last, step.integer);
        }
        if (end.ec == std::errc::result_out_of_range)
            return wrong(at, "a number outside the range of its type");
        if (end.ec != std::errc{}) return wrong(at, fmt::format("unexpected '{}'", shown()));
        at_ += static_cast<size_t>(end.ptr - first);
        if (at_ < text_.size() && text_[at_] == '.')
            return wrong(at_, "a fraction where an integer is due");
        if (at_ < text_.size() && is_letter(text_[at_]))
            return wrong(at_, "a letter right behind a number; write '*' to multiply");
        steps.push_back(std::move(step));
        skip();
        return true;
    }

    bool name() {
        const size_t at = at_;
        while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
        const std::string_view word = text_.substr(at, at_ - at);
        skip();
        if (at_ < text_.size() && text_[at_] == '(') return call(word, at);
        const auto constant = constant_named(word);
        if (constant && kind_ == Kind::real)
            steps.push_back(
                Step{.op = Op::push_real, .at = static_cast<uint32_t>(at), .real = *constant});
        else
            steps.push_back(
                Step{.op = Op::load, .at = static_cast<uint32_t>(at), .name = std::string(word)});
        return true;
    }

    bool call(std::string_view word, size_t at) {
        const bool real = kind_ == Kind::real;
        const Function* found = nullptr;
        std::vector<std::string> known;
        for (const Function& function : kFunctions) {
            if (!(real ? function.real : function.integer)) continue;
            known.emplace_back(function.name);
            if (function.name == word) found = &function;
        }
        if (!found)
            return wrong(
                at, fmt::format("unknown function '{}'; there are {}", word, join(known, ", ")));
        const size_t open = at_++;
        skip();
        int count = 0;
        while (true) {
            if (!level(0)) return false;
            if (++count > found->max_arguments) break;
            if (count >= 2) emit(found->op, at);
            if (at_ == text_.size() || text_[at_] != ',') break;
            ++at_;
            skip();
        }
        if (count < found->min_arguments || count > found->max_arguments)
            return wrong(at, fmt::format("{} takes {}{} argument{}", word, found->min_arguments,
                                         found->max_arguments > 2 ? " or more" : "",
                                         found->max_arguments == 1 ? "" : "s"));
        if (found->max_arguments == 1) emit(found->op, at);
        return close(open);
    }

    std::string_view text_;
    Kind kind_;
    size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

Result<Expr> Expr::parse(std::string_view text, Kind kind, Place place) {
    Parser parser(text, kind);
    if (!parser.parse()) return fail(place.right(parser.message_at).error(parser.message));
    Expr expr;
    expr.kind_ = kind;
    expr.steps_ = std::move(parser.steps);
    expr.text_ = std::string(text);
    expr.place_ = std::move(place);
    return expr;
}

}  // namespace ww::port

// SPDX-License-Identifier: Apache-2.0
// Evaluation of expressions; expr_parse.cpp reads them.
#include "port/expr.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "port/suggest.hpp"

namespace ww::port {
namespace {

using Op = Expr::Op;

int64_t floor_divide(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// What is wrong with a division, or nullptr.
const char* division_fault(int64_t a, int64_t b) {
    if (b == 0) return "division by zero";
    if (a == std::numeric_limits<int64_t>::min() && b == -1) return "overflow of a 64-bit integer";
    return nullptr;
}

// out = a op b; the text of what is wrong, or nullptr.
const char* apply(Op op, int64_t a, int64_t b, int64_t& out) {
    constexpr const char* kOverflow = "overflow of a 64-bit integer";
    switch (op) {
        case Op::add:
            return __builtin_add_overflow(a, b, &out) ? kOverflow : nullptr;
        case Op::subtract:
            return __builtin_sub_overflow(a, b, &out) ? kOverflow : nullptr;
        case Op::multiply:
            return __builtin_mul_overflow(a, b, &out) ? kOverflow : nullptr;
        case Op::divide:
        case Op::remainder:
        case Op::ceil_div:
            if (const char* fault = division_fault(a, b)) return fault;
            out = floor_divide(a, b);
            if (op == Op::remainder) out = a - out * b;
            if (op == Op::ceil_div && a % b != 0) ++out;
            return nullptr;
        case Op::equal:
            out = a == b;
            return nullptr;
        case Op::not_equal:
            out = a != b;
            return nullptr;
        case Op::less:
            out = a < b;
            return nullptr;
        case Op::less_equal:
            out = a <= b;
            return nullptr;
        case Op::greater:
            out = a > b;
            return nullptr;
        case Op::greater_equal:
            out = a >= b;
            return nullptr;
        case Op::logical_and:
            out = a != 0 && b != 0;
            return nullptr;
        case Op::logical_or:
            out = a != 0 || b != 0;
            return nullptr;
        case Op::minimum:
            out = a < b ? a : b;
            return nullptr;
        case Op::maximum:
            out = a > b ? a : b;
            return nullptr;
        default:
            return "internal: not a binary operation";
    }
}

double apply_real(Op op, double a, double b) {
    switch (op) {
        case Op::add:
            return a + b;
        case Op::subtract:
            return a - b;
        case Op::multiply:
            return a * b;
        case Op::divide:
            return a / b;
        case Op::minimum:
            return a < b ? a : b;
        case Op::maximum:
            return a > b ? a : b;
        default:
            check_failed("apply_real", __FILE__, __LINE__, "operation without a real meaning");
    }
}

std::string unknown_name(const std::string& name, std::span<const std::string> known) {
    return fmt::format("unknown name '{}'{}", shown(name), suggestion(name, known));
}

template <class Map>
std::vector<std::string> keys(const Map& map) {
    std::vector<std::string> out;
    for (const auto& entry : map) out.push_back(entry.first);
    return out;
}

bool is_binary(Op op) { return op >= Op::add && op != Op::square_root; }

}  // namespace

Expr Expr::constant(int64_t value, Place place) {
    Expr expr;
    expr.steps_[0].integer = value;
    expr.text_ = fmt::format("{}", value);
    expr.place_ = std::move(place);
    return expr;
}

Expr Expr::real_constant(double value, Place place) {
    Expr expr;
    expr.kind_ = Kind::real;
    expr.steps_[0].op = Op::push_real;
    expr.steps_[0].real = value;
    expr.text_ = fmt::format("{}", value);
    expr.place_ = std::move(place);
    return expr;
}

Result<int64_t> Expr::eval(const Axes& names) const {
    WW_CHECK(kind_ == Kind::integer, "a real expression evaluated as an integer: " + text_);
    std::vector<int64_t> stack;
    const auto wrong = [&](const Step& step, const std::string& what) {
        return fail(place_.right(step.at).error(fmt::format("{} in '{}'", what, text_)));
    };
    for (const Step& step : steps_) {
        if (step.op == Op::push) {
            stack.push_back(step.integer);
        } else if (step.op == Op::load) {
            const auto found = names.find(step.name);
            if (found == names.end()) return wrong(step, unknown_name(step.name, keys(names)));
            stack.push_back(found->second);
        } else if (step.op == Op::logical_not) {
            stack.back() = stack.back() == 0;
        } else if (step.op == Op::negate) {
            if (__builtin_sub_overflow(int64_t{0}, stack.back(), &stack.back()))
                return wrong(step, "overflow of a 64-bit integer");
        } else {
            WW_CHECK(is_binary(step.op) && stack.size() >= 2, "malformed program of " + text_);
            const int64_t b = stack.back();
            stack.pop_back();
            if (const char* fault = apply(step.op, stack.back(), b, stack.back()))
                return wrong(step, fault);
        }
    }
    return stack.back();
}

Result<int64_t> Expr::eval_between(const Axes& names, int64_t low, int64_t high,
                                   std::string_view what) const {
    WW_TRY(value, eval(names));
    if (value >= low && value <= high) return value;
    const std::string bound =
        value < low ? fmt::format("at least {}", low) : fmt::format("at most {}", high);
    const std::string number = fmt::format("{}", value);
    const std::string found = text_ == number ? number : fmt::format("'{}' = {}", text_, value);
    return fail(place_.error(fmt::format("{} must be {}, not {}", what, bound, found)));
}

Result<double> Expr::eval_real(const Scope& scope) const {
    if (kind_ == Kind::integer) {
        WW_TRY(value, eval(scope.integers));
        return static_cast<double>(value);
    }
    std::vector<double> stack;
    for (const Step& step : steps_) {
        if (step.op == Op::push_real) {
            stack.push_back(step.real);
        } else if (step.op == Op::load) {
            const auto real = scope.reals.find(step.name);
            const auto integer = scope.integers.find(step.name);
            if (real != scope.reals.end()) {
                stack.push_back(real->second);
            } else if (integer != scope.integers.end()) {
                stack.push_back(static_cast<double>(integer->second));
            } else {
                std::vector<std::string> known = keys(scope.reals);
                for (std::string& key : keys(scope.integers)) known.push_back(std::move(key));
                return fail(place_.right(step.at).error(
                    fmt::format("{} in '{}'", unknown_name(step.name, known), text_)));
            }
        } else if (step.op == Op::negate) {
            stack.back() = -stack.back();
        } else if (step.op == Op::square_root) {
            stack.back() = std::sqrt(stack.back());
        } else {
            WW_CHECK(is_binary(step.op) && stack.size() >= 2, "malformed program of " + text_);
            const double b = stack.back();
            stack.pop_back();
            stack.back() = apply_real(step.op, stack.back(), b);
        }
        // A literal may be infinite (a mask value, say); a computation may not become so.
        if (!std::isfinite(stack.back()) && step.op != Op::push_real && step.op != Op::load)
            return fail(
                place_.right(step.at).error(fmt::format("'{}' has no finite value here", text_)));
    }
    return stack.back();
}

Diagnostics Expr::unknown_names(std::span<const std::string> known) const {
    Diagnostics out;
    for (const Step& step : steps_) {
        if (step.op != Op::load) continue;
        bool found = false;
        for (const std::string& name : known) found = found || name == step.name;
        if (!found) out.push_back(place_.right(step.at).error(unknown_name(step.name, known)));
    }
    return out;
}

std::vector<std::string> Expr::names() const {
    std::vector<std::string> out;
    for (const Step& step : steps_)
        if (step.op == Op::load) out.push_back(step.name);
    return out;
}

bool Expr::is_constant() const { return names().empty(); }

}  // namespace ww::port

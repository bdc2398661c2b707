// SPDX-License-Identifier: Apache-2.0
// Expressions of port.toml. Integer ones are checked signed 64-bit: an overflow or a division by
// zero is a diagnostic, never a wrapped value. Real ones (values of float scalars) are doubles and
// offer only operations that IEEE 754 rounds exactly, so every machine computes the same bits.
//   integer: literals, names, + - * / % ( ), == != < <= > >=, && || !, ceil_div(a,b), min, max
//   real:    literals, names, + - * / ( ), sqrt(x), min, max, and the constants log2e, ln2, pi
// Both sides of && and || are always evaluated. Integer division and % round towards negative
// infinity, so a % b is never negative for b > 0.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "port/dtype.hpp"
#include "port/place.hpp"

namespace ww::port {

using Axes = std::map<std::string, int64_t, std::less<>>;

// What names stand for: axes and integer scalars; types of tensors; float scalars.
struct Scope {
    Axes integers;
    std::map<std::string, Dtype, std::less<>> types;
    std::map<std::string, double, std::less<>> reals;
};

class Expr {
  public:
    enum class Kind { integer, real };

    Expr() = default;  // the integer 0, with no place
    static Expr constant(int64_t value, Place place = {});
    static Expr real_constant(double value, Place place = {});
    // text starts at place; a diagnostic points at the byte that is wrong.
    static Result<Expr> parse(std::string_view text, Kind kind = Kind::integer, Place place = {});

    Result<int64_t> eval(const Axes& names) const;
    Result<int64_t> eval(const Scope& scope) const { return eval(scope.integers); }
    // As eval, and the value lies in [low, high]; what names the value in the message.
    Result<int64_t> eval_between(const Axes& names, int64_t low, int64_t high,
                                 std::string_view what) const;
    // Integer expressions convert; a result that is not finite is a diagnostic.
    Result<double> eval_real(const Scope& scope) const;

    // A diagnostic for each name that is not in known (with the nearest one).
    Diagnostics unknown_names(std::span<const std::string> known) const;
    std::vector<std::string> names() const;
    bool is_constant() const;
    Kind kind() const { return kind_; }
    const std::string& text() const { return text_; }
    const Place& place() const { return place_; }

    // One step of the program in postfix order.
    enum class Op : uint8_t {
        push,
        push_real,
        load,
        negate,
        logical_not,
        add,
        subtract,
        multiply,
        divide,
        remainder,
        equal,
        not_equal,
        less,
        less_equal,
        greater,
        greater_equal,
        logical_and,
        logical_or,
        ceil_div,
        minimum,
        maximum,
        square_root
    };
    struct Step {
        Op op = Op::push;
        uint32_t at = 0;  // byte of text() to point at
        int64_t integer = 0;
        double real = 0;
        std::string name;
    };

  private:
    Kind kind_ = Kind::integer;
    std::vector<Step> steps_{Step{}};
    std::string text_ = "0";
    Place place_;
};

}  // namespace ww::port

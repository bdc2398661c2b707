// SPDX-License-Identifier: Apache-2.0
// Typed access to the keys of one TOML table that collects diagnostics instead of stopping. The
// keys asked for are the keys there are: finish() reports every other one. Internal to this room.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "port/dtype.hpp"
#include "port/expr.hpp"
#include "port/toml_tree.hpp"

namespace ww::port {

// "unknown <what> '<word>'<of>; did you mean ...", with all that are known where none is near.
std::string unknown(std::string_view what, std::string_view word,
                    std::span<const std::string> known, std::string_view of = "");

class Fields {
  public:
    // what names the table in messages: "tensor 'x'".
    Fields(const Node& table, std::string what, Diagnostics& out);

    // nullptr when the key is not there.
    const Node* get(std::string_view key);
    const Node* get(std::string_view key, Node::Kind kind);
    const Node* need(std::string_view key);

    std::optional<std::string> string(std::string_view key);
    std::optional<std::string> need_string(std::string_view key);
    std::optional<bool> boolean(std::string_view key);
    std::optional<int64_t> integer(std::string_view key);
    std::optional<double> number(std::string_view key);  // an integer or a number
    std::optional<std::vector<std::string>> strings(std::string_view key);
    std::optional<Expr> expr(std::string_view key, Expr::Kind kind = Expr::Kind::integer);
    std::optional<std::vector<Expr>> exprs(std::string_view key);
    std::optional<Dtype> dtype(std::string_view key);
    // Index of the value in choices.
    std::optional<size_t> choice(std::string_view key, std::span<const std::string> choices);

    void finish();

    void error(const Place& place, std::string message);
    const Node& table() const { return table_; }
    const std::string& what() const { return what_; }

  private:
    bool is(const Node& node, Node::Kind kind, std::string_view key);

    const Node& table_;
    std::string what_;
    Diagnostics& out_;
    std::vector<std::string> asked_;
};

// An integer, or a string with an expression (real: also a number with a fraction).
std::optional<Expr> read_expr(const Node& node, std::string_view what, Diagnostics& out,
                              Expr::Kind kind = Expr::Kind::integer);
// The diagnostics of a failed result, into out.
template <class T>
bool collect(const Result<T>& result, Diagnostics& out) {
    out.insert(out.end(), result.error().begin(), result.error().end());
    return result.has_value();
}

}  // namespace ww::port

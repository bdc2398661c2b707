// SPDX-License-Identifier: Apache-2.0
#include "port/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "port/suggest.hpp"

namespace ww::port {

std::string unknown(std::string_view what, std::string_view word,
                    std::span<const std::string> known, std::string_view of) {
    return fmt::format("unknown {} '{}'{}{}", what, shown(word), of, suggestion(word, known));
}

Fields::Fields(const Node& table, std::string what, Diagnostics& out)
    : table_(table), what_(std::move(what)), out_(out) {
    if (table.kind != Node::Kind::table)
        error(table.place, fmt::format("{} must be a table, not {}", what_, kind_text(table.kind)));
}

void Fields::error(const Place& place, std::string message) {
    out_.push_back(place.error(std::move(message)));
}

bool Fields::is(const Node& node, Node::Kind kind, std::string_view key) {
    if (node.kind == kind) return true;
    error(node.place, fmt::format("'{}' of {} must be {}, not {}", key, what_, kind_text(kind),
                                  kind_text(node.kind)));
    return false;
}

const Node* Fields::get(std::string_view key) {
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.emplace_back(key);
    const Node::Field* found = table_.field(key);
    return found ? &found->value : nullptr;
}

const Node* Fields::get(std::string_view key, Node::Kind kind) {
    const Node* node = get(key);
    return node && is(*node, kind, key) ? node : nullptr;
}

const Node* Fields::need(std::string_view key) {
    const Node* node = get(key);
    if (!node && table_.kind == Node::Kind::table)
        error(table_.place, fmt::format("{} has no '{}'", what_, key));
    return node;
}

std::optional<std::string> Fields::string(std::string_view key) {
    const Node* node = get(key, Node::Kind::string);
    return node ? std::optional(node->string) : std::nullopt;
}

std::optional<std::string> Fields::need_string(std::string_view key) {
    return need(key) ? string(key) : std::nullopt;
}

std::optional<bool> Fields::boolean(std::string_view key) {
    const Node* node = get(key, Node::Kind::boolean);
    return node ? std::optional(node->boolean) : std::nullopt;
}

std::optional<int64_t> Fields::integer(std::string_view key) {
    const Node* node = get(key, Node::Kind::integer);
    return node ? std::optional(node->integer) : std::nullopt;
}

std::optional<double> Fields::number(std::string_view key) {
    const Node* node = get(key);
    if (!node) return std::nullopt;
    if (node->kind == Node::Kind::integer) return static_cast<double>(node->integer);
    if (node->kind == Node::Kind::real) return node->real;
    error(node->place,
          fmt::format("'{}' of {} must be a number, not {}", key, what_, kind_text(node->kind)));
    return std::nullopt;
}

std::optional<std::vector<std::string>> Fields::strings(std::string_view key) {
    const Node* node = get(key, Node::Kind::array);
    if (!node) return std::nullopt;
    std::vector<std::string> out;
    for (const Node& item : node->items)
        if (is(item, Node::Kind::string, key)) out.push_back(item.string);
    return out;
}

std::optional<Expr> read_expr(const Node& node, std::string_view what, Diagnostics& out,
                              Expr::Kind kind) {
    if (node.kind == Node::Kind::integer)
        return kind == Expr::Kind::real
                   ? Expr::real_constant(static_cast<double>(node.integer), node.place)
                   : Expr::constant(node.integer, node.place);
    if (node.kind == Node::Kind::real && kind == Expr::Kind::real)
        return Expr::real_constant(node.real, node.place);
    if (node.kind == Node::Kind::string) {
        auto parsed = Expr::parse(node.string, kind, node.text_place());
        if (collect(parsed, out)) return std::move(*parsed);
        return std::nullopt;
    }
    out.push_back(node.place.error(
        fmt::format("{} must be {} or a string with an expression, not {}", what,
                    kind == Expr::Kind::real ? "a number" : "an integer", kind_text(node.kind))));
    return std::nullopt;
}

std::optional<Expr> Fields::expr(std::string_view key, Expr::Kind kind) {
    const Node* node = get(key);
    if (!node) return std::nullopt;
    return read_expr(*node, fmt::format("'{}' of {}", key, what_), out_, kind);
}

std::optional<std::vector<Expr>> Fields::exprs(std::string_view key) {
    const Node* node = get(key, Node::Kind::array);
    if (!node) return std::nullopt;
    std::vector<Expr> out;
    for (const Node& item : node->items) {
        auto expr = read_expr(item, fmt::format("'{}' of {}", key, what_), out_);
        out.push_back(expr ? std::move(*expr) : Expr::constant(1, item.place));
    }
    return out;
}

std::optional<Dtype> Fields::dtype(std::string_view key) {
    const auto spelled = string(key);
    if (!spelled) return std::nullopt;
    const auto found = dtype_named(*spelled);
    if (!found) error(get(key)->place, unknown("dtype", *spelled, dtype_names()));
    return found;
}

std::optional<size_t> Fields::choice(std::string_view key, std::span<const std::string> choices) {
    const auto spelled = string(key);
    if (!spelled) return std::nullopt;
    for (size_t i = 0; i < choices.size(); ++i)
        if (choices[i] == *spelled) return i;
    error(get(key)->place, unknown(key, *spelled, choices));
    return std::nullopt;
}

void Fields::finish() {
    for (const Node::Field& field : table_.fields) {
        if (std::find(asked_.begin(), asked_.end(), field.key) != asked_.end()) continue;
        error(field.place, unknown("key", field.key, asked_, " of " + what_));
    }
}

}  // namespace ww::port

// SPDX-License-Identifier: Apache-2.0
// A TOML document as a plain tree in file order, every value and key with its place. Keeps the
// TOML library (slow to compile) in one file. Internal to this room.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "port/place.hpp"

namespace ww::port {

struct Node {
    enum class Kind { string, integer, real, boolean, date, array, table };
    struct Field;

    Kind kind = Kind::table;
    Place place;
    std::string string;
    int64_t integer = 0;
    double real = 0;
    bool boolean = false;
    std::vector<Node> items;    // array
    std::vector<Field> fields;  // table, in file order

    const Field* field(std::string_view key) const;
    // Where the text of a string begins: behind the quote, where the string is plain.
    Place text_place() const;
};
struct Node::Field {
    std::string key;
    Place place;
    Node value;
};

// "a string", "an array", ...
std::string_view kind_text(Node::Kind kind);

Result<Node> parse_toml(std::string_view text, const std::string& path);

}  // namespace ww::port

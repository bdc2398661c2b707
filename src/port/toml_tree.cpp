// SPDX-License-Identifier: Apache-2.0
#include "port/toml_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
// Some bad input breaks what the library asserts (a release build of clang even assumes it), just
// before it reports that input properly: "[#" is one. So its assertions do nothing here; tests/fuzz
// runs this file with sanitizers. Only without NDEBUG does the library take TOML_ASSERT from us.
#undef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace ww::port {
namespace {

constexpr size_t kMaxBytes = 1 << 18;
constexpr int kMaxKeyParts = 16;  // a.b.c: 3; the library builds and destroys them recursively

using SourcePointer = std::shared_ptr<const SourceText>;

// The library counts characters, diagnostics count bytes.
Place place_at(const SourcePointer& source, const toml::source_position& at) {
    Place place{.source = source, .line = static_cast<int>(at.line), .col = 0};
    const size_t index = static_cast<size_t>(at.line) - 1;
    if (at.line == 0 || index >= source->lines.size()) return place;
    const std::string& line = source->lines[index];
    size_t byte = 0;
    for (toml::source_index i = 1; i < at.column && byte < line.size(); ++i) {
        ++byte;
        while (byte < line.size() && (static_cast<unsigned char>(line[byte]) & 0xc0) == 0x80)
            ++byte;
    }
    place.col = static_cast<int>(byte) + 1;
    return place;
}

// Refuses what the library does not survive, before it sees it: keys of very many parts (it
// recurses over them), and characters outside ASCII where it looks for white space (its table ends
// in an unreachable statement for some; TOML allows none of them there).
class Guard {
  public:
    explicit Guard(std::string_view text) : text_(text) {}

    // What is wrong, with at() the byte; empty: nothing.
    std::string run() {
        if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
        int dots = 0;
        for (; at_ < text_.size() && fault_.empty();) {
            const char c = text_[at_];
            if (c == '"' || c == '\'') {
                skip_string();
                continue;
            }
            if (c == '#') {
                at_ = std::min(text_.find('\n', at_), text_.size());
                continue;
            }
            if (!ascii(at_)) return "a character outside ASCII, outside of strings and comments";
            if (c == '.' && ++dots >= kMaxKeyParts)
                return fmt::format("a key of more than {} parts", kMaxKeyParts);
            if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots = 0;
            ++at_;
        }
        return fault_;
    }
    size_t at() const { return at_; }

  private:
    bool ascii(size_t i) const { return static_cast<unsigned char>(text_[i]) < 0x80; }

    void skip_string() {
        const char quote = text_[at_];
        const std::string three(3, quote);
        const bool multi_line = text_.substr(at_).starts_with(three);
        for (at_ += multi_line ? 3 : 1; at_ < text_.size(); ++at_) {
            if (text_[at_] == '\\' && quote == '"') {
                if (multi_line && !ascii_after_escape()) return;
                ++at_;
            } else if (multi_line ? text_.substr(at_).starts_with(three) : text_[at_] == quote) {
                at_ += multi_line ? 3 : 1;
                while (multi_line && at_ < text_.size() && text_[at_] == quote) ++at_;
                return;
            } else if (text_[at_] == '\n' && !multi_line) {
                return;
            }
        }
    }

    // Behind a '\' (at at_) the library skips white space and looks at what follows.
    bool ascii_after_escape() {
        const size_t next = text_.find_first_not_of(" \t\r\n\v\f", at_ + 1);
        if (next == std::string_view::npos || ascii(next)) return true;
        at_ = next;
        fault_ = "a character outside ASCII right behind a '\\'";
        return false;
    }

    std::string_view text_;
    size_t at_ = 0;
    std::string fault_;
};

bool before(const Place& a, const Place& b) {
    return a.line != b.line ? a.line < b.line : a.col < b.col;
}

Node convert(const toml::node& from, const SourcePointer& source);

void convert_table(const toml::table& from, const SourcePointer& source, Node& to) {
    to.kind = Node::Kind::table;
    for (const auto& [key, value] : from)
        to.fields.push_back(Node::Field{
            std::string(key.str()), place_at(source, key.source().begin), convert(value, source)});
    std::sort(to.fields.begin(), to.fields.end(),
              [](const Node::Field& a, const Node::Field& b) { return before(a.place, b.place); });
}

Node convert(const toml::node& from, const SourcePointer& source) {
    Node to;
    to.place = place_at(source, from.source().begin);
    if (const toml::table* table = from.as_table()) {
        convert_table(*table, source, to);
    } else if (const toml::array* array = from.as_array()) {
        to.kind = Node::Kind::array;
        for (const toml::node& item : *array) to.items.push_back(convert(item, source));
    } else if (const auto* text = from.as_string()) {
        to.kind = Node::Kind::string;
        to.string = text->get();
    } else if (const auto* integer = from.as_integer()) {
        to.kind = Node::Kind::integer;
        to.integer = integer->get();
    } else if (const auto* real = from.as_floating_point()) {
        to.kind = Node::Kind::real;
        to.real = real->get();
    } else if (const auto* boolean = from.as_boolean()) {
        to.kind = Node::Kind::boolean;
        to.boolean = boolean->get();
    } else {
        to.kind = Node::Kind::date;
    }
    return to;
}

}  // namespace

const Node::Field* Node::field(std::string_view key) const {
    for (const Field& each : fields)
        if (each.key == key) return &each;
    return nullptr;
}

Place Node::text_place() const {
    const size_t index = static_cast<size_t>(place.line) - 1;
    if (!place.source || place.line == 0 || index >= place.source->lines.size()) return place;
    const std::string_view line = place.source->lines[index];
    const auto col = static_cast<size_t>(place.col);
    if (col == 0 || col > line.size() || (line[col - 1] != '"' && line[col - 1] != '\''))
        return place;
    return line.substr(col).starts_with(string) ? place.right(1) : place;
}

std::string_view kind_text(Node::Kind kind) {
    switch (kind) {
        case Node::Kind::string:
            return "a string";
        case Node::Kind::integer:
            return "an integer";
        case Node::Kind::real:
            return "a number with a fraction";
        case Node::Kind::boolean:
            return "true or false";
        case Node::Kind::date:
            return "a date or time";
        case Node::Kind::array:
            return "a list";
        case Node::Kind::table:
            return "a table";
    }
    return "";
}

Result<Node> parse_toml(std::string_view text, const std::string& path) {
    if (text.size() > kMaxBytes)
        return fail(Diagnostic{.file = path, .message = "more than 256 KiB of TOML"});
    const auto source = std::make_shared<const SourceText>(path, text);
    Guard guard(text);
    if (const std::string fault = guard.run(); !fault.empty()) {
        const std::string_view head = text.substr(0, guard.at());
        const auto line = static_cast<int>(std::count(head.begin(), head.end(), '\n')) + 1;
        const size_t start = head.rfind('\n') + 1;  // npos + 1 is 0
        return fail(Place{source, line, static_cast<int>(guard.at() - start) + 1}.error(fault));
    }
    const toml::parse_result result = toml::parse(text, path);
    if (!result)
        return fail(place_at(source, result.error().source().begin)
                        .error(std::string(result.error().description())));
    return convert(result.table(), source);
}

}  // namespace ww::port

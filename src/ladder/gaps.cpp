// SPDX-License-Identifier: Apache-2.0
#include "ladder/gaps.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/files.hpp"
#include "base/text.hpp"

namespace ww::ladder {
namespace {

constexpr int kReach = 3;      // lines on each side: what stands next to a place
constexpr size_t kLines = 12;  // of all: more would name a region, not a place

// C++ without comments and the contents of literals; the lines stay where they are.
std::string bare(std::string_view text) {
    std::string out;
    char until = 0;  // '\n' in a line comment, '*' in a block comment, or a quote
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
        if (c == '\n') {
            out += c;
            if (until != '*') until = 0;  // a literal ends with its line at the latest
        } else if (until == 0) {
            if (c == '/' && (next == '/' || next == '*')) until = next == '/' ? '\n' : '*';
            else if (c == '"' || c == '\'') until = c;
            else out += c;
        } else if (until == '*') {
            if (c == '*' && next == '/') until = 0, ++i;
        } else if (until != '\n') {
            if (c == '\\') ++i;
            else if (c == until) until = 0;
        }
    }
    return out;
}

}  // namespace

const std::vector<Gaps::Line>& Gaps::lines_of(const std::string& file) {
    const auto [entry, is_new] = files_.try_emplace(file);
    std::vector<Line>& lines = entry->second;
    if (!is_new) return lines;
    const auto text = read_file(file);
    if (!text) return lines;
    const std::string code = bare(text.value());
    for (const std::string_view each : split(code, '\n')) {
        const std::string_view words = trim(each);
        int depth = 0, lowest = 0;
        for (const char c : each) {
            depth += c == '{' ? 1 : c == '}' ? -1 : 0;
            lowest = std::min(lowest, depth);
        }
        lines.push_back({.bounds = depth != 0 || lowest < 0,
                         .plain = !words.starts_with("#") && !words.starts_with("return")});
    }
    return lines;
}

bool Gaps::is_empty(const std::string& file, int line) {
    const std::vector<Line>& lines = lines_of(file);
    if (line < 1 || line > static_cast<int>(lines.size())) return false;
    const Line& here = lines[static_cast<size_t>(line) - 1];
    return here.plain && !here.bounds && !text_.has_code({file, line});
}

void Gaps::run(const std::string& file, int first, int step) {
    const int count = static_cast<int>(lines_of(file).size());
    for (int line = first; line >= 1 && line <= count && std::abs(line - first) < kReach; line += step) {
        if (lines_of(file)[static_cast<size_t>(line) - 1].bounds) return;
        if (is_empty(file, line)) found_[file].insert(line);
    }
}

void Gaps::around(const SourceLines& store) {
    for (const device::SourceLine& each : store) {
        run(each.file, each.line - 1, -1);
        run(each.file, each.line + 1, 1);
    }
}

void Gaps::before(const device::SourceLine& line) { run(line.file, line.line - 1, -1); }

void Gaps::between(const std::vector<SourceLines>& definitions, const SourceLines& store) {
    // Outermost first, down to where they part: two lines of one function. Of several definitions
    // the one right before the store counts: after it the missing statement would stand.
    const SourceLines* nearest = nullptr;
    size_t at = 0, store_at = 0;
    for (const SourceLines& each : definitions) {
        size_t d = each.size(), s = store.size();
        while (d > 0 && s > 0 && each[d - 1].file == store[s - 1].file &&
               each[d - 1].line == store[s - 1].line)
            --d, --s;
        if (d == 0 || s == 0 || each[d - 1].file != store[s - 1].file) continue;
        if (each[d - 1].line > store[s - 1].line) continue;
        if (nearest && s == store_at && each[d - 1].line < (*nearest)[at].line) continue;
        nearest = &each, at = d - 1, store_at = s;
    }
    if (!nearest) return;
    const device::SourceLine &from = (*nearest)[at], &to = store[store_at - 1];
    for (int line = from.line + 1; line < to.line; ++line)
        if (is_empty(to.file, line)) found_[to.file].insert(line);
    // To the end of the functions that the definition lies in, from the begin of the store's.
    for (size_t i = 0; i < at; ++i) run((*nearest)[i].file, (*nearest)[i].line + 1, 1);
    for (size_t i = 0; i + 1 < store_at; ++i) run(store[i].file, store[i].line - 1, -1);
}

std::vector<LineRange> Gaps::take() {
    std::vector<LineRange> out;
    size_t total = 0;
    for (const auto& [file, lines] : found_)
        for (const int line : lines) {
            if (++total > kLines) return {};
            if (!out.empty() && out.back().file == file && out.back().last + 1 == line) ++out.back().last;
            else out.push_back({file, line, line});
        }
    return out;
}

}  // namespace ww::ladder

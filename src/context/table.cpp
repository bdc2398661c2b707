// SPDX-License-Identifier: Apache-2.0
#include "context/table.hpp"

#include <fmt/format.h>

#include <set>

#include "base/text.hpp"

namespace ww::context {
namespace {

constexpr std::string_view kHead = "| directory | purpose | size | languages | licence | entry points |\n|---|---|---|---|---|---|\n";
constexpr size_t kColumns = 6;

}  // namespace

std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return std::string(trim(out));
}

std::vector<std::string> cells_of(std::string_view line) {
    line = trim(line);
    if (line.size() < 2 || line.front() != '|') return {};
    std::vector<std::string> out;
    std::string one;
    bool closed = false;
    for (size_t i = 1; i < line.size(); ++i) {
        closed = false;
        if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
            one += line[++i];
        } else if (line[i] == '|') {
            out.emplace_back(trim(one));
            one.clear();
            closed = true;
        } else {
            one += line[i];
        }
    }
    if (!closed) return {};
    return out;
}

std::string size_text(uint64_t bytes) {
    if (bytes < 1024) return fmt::format("{} B", bytes);
    if (bytes < 1024 * 1024) return fmt::format("{} KiB", (bytes + 512) / 1024);
    return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024 * 1024));
}

std::string index_table(const std::vector<DirectoryLine>& lines) {
    std::string out(kHead);
    for (const DirectoryLine& line : lines) {
        const std::string purpose = (line.guessed && !line.purpose.empty() ? std::string(kGuess) + " " : "") + line.purpose;
        out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", cell(line.path), cell(purpose), cell(line.size),
                           cell(line.languages), cell(line.licence), cell(line.entry_points));
    }
    return out;
}

Result<std::vector<DirectoryLine>> read_index(std::string_view table, const std::filesystem::path& path, int first_line) {
    std::vector<DirectoryLine> out;
    Diagnostics errors;
    std::set<std::string> seen;
    int number = first_line;
    if (table.ends_with('\n')) table.remove_suffix(1);
    for (const std::string_view line : table.empty() ? std::vector<std::string_view>{} : split(table, '\n')) {
        ++number;
        if (trim(line).empty() || trim(line).starts_with("|---") || trim(line).starts_with("| directory |")) continue;
        const auto cells = cells_of(line);
        const auto wrong = [&](std::string message) {
            errors.push_back({.file = path.string(), .line = number, .message = std::move(message)});
        };
        if (cells.size() != kColumns) {
            wrong(fmt::format("a line of the index has {} cells between bars, this one has {} (a bar within a cell is written "
                              "\\|); notes go outside of the table's comments",
                              kColumns, cells.size()));
            continue;
        }
        DirectoryLine made{.path = cells[0], .purpose = cells[1], .size = cells[2], .languages = cells[3],
                           .licence = cells[4], .entry_points = cells[5]};
        if (made.path.empty()) wrong("the directory is missing");
        if (!seen.insert(made.path).second) wrong(fmt::format("a second line for {}: keep one purpose", made.path));
        made.guessed = made.purpose.starts_with(kGuess);
        if (made.guessed) made.purpose = std::string(trim(std::string_view(made.purpose).substr(kGuess.size())));
        made.gone = made.size == "gone";
        out.push_back(std::move(made));
    }
    if (!errors.empty()) return fail(std::move(errors));
    return out;
}

}  // namespace ww::context

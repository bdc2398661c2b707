// SPDX-License-Identifier: Apache-2.0
#include "records/section.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "base/files.hpp"
#include "base/text.hpp"
#include "records/lock.hpp"

namespace ww::records {
namespace {

namespace fs = std::filesystem;

struct Span {
    size_t begin = 0, end = 0;  // lines: of the begin marker, of the end marker
};

std::string begin_marker(const Section& section) { return fmt::format("<!-- {}:", section.name); }
std::string end_marker(const Section& section) { return fmt::format("<!-- /{} -->", section.name); }

Result<std::optional<Span>> find_span(const std::vector<std::string_view>& lines, const fs::path& path,
                                      const Section& section) {
    std::vector<size_t> begins, ends;
    for (size_t i = 0; i < lines.size(); ++i) {
        if (trim(lines[i]).starts_with(begin_marker(section))) begins.push_back(i);
        if (trim(lines[i]) == end_marker(section)) ends.push_back(i);
    }
    if (begins.empty() && ends.empty()) return std::optional<Span>();
    const auto wrong = [&](size_t line, std::string message) {
        return fail(Diagnostic{.file = path.string(), .line = static_cast<int>(line) + 1,
                               .message = std::move(message)});
    };
    if (begins.size() > 1)
        return wrong(begins[1], fmt::format("a second '{} ...' (the first is on line {}): keep one", begin_marker(section),
                                            begins[0] + 1));
    if (ends.size() > 1) return wrong(ends[1], fmt::format("a second '{}': keep one", end_marker(section)));
    if (ends.empty()) return wrong(begins[0], fmt::format("no '{}' follows", end_marker(section)));
    if (begins.empty() || begins[0] > ends[0])
        return wrong(ends[0], fmt::format("no '{} ...' stands before it", begin_marker(section)));
    return std::optional<Span>(Span{begins[0], ends[0]});
}

std::vector<std::string_view> lines_of(std::string_view text) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    return text.empty() ? std::vector<std::string_view>{} : split(text, '\n');
}

int level(std::string_view line) {
    const size_t hashes = line.find_first_not_of('#');
    return hashes != std::string_view::npos && hashes > 0 && line[hashes] == ' ' ? static_cast<int>(hashes) : 0;
}

// The line behind the last text under the heading; nothing without such a heading.
std::optional<size_t> place_under(const std::vector<std::string_view>& lines, std::string_view heading) {
    size_t at = 0;
    while (at < lines.size() && trim(lines[at]) != heading) ++at;
    if (at == lines.size()) return std::nullopt;
    size_t end = at + 1;
    bool code = false;
    for (; end < lines.size(); ++end) {
        if (trim(lines[end]).starts_with("```")) code = !code;
        if (!code && level(lines[end]) > 0 && level(lines[end]) <= level(heading)) break;
    }
    while (end > at + 1 && trim(lines[end - 1]).empty()) --end;
    return end;
}

}  // namespace

Result<Found> section_of(std::string_view text, const fs::path& path, const Section& section) {
    const auto lines = lines_of(text);
    WW_TRY(span, find_span(lines, path, section));
    Found out;
    if (!span) return out;
    out.line = static_cast<int>(span->begin) + 1;
    for (size_t i = span->begin + 1; i < span->end; ++i) out.text += std::string(lines[i]) + "\n";
    return out;
}

Result<std::string> with_section(std::string_view text, const fs::path& path, const Section& section,
                                 std::string_view content) {
    const auto lines = lines_of(text);
    WW_TRY(span, find_span(lines, path, section));
    std::string block = fmt::format("{} made by {}; write outside of these lines -->\n{}", begin_marker(section),
                                    section.by, content);
    if (!block.ends_with('\n')) block += '\n';
    block += end_marker(section) + "\n";
    std::string out;
    const auto copy = [&](size_t from, size_t to) {
        for (size_t i = from; i < to; ++i) out += std::string(lines[i]) + "\n";
    };
    if (span) {
        copy(0, span->begin);
        out += block;
        copy(span->end + 1, lines.size());
        return out;
    }
    const auto under = place_under(lines, section.heading);
    copy(0, under.value_or(lines.size()));
    if (!under) {
        if (!out.empty() && !out.ends_with("\n\n")) out += "\n";
        out += std::string(section.heading) + "\n";
    } else if (trim(lines[*under - 1]) != section.heading) {
        out += "\n";
    }
    out += block;
    if (under) copy(*under, lines.size());
    return out;
}

Status update_section(const fs::path& path, std::string_view title, const Section& section,
                      const std::function<Result<std::string>(const Found& old)>& content) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    WW_TRY(lock, FolderLock::take(folder));
    (void)lock;
    std::error_code code;
    std::string text = std::string(title);
    if (fs::exists(path, code)) {
        WW_TRY(read, read_file(path));
        text = read;
    }
    WW_TRY(old, section_of(text, path, section));
    WW_TRY(made, content(old));
    WW_TRY(after, with_section(text, path, section, made));
    if (after == text && fs::exists(path, code)) return ok();
    remove_leftovers(path);
    return write_file(path, after);
}

}  // namespace ww::records

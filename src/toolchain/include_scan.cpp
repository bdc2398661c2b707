// SPDX-License-Identifier: Apache-2.0
// A line scanner for #include and __has_include; not a preprocessor.
#include "toolchain/include_scan.hpp"

#include <algorithm>
#include <set>

#include "base/files.hpp"
#include "base/text.hpp"

namespace ww::toolchain {
namespace fs = std::filesystem;
namespace {

struct Include {
    std::string name;
    bool quoted = false;
};

class Scanner {
  public:
    Scanner(const std::vector<fs::path>& dirs, IncludeScan& scan) : dirs_(dirs), scan_(scan) {}

    void scan_text(std::string_view text, const fs::path& folder) {
        // A directive may be continued over lines.
        std::string joined;
        joined.reserve(text.size());
        for (size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '\n')
                ++i;
            else
                joined += text[i];
        }
        for (const std::string_view line : split(joined, '\n')) scan_line(line, folder);
    }

  private:
    void scan_line(std::string_view line, const fs::path& folder) {
        for (size_t at = line.find("__has_include"); at != std::string_view::npos;
             at = line.find("__has_include", at + 1)) {
            const size_t open = line.find('(', at);
            if (open != std::string_view::npos) take_name(line.substr(open + 1), folder, false);
        }
        std::string_view rest = trim(line);
        // A comment may stand before the #.
        if (rest.starts_with("/*"))
            if (const size_t end = rest.find("*/"); end != std::string_view::npos)
                rest = trim(rest.substr(end + 2));
        if (!rest.starts_with('#')) return;
        rest = trim(rest.substr(1));
        if (!rest.starts_with("include") && !rest.starts_with("embed")) return;
        rest = trim(rest.substr(rest.starts_with("embed") ? 5 : 7));
        if (rest.starts_with("_next")) rest = trim(rest.substr(5));
        take_name(rest, folder, true);
    }

    void take_name(std::string_view rest, const fs::path& folder, bool directive) {
        rest = trim(rest);
        const char open = rest.empty() ? ' ' : rest.front();
        const char close = open == '<' ? '>' : '"';
        const size_t end =
            open == '<' || open == '"' ? rest.find(close, 1) : std::string_view::npos;
        if (end == std::string_view::npos) {
            if (directive && !rest.empty()) scan_.computed = true;
            return;
        }
        visit({std::string(rest.substr(1, end - 1)), open == '"'}, folder);
    }

    void visit(const Include& include, const fs::path& folder) {
        std::vector<fs::path> places;
        if (include.quoted) places.push_back(folder / include.name);
        for (const fs::path& dir : dirs_) places.push_back(dir / include.name);
        std::error_code code;
        for (const fs::path& place : places) {
            if (!fs::is_regular_file(place, code)) continue;
            const fs::path path = place.lexically_normal();
            if (!seen_.insert(path.string()).second) return;
            Result<std::string> text = read_file(path);
            if (!text) continue;
            scan_.headers.emplace_back(path, *text);
            const std::string copy = *text;  // headers may move while the vector grows
            scan_text(copy, path.parent_path());
            return;
        }
        if (seen_.insert(include.name).second) scan_.external.push_back(include.name);
    }

    const std::vector<fs::path>& dirs_;
    IncludeScan& scan_;
    std::set<std::string> seen_;
};

}  // namespace

IncludeScan scan_includes(std::string_view source, const fs::path& folder,
                          const std::vector<fs::path>& include_dirs) {
    IncludeScan scan;
    Scanner(include_dirs, scan).scan_text(source, folder);
    return scan;
}

}  // namespace ww::toolchain

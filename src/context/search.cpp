// SPDX-License-Identifier: Apache-2.0
#include "context/search.hpp"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <optional>

#include "base/files.hpp"
#include "base/text.hpp"
#include "context/files.hpp"
#include "context/scan.hpp"

namespace ww::context {
namespace {

namespace fs = std::filesystem;

constexpr size_t kLongestLine = 4096;  // what stands behind is not searched
constexpr size_t kShownText = 160;
constexpr size_t kMostMatches = 200000;

class Pattern {
  public:
    static Result<Pattern> make(const std::string& text, bool ignore_case) {
        Pattern out;
        if (text.empty()) return fail("the pattern is empty");
        out.regex_ = std::shared_ptr<regex_t>(new regex_t, [](regex_t* regex) {
            ::regfree(regex);
            delete regex;
        });
        const int error = ::regcomp(out.regex_.get(), text.c_str(), REG_EXTENDED | (ignore_case ? REG_ICASE : 0));
        if (error != 0) {
            char message[200];
            ::regerror(error, out.regex_.get(), message, sizeof message);
            return fail(fmt::format("'{}' is no extended regular expression: {}", text, message));
        }
        if (!ignore_case && text.find_first_of("\\^$.[]|()*+?{}") == std::string::npos) out.literal_ = text;
        return out;
    }

    bool may_be_in(std::string_view text) const { return literal_.empty() || text.find(literal_) != std::string_view::npos; }

    // Where in the line it matches: begin and end.
    std::optional<std::pair<size_t, size_t>> find(std::string_view line) const {
        if (!literal_.empty()) {
            const size_t at = line.find(literal_);
            if (at == std::string_view::npos) return std::nullopt;
            return std::pair{at, at + literal_.size()};
        }
        line = line.substr(0, kLongestLine);
        regmatch_t match{0, static_cast<regoff_t>(line.size())};
        if (::regexec(regex_.get(), line.data(), 1, &match, REG_STARTEND) != 0) return std::nullopt;
        return std::pair{static_cast<size_t>(match.rm_so), static_cast<size_t>(match.rm_eo)};
    }

  private:
    std::shared_ptr<regex_t> regex_;
    std::string literal_;
};

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool is_comment(std::string_view line, Language language) {
    line = trim(line);
    return line.starts_with("//") || line.starts_with("*") || line.starts_with("/*") || (is_python(language) && line.starts_with("#"));
}

// Whether the words in front of the match define it.
bool is_definition(std::string_view line, size_t begin) {
    const auto words = split_words(line.substr(0, begin));
    if (words.empty()) return false;
    for (const std::string_view each : {"struct", "class", "union", "enum", "#define", "define", "def", "using", "namespace", "concept"})
        if (words.back() == each) return true;
    return false;
}

int score_of(std::string_view line, std::pair<size_t, size_t> match, int number, const FileScan& file, const Function* function,
             const std::string& path) {
    int score = is_cpp(file.language) || is_python(file.language) || file.language == Language::ptx ? 10 : 0;
    if (file.language == Language::data) score -= 10;
    const bool whole = (match.first == 0 || !is_word_char(line[match.first - 1])) &&
                       (match.second >= line.size() || !is_word_char(line[match.second]));
    if (whole) score += 15;
    if (is_comment(line, file.language)) score -= 20;
    if (is_definition(line, match.first)) score += 50;
    const std::string_view text = line.substr(match.first, match.second - match.first);
    if (function && number <= function->first + 8 && match.second < line.size() && line.find('(') != std::string_view::npos &&
        function->name.find(text) != std::string::npos && line.find(function->name + "(") != std::string_view::npos)
        score += function->name == text ? 60 : 40;
    if (function && function->kernel) score += 5;
    for (const std::string_view aside : {"test", "example", "doc"})
        if (path.find(aside) != std::string::npos) score -= 5;
    return score - static_cast<int>(std::count(path.begin(), path.end(), '/'));
}

class Searcher {
  public:
    Searcher(const Context& context, Pattern pattern) : context_(context), pattern_(std::move(pattern)) {}

    Status run(SearchReport& report) {
        for (const Source& source : context_.sources) {
            if (!source.present) {
                report.missing.push_back(source);
                continue;
            }
            WW_TRY(files, files_below(context_.folder / source.name));
            for (const FoundFile& file : files)
                if (file.bytes <= kLargestText) look_into(file.path, report);
        }
        std::stable_sort(report.matches.begin(), report.matches.end(),
                         [](const Match& a, const Match& b) { return a.score > b.score; });
        return ok();
    }

  private:
    void look_into(const fs::path& path, SearchReport& report) {
        const auto text = read_file(path);
        if (!text) return;
        const Language language = language_of(path, *text);
        if (!is_readable(language)) return;
        ++report.files;
        if (!pattern_.may_be_in(*text)) return;
        const std::string name = path.lexically_relative(context_.folder).generic_string();
        std::optional<FileScan> scanned;
        int number = 0;
        for (const std::string_view line : split(*text, '\n')) {
            ++number;
            const auto match = pattern_.find(line);
            if (!match) continue;
            ++report.found;
            if (report.matches.size() >= kMostMatches) continue;
            if (!scanned) scanned = scan(*text, language);
            const Function* function = function_at(*scanned, number);
            report.matches.push_back({name, number, function ? function->qualified : "", squeeze(line, kShownText),
                                      score_of(line, *match, number, *scanned, function, name)});
        }
    }

    const Context& context_;
    Pattern pattern_;
};

}  // namespace

Result<SearchReport> search(const Context& context, const SearchRequest& request) {
    WW_TRY(pattern, Pattern::make(request.pattern, request.ignore_case));
    if (context.sources.empty())
        return fail(fmt::format("{} has no sources yet: warpwright context add PATH|git-URL --for \"...\"",
                                display_path(context.folder)));
    SearchReport out;
    WW_TRY(searched, Searcher(context, std::move(pattern)).run(out));
    (void)searched;
    if (out.matches.size() > request.limit) out.matches.resize(request.limit);
    return out;
}

}  // namespace ww::context

// SPDX-License-Identifier: Apache-2.0
#include "context/index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "context/files.hpp"
#include "context/licence.hpp"
#include "context/scan.hpp"
#include "context/table.hpp"
#include "records/section.hpp"

namespace ww::context {
namespace {

namespace fs = std::filesystem;

constexpr records::Section kSection{
    .name = "index", .heading = "# Context index", .by = "warpwright context index (the purposes in it are yours)"};
constexpr size_t kEntryPoints = 6;

// What is gathered of one directory, its own files only.
struct Gathered {
    uint64_t bytes = 0, all_bytes = 0;  // all_: of a source, with everything below
    int files = 0, all_files = 0;
    std::map<Language, int> languages;
    std::map<std::string, int> spdx;
    std::string licence;  // of a LICENSE file in it
    std::vector<std::string> kernels, mains;
    std::vector<std::pair<std::string, std::string>> abouts;  // file name, first sentence
    std::string readme;
};

class Indexer {
  public:
    explicit Indexer(const Context& context) : context_(context) {}

    Result<std::vector<DirectoryLine>> run(Index& index) {
        for (const Source& source : context_.sources) {
            if (!source.present) {
                index.missing.push_back(source);
                continue;
            }
            WW_TRY(files, files_below(context_.folder / source.name));
            Gathered& top = directories_[source.name];
            top.all_files = static_cast<int>(files.size());
            for (const FoundFile& file : files) top.all_bytes += file.bytes;
            for (const FoundFile& file : files) add(file);
            index.files += static_cast<int>(files.size());
        }
        count_includes();
        std::vector<DirectoryLine> out;
        for (const auto& [path, gathered] : directories_) {
            out.push_back(line_of(path, gathered));
            index.bytes += gathered.bytes;
        }
        index.directories = static_cast<int>(out.size());
        return out;
    }

  private:
    void add(const FoundFile& file) {
        const std::string path = file.path.lexically_relative(context_.folder).generic_string();
        const std::string folder = fs::path(path).parent_path().generic_string();
        Gathered& to = directories_[folder];
        ++to.files;
        to.bytes += file.bytes;
        if (file.bytes > kLargestText) return;
        const auto text = read_file(file.path);
        if (!text) return;
        const std::string name = file.path.filename().string();
        if (is_licence_file(name)) {
            const std::string id = licence_of_text(*text);
            if (to.licence.empty()) to.licence = fmt::format("{} ({})", id.empty() ? "not recognised" : id, name);
        }
        const Language language = language_of(file.path, *text);
        ++to.languages[language];
        if (const std::string id = spdx_of(*text); !id.empty()) ++to.spdx[id];
        const FileScan scanned = scan(*text, language);
        if (name.starts_with("README")) to.readme = first_sentence(text->substr(0, 4096));
        if (!scanned.about.empty()) to.abouts.emplace_back(name, scanned.about);
        for (const Function& function : scanned.functions) {
            if (function.kernel) to.kernels.push_back(function.name);
            if (function.entry) to.mains.push_back(function.name == "main" ? name + " main" : function.name);
        }
        paths_by_name_[name].push_back(path);
        for (const std::string& include : scanned.includes) includes_[include].insert(folder);
    }

    // How many other folders include each header: the headers that people begin with.
    void count_includes() {
        for (const auto& [include, folders] : includes_) {
            const auto named = paths_by_name_.find(fs::path(include).filename().string());
            if (named == paths_by_name_.end()) continue;
            for (const std::string& path : named->second) {
                if (path != include && !path.ends_with("/" + include)) continue;
                const std::string folder = fs::path(path).parent_path().generic_string();
                int others = 0;
                for (const std::string& each : folders) others += each != folder;
                if (others > 0) included_[folder].emplace_back(others, fs::path(path).filename().string());
            }
        }
        for (auto& [folder, headers] : included_)
            std::sort(headers.begin(), headers.end(), [](const auto& a, const auto& b) {
                return a.first != b.first ? a.first > b.first : a.second < b.second;
            });
    }

    std::string entry_points(const std::string& path, const Gathered& gathered) const {
        std::vector<std::string> all;
        std::set<std::string> seen;
        const auto add = [&](const std::string& text) {
            if (seen.insert(text).second) all.push_back(text);
        };
        for (const std::string& kernel : gathered.kernels) add(kernel);
        for (const std::string& main : gathered.mains) add(main);
        if (const auto headers = included_.find(path); headers != included_.end())
            for (const auto& [count, name] : headers->second) add(name);
        std::string out;
        for (size_t i = 0; i < std::min(all.size(), kEntryPoints); ++i) out += (out.empty() ? "" : ", ") + all[i];
        if (all.size() > kEntryPoints) out += fmt::format(", {} more", all.size() - kEntryPoints);
        return out.empty() ? "-" : out;
    }

    std::string licence(const std::string& path, const Gathered& gathered) const {
        const auto most = std::max_element(gathered.spdx.begin(), gathered.spdx.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        if (most != gathered.spdx.end())
            return most->first + (gathered.spdx.size() > 1 ? fmt::format(" and {} more", gathered.spdx.size() - 1) : "");
        for (fs::path at = path; !at.empty(); at = at.parent_path())
            if (const auto found = directories_.find(at.generic_string());
                found != directories_.end() && !found->second.licence.empty())
                return found->second.licence;
        return "none found";
    }

    // A guess: the README's first sentence, else that of the file which is named as the folder, else
    // of the first file that says something.
    std::string guess(const std::string& path, const Gathered& gathered) const {
        const Source* source = context_.find(path);
        if (source) return source->purpose;
        if (!gathered.readme.empty()) return gathered.readme;
        const std::string stem = fs::path(path).filename().string();
        for (const auto& [name, about] : gathered.abouts)
            if (fs::path(name).stem().string() == stem || name == "__init__.py") return about;
        return gathered.abouts.empty() ? "" : gathered.abouts.front().first + ": " + gathered.abouts.front().second;
    }

    DirectoryLine line_of(const std::string& path, const Gathered& gathered) const {
        DirectoryLine out;
        out.path = path;
        out.purpose = guess(path, gathered);
        out.guessed = true;
        const int files = gathered.all_files > 0 ? gathered.all_files : gathered.files;
        out.size = fmt::format("{} file{}, {}{}", files, files == 1 ? "" : "s",
                               size_text(gathered.all_files > 0 ? gathered.all_bytes : gathered.bytes),
                               gathered.all_files > 0 ? " in all" : "");
        std::vector<std::pair<int, Language>> ranked;
        for (const auto& [language, count] : gathered.languages) ranked.emplace_back(-count, language);
        std::sort(ranked.begin(), ranked.end());
        for (size_t i = 0; i < std::min<size_t>(ranked.size(), 3); ++i)
            out.languages += fmt::format("{}{} {}", i > 0 ? ", " : "", name(ranked[i].second), -ranked[i].first);
        out.licence = licence(path, gathered);
        out.entry_points = entry_points(path, gathered);
        return out;
    }

    const Context& context_;
    std::map<std::string, Gathered> directories_;
    std::map<std::string, std::set<std::string>> includes_;  // as written -> folders that do
    std::map<std::string, std::vector<std::string>> paths_by_name_;
    std::map<std::string, std::vector<std::pair<int, std::string>>> included_;
};

// Puts people's purposes on the new lines, and keeps old lines that must not be lost.
std::vector<DirectoryLine> merge(std::vector<DirectoryLine> made, const std::vector<DirectoryLine>& old, const Context& context) {
    std::map<std::string, size_t> at;
    for (size_t i = 0; i < made.size(); ++i) at[made[i].path] = i;
    for (const DirectoryLine& line : old) {
        const auto found = at.find(line.path);
        if (found != at.end()) {
            if (line.guessed || line.purpose.empty()) continue;
            made[found->second].purpose = line.purpose;
            made[found->second].guessed = false;
            continue;
        }
        const Source* source = context.find(line.path.substr(0, line.path.find('/')));
        DirectoryLine kept = line;
        kept.unknown = source && !source->present;
        if (!kept.unknown && (kept.guessed || kept.purpose.empty())) continue;
        kept.gone = !kept.unknown;
        if (kept.gone) kept.size = "gone", kept.languages = kept.licence = kept.entry_points = "-";
        made.push_back(std::move(kept));
    }
    std::sort(made.begin(), made.end(), [](const DirectoryLine& a, const DirectoryLine& b) { return a.path < b.path; });
    return made;
}

}  // namespace

Result<Index> make_index(const Context& context) {
    const auto start = std::chrono::steady_clock::now();
    Index out;
    out.file = context.folder / "INDEX.md";
    if (context.sources.empty())
        return fail(fmt::format("{} has no sources yet: warpwright context add PATH|git-URL --for \"...\"",
                                display_path(context.folder)));
    WW_TRY(made, Indexer(context).run(out));
    const Status written = records::update_section(
        out.file, "# Context index\n", kSection, [&](const records::Found& old) -> Result<std::string> {
            WW_TRY(before, read_index(old.text, out.file, old.line));
            out.lines = merge(std::move(made), before, context);
            return index_table(out.lines);
        });
    if (!written) return written.failure();
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return out;
}

}  // namespace ww::context

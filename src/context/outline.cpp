// SPDX-License-Identifier: Apache-2.0
#include "context/outline.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/files.hpp"
#include "context/files.hpp"

namespace ww::context {
namespace {

namespace fs = std::filesystem;

constexpr int kLevels = 8;          // folders upwards in which an include is looked for
constexpr size_t kMostFiles = 5000;  // beyond those asked for, includes are no longer followed

struct Loaded {
    fs::path path;
    bool asked = false;
    FileScan scan;
    std::vector<size_t> includes;
};

struct Place {
    size_t file = 0, function = 0;
    auto operator<=>(const Place&) const = default;
};

class Outliner {
  public:
    Result<Outline> run(const fs::path& path) {
        WW_TRY(found, files_below(path));
        for (const FoundFile& each : found)
            if (each.bytes <= kLargestText) load(each.path, true);
        if (!fs::is_directory(path) && files_.empty())
            return fail(Diagnostic{.file = path.string(), .message = "neither C++, CUDA C++ nor Python: nothing to outline"});
        for (size_t i = 0; i < files_.size(); ++i) follow(i);
        for (size_t i = 0; i < files_.size(); ++i)
            for (size_t j = 0; j < files_[i].scan.functions.size(); ++j)
                by_name_[files_[i].scan.functions[j].name].push_back({i, j});
        for (size_t i = 0; i < files_.size(); ++i)
            if (files_[i].asked) outline_file(i);
        add_helpers();
        return std::move(out_);
    }

  private:
    int load(const fs::path& path, bool asked) {
        const fs::path normal = path.lexically_normal();
        const auto [place, is_new] = index_.try_emplace(normal.string(), -1);
        if (!is_new) return place->second;
        const auto text = read_file(normal);
        if (!text) return -1;
        const Language language = language_of(normal, *text);
        if (!is_cpp(language) && !is_python(language)) return -1;
        place->second = static_cast<int>(files_.size());
        files_.push_back({normal, asked, scan(*text, language), {}});
        return place->second;
    }

    // "a/b.cuh" lies beside the including file, or below one of the folders above it.
    void follow(size_t file) {
        const std::vector<std::string> names = files_[file].scan.includes;
        const bool python = is_python(files_[file].scan.language);
        for (const std::string& name : names) {
            const int found = resolve(files_[file].path.parent_path(), python ? module_path(name) : name);
            if (found >= 0 && static_cast<size_t>(found) != file) files_[file].includes.push_back(static_cast<size_t>(found));
        }
    }

    static std::string module_path(const std::string& module) {
        std::string out;
        size_t dots = 0;
        while (dots < module.size() && module[dots] == '.') ++dots;
        for (size_t i = 1; i < dots; ++i) out += "../";
        for (const char c : module.substr(dots)) out += c == '.' ? '/' : c;
        return out + ".py";
    }

    int resolve(fs::path folder, const std::string& name) {
        for (int level = 0; level < kLevels; ++level) {
            const fs::path candidate = (folder / name).lexically_normal();
            if (const auto known = index_.find(candidate.string()); known != index_.end()) return known->second;
            std::error_code code;
            if (files_.size() < kMostFiles && fs::is_regular_file(candidate, code)) return load(candidate, false);
            if (!folder.has_parent_path() || folder == folder.parent_path()) break;
            folder = folder.parent_path();
        }
        return -1;
    }

    const std::set<size_t>& visible(size_t file) {
        const auto [place, is_new] = visible_.try_emplace(file);
        if (!is_new) return place->second;
        std::vector<size_t> open{file};
        while (!open.empty()) {
            const size_t at = open.back();
            open.pop_back();
            if (!place->second.insert(at).second) continue;
            for (const size_t next : files_[at].includes) open.push_back(next);
        }
        return place->second;
    }

    const Function& at(const Place& place) const { return files_[place.file].scan.functions[place.function]; }

    // "Class::load" is what ends so, else a free function of the name (Class is then an alias of a
    // namespace, as far as the form tells); ".load" a method; "load" a free function, or a method of
    // the caller's own class.
    std::vector<Place> callees(const Function& caller, std::string_view call, const std::set<size_t>& files) const {
        const bool of_object = call.starts_with(".");
        const size_t colons = call.rfind("::");
        std::vector<Place> out, exact;
        const auto found = by_name_.find(of_object ? call.substr(1) : colons == std::string_view::npos ? call : call.substr(colons + 2));
        if (found == by_name_.end()) return out;
        const std::string own = caller.qualified.substr(0, caller.qualified.size() - caller.name.size());
        for (const Place& place : found->second) {
            const Function& callee = at(place);
            if (!files.count(place.file) || callee.kernel) continue;
            const bool ends_so = callee.qualified.ends_with(call) &&
                                 (callee.qualified.size() == call.size() || callee.qualified[callee.qualified.size() - call.size() - 1] == ':');
            if (colons != std::string_view::npos && ends_so) exact.push_back(place);
            if (of_object ? callee.method : !callee.method || (colons == std::string_view::npos && callee.qualified == own + callee.name))
                out.push_back(place);
        }
        return exact.empty() ? out : exact;
    }

    // Functions that the kernel reaches, itself first, nearest first.
    std::vector<Place> reached(const Place& kernel) {
        const std::set<size_t>& files = visible(kernel.file);
        std::vector<Place> out{kernel};
        std::set<Place> seen{kernel};
        for (size_t i = 0; i < out.size(); ++i) {
            const Function function = at(out[i]);
            for (const std::string& call : function.calls)
                for (const Place& callee : callees(function, call, files))
                    if (seen.insert(callee).second) out.push_back(callee);
        }
        return out;
    }

    static void add_uses(std::vector<Use>& to, const std::vector<Mention>& from, const std::string& file,
                         const std::string& function) {
        for (const Mention& each : from)
            if (std::none_of(to.begin(), to.end(), [&](const Use& use) { return use.text == each.text; }))
                to.push_back({each.text, file, each.line, function});
    }

    void outline_file(size_t i) {
        const Loaded& file = files_[i];
        const std::string path = display_path(file.path);
        ++out_.files;
        for (const Launch& launch : file.scan.launches) out_.launches.push_back({launch, path});
        for (const Mention& type : file.scan.shared_types) out_.shared_types.push_back({type.text, path, type.line, ""});
        for (size_t j = 0; j < file.scan.functions.size(); ++j) {
            const Function& function = file.scan.functions[j];
            if (!function.kernel) continue;
            KernelOutline made{.name = function.name, .file = path, .language = std::string(name(file.scan.language)),
                               .first = function.first, .last = function.last, .parameters = function.parameters,
                               .launch_bounds = function.launch_bounds};
            for (const Place& place : reached({i, j})) {
                reached_.insert(place);
                const std::string where = display_path(files_[place.file].path);
                const std::string in = place == Place{i, j} ? "" : at(place).name;
                add_uses(made.instructions, at(place).instructions, where, in);
                add_uses(made.shared, at(place).shared, where, in);
            }
            out_.kernels.push_back(std::move(made));
        }
    }

    void add_helpers() {
        for (size_t i = 0; i < files_.size(); ++i) {
            if (!files_[i].asked) continue;
            for (size_t j = 0; j < files_[i].scan.functions.size(); ++j) {
                const Function& function = files_[i].scan.functions[j];
                if (function.kernel || function.instructions.empty() || reached_.count({i, j})) continue;
                HelperOutline made{function.qualified, display_path(files_[i].path), function.first, function.last, {}};
                for (const Mention& each : function.instructions) made.instructions.push_back(each.text);
                out_.helpers.push_back(std::move(made));
            }
        }
    }

    std::vector<Loaded> files_;
    std::map<std::string, int, std::less<>> index_;
    std::map<std::string, std::vector<Place>, std::less<>> by_name_;
    std::map<size_t, std::set<size_t>> visible_;
    std::set<Place> reached_;
    Outline out_;
};

}  // namespace

Result<Outline> outline(const fs::path& path) { return Outliner().run(path); }

}  // namespace ww::context

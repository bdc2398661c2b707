// SPDX-License-Identifier: Apache-2.0
#include "context/files.hpp"

#include <algorithm>

namespace ww::context {
namespace {

namespace fs = std::filesystem;

bool left_out(const fs::path& folder) {
    const std::string name = folder.filename().string();
    return name == ".git" || name == "__pycache__" || name == ".svn" || name == ".hg" || name == "node_modules";
}

}  // namespace

Result<std::vector<FoundFile>> files_below(const fs::path& path) {
    std::error_code code;
    if (!fs::exists(path, code)) return fail(Diagnostic{.file = path.string(), .message = "there is no such file or folder"});
    std::vector<FoundFile> out;
    if (!fs::is_directory(path, code)) {
        out.push_back({path, fs::file_size(path, code)});
        return out;
    }
    fs::recursive_directory_iterator each(path, fs::directory_options::skip_permission_denied, code);
    for (const fs::recursive_directory_iterator end; !code && each != end; each.increment(code)) {
        std::error_code status;
        if (each->is_directory(status) && (left_out(each->path()) || each->is_symlink(status))) {
            each.disable_recursion_pending();
            continue;
        }
        if (each->is_regular_file(status) && !each->is_symlink(status)) out.push_back({each->path(), each->file_size(status)});
    }
    if (code) return fail(Diagnostic{.file = path.string(), .message = "cannot be listed: " + code.message()});
    std::sort(out.begin(), out.end(), [](const FoundFile& a, const FoundFile& b) { return a.path < b.path; });
    return out;
}

}  // namespace ww::context

// SPDX-License-Identifier: Apache-2.0
#include "context/fetch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "context/files.hpp"
#include "context/licence.hpp"
#include "toolchain/process.hpp"

namespace ww::context {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTemporary = ".fetching-";

Failure cannot(const fs::path& path, const char* what, const std::error_code& code) {
    return fail(Diagnostic{.file = path.string(), .message = fmt::format("cannot {}: {}", what, code.message())});
}

Result<std::string> git(std::vector<std::string> words, const fs::path& folder, std::chrono::minutes limit) {
    words.insert(words.begin(), "git");
    toolchain::Command command;
    command.argv = words;
    command.folder = folder;
    command.environment = {{"GIT_TERMINAL_PROMPT", "0"}};
    command.timeout = limit;
    WW_TRY(done, toolchain::run_process(command));
    if (done.exit_code == 0) return done.out;
    std::string last;
    for (const std::string_view line : split(done.err, '\n'))
        if (!trim(line).empty()) last = std::string(trim(line));
    return fail(fmt::format("git {}: {}", words[1], last.empty() ? fmt::format("exit code {}", done.exit_code) : last));
}

// One commit without history. A server that hands out branches and tags only is asked for all.
Result<std::string> clone(const std::string& from, const std::string& commit, const fs::path& folder) {
    const std::chrono::minutes limit{30};
    if (commit.empty()) {
        WW_TRY(cloned, git({"clone", "--quiet", "--depth", "1", "--", from, folder.string()}, "", limit));
        (void)cloned;
    } else {
        if (commit[0] == '-') return fail(fmt::format("'{}' is no commit", commit));
        WW_TRY(made, git({"init", "--quiet", folder.string()}, "", limit));
        (void)made;
        auto fetched = git({"fetch", "--quiet", "--depth", "1", "--", from, commit}, folder, limit);
        if (!fetched) {
            const auto all = git({"fetch", "--quiet", "--tags", "--", from, "+refs/heads/*:refs/remotes/origin/*"}, folder, limit);
            if (!all) return fetched.failure();
            WW_TRY(out, git({"checkout", "--quiet", "--detach", commit}, folder, limit));
            (void)out;
        } else {
            WW_TRY(out, git({"checkout", "--quiet", "--detach", "FETCH_HEAD"}, folder, limit));
            (void)out;
        }
    }
    WW_TRY(head, git({"rev-parse", "HEAD"}, folder, limit));
    return std::string(trim(head));
}

Status copy_tree(const fs::path& from, const fs::path& to) {
    WW_TRY(files, files_below(from));
    std::error_code code;
    const bool folder = fs::is_directory(from, code);
    for (const FoundFile& each : files) {
        const fs::path target = to / (folder ? each.path.lexically_relative(from) : each.path.filename());
        fs::create_directories(target.parent_path(), code);
        if (!code) fs::copy_file(each.path, target, code);
        if (code) return cannot(target, "copy", code);
    }
    return ok();
}

Result<std::string> content_of(const fs::path& folder) {
    WW_TRY(files, files_below(folder));
    uint64_t hash = 0;
    for (const FoundFile& each : files) {
        const std::string name = each.path.lexically_relative(folder).string();
        WW_TRY(bytes, read_file(each.path));
        hash = XXH64(name.data(), name.size(), hash);
        hash = XXH64(bytes.data(), bytes.size(), hash);
    }
    return fmt::format("{:016x}", hash);
}

Status allow_writing(const fs::path& folder, bool allow) {
    std::vector<fs::path> all{folder};
    std::error_code code;
    fs::recursive_directory_iterator each(folder, code);
    for (const fs::recursive_directory_iterator end; !code && each != end; each.increment(code)) {
        std::error_code status;
        if (each->is_symlink(status)) continue;
        // A folder must be open before what is in it can be listed or deleted.
        if (allow && each->is_directory(status)) fs::permissions(each->path(), fs::perms::owner_all, fs::perm_options::add, status);
        all.push_back(each->path());
    }
    if (code) return cannot(folder, "list", code);
    constexpr fs::perms kWrite = fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
    for (const fs::path& path : all) {
        fs::permissions(path, allow ? fs::perms::owner_write : kWrite, allow ? fs::perm_options::add : fs::perm_options::remove, code);
        if (code) return cannot(path, "change the permissions", code);
    }
    return ok();
}

bool is_alive(const std::string& pid) {
    std::error_code code;
    return fs::exists("/proc/" + pid, code);
}

// What processes left that were killed while they fetched.
void remove_old_temporaries(const fs::path& into) {
    std::error_code code;
    std::vector<fs::path> old;
    for (fs::directory_iterator each(into, code), end; !code && each != end; each.increment(code)) {
        const std::string name = each->path().filename().string();
        if (name.starts_with(kTemporary) && !is_alive(name.substr(kTemporary.size()))) old.push_back(each->path());
    }
    for (const fs::path& path : old) (void)discard(path).has_value();
}

}  // namespace

bool looks_like_git(const std::string& from) {
    for (const std::string_view start : {"https://", "http://", "ssh://", "git://", "file://", "git@"})
        if (from.starts_with(start)) return true;
    return from.ends_with(".git");
}

std::string licence_of_folder(const fs::path& folder) {
    std::error_code code;
    std::vector<fs::path> found;
    for (fs::directory_iterator each(folder, code), end; !code && each != end; each.increment(code))
        if (is_licence_file(each->path()) && each->is_regular_file(code)) found.push_back(each->path());
    std::sort(found.begin(), found.end());
    for (const fs::path& path : found) {
        const auto text = read_file(path);
        if (!text) continue;
        const std::string id = licence_of_text(*text);
        return fmt::format("{} ({})", id.empty() ? "not recognised" : id, path.filename().string());
    }
    return "";
}

Result<Fetched> fetch(const std::string& from, const std::string& commit, const fs::path& into) {
    remove_old_temporaries(into);
    Fetched out;
    out.folder = into / (std::string(kTemporary) + std::to_string(::getpid()));
    (void)discard(out.folder).has_value();
    const auto get = [&]() -> Status {
        if (looks_like_git(from)) {
            WW_TRY(head, clone(from, commit, fs::absolute(out.folder)));
            out.commit = head;
            return discard(out.folder / ".git");
        }
        if (!commit.empty()) return fail(fmt::format("{} is a path: it has no commit to choose", from));
        WW_TRY(copied, copy_tree(from, out.folder));
        (void)copied;
        WW_TRY(hash, content_of(out.folder));
        out.content = hash;
        return ok();
    };
    if (const Status got = get(); !got) {
        (void)discard(out.folder).has_value();
        return got.failure();
    }
    std::error_code code;
    if (!fs::is_directory(out.folder, code)) return fail(fmt::format("{} holds no files", from));
    out.licence = licence_of_folder(out.folder);
    return out;
}

Status place(const Fetched& fetched, const fs::path& target) {
    std::error_code code;
    WW_TRY(closed, allow_writing(fetched.folder, false));
    (void)closed;
    fs::rename(fetched.folder, target, code);
    if (code) return cannot(target, "make", code);
    return ok();
}

Status discard(const fs::path& folder) {
    std::error_code code;
    if (!fs::exists(fs::symlink_status(folder, code))) return ok();
    if (fs::is_directory(folder, code)) {
        fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add, code);
        WW_TRY(opened, allow_writing(folder, true));
        (void)opened;
    }
    fs::remove_all(folder, code);
    if (code) return cannot(folder, "delete", code);
    return ok();
}

}  // namespace ww::context

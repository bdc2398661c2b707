// SPDX-License-Identifier: Apache-2.0
#include "records/lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace ww::records {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLockFile = ".lock";

// The folder itself is locked. File systems that lock by byte ranges (NFS) want a file that is open
// for writing: there it is a file in the folder.
int open_lockable(const fs::path& folder) {
    const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return fd;
    if (::flock(fd, LOCK_EX | LOCK_NB) == 0 || errno == EWOULDBLOCK) return fd;
    ::close(fd);
    return ::open((folder / kLockFile).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
}

}  // namespace

Result<FolderLock> FolderLock::take(const fs::path& folder, std::chrono::milliseconds patience) {
    const int fd = open_lockable(folder);
    if (fd < 0)
        return fail(Diagnostic{.file = folder.string(),
                               .message = fmt::format("cannot lock the folder: {}", std::strerror(errno))});
    FolderLock lock(fd);
    const auto end = std::chrono::steady_clock::now() + patience;
    while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return fail(Diagnostic{.file = folder.string(),
                                   .message = fmt::format("cannot lock the folder: {}", std::strerror(errno))});
        if (std::chrono::steady_clock::now() > end)
            return fail(Diagnostic{.file = folder.string(),
                                   .message = "another warpwright has been writing here for too long; "
                                              "end it, or try again"});
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return lock;
}

FolderLock::~FolderLock() {
    if (fd_ >= 0) ::close(fd_);
}

void remove_leftovers(const fs::path& file) {
    std::error_code code;
    const std::string prefix = file.filename().string() + ".";
    std::vector<fs::path> old;
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    for (fs::directory_iterator each(folder, code), end; !code && each != end; each.increment(code)) {
        const std::string name = each->path().filename().string();
        if (name.starts_with(prefix) && name.ends_with(".tmp")) old.push_back(each->path());
    }
    for (const fs::path& path : old) fs::remove(path, code);
}

}  // namespace ww::records

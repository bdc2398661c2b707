// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ww {
namespace {

Failure file_failure(const char* action, const std::filesystem::path& path, int error) {
    return fail(Diagnostic{.file = path.string(),
                           .message = fmt::format("cannot {}: {}", action, std::strerror(error))});
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path) {
    std::error_code code;
    if (std::filesystem::is_directory(path, code)) return file_failure("read", path, EISDIR);
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (!file) return file_failure("read", path, errno);
    std::string text;
    char buffer[1 << 16];
    size_t count = 0;
    while ((count = std::fread(buffer, 1, sizeof buffer, file)) > 0) text.append(buffer, count);
    const bool bad = std::ferror(file);
    const int error = errno;
    std::fclose(file);
    if (bad) return file_failure("read", path, error);
    return text;
}

Status write_file(const std::filesystem::path& path, std::string_view bytes) {
    static std::atomic<unsigned> serial{0};
    // A link keeps pointing where it does; a device or a pipe must not be replaced by a file.
    std::error_code code;
    const bool exists = std::filesystem::exists(path, code);
    const bool in_place = exists && !std::filesystem::is_regular_file(path, code) &&
                          !std::filesystem::is_directory(path, code);
    const std::filesystem::path target = exists ? std::filesystem::canonical(path, code) : path;
    std::filesystem::path temporary = in_place ? path : target;
    if (!in_place) temporary += fmt::format(".{}.{}.tmp", ::getpid(), serial++);
    std::FILE* file = std::fopen(temporary.c_str(), "wb");
    if (!file) return file_failure("write", path, errno);
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    const int write_error = errno;
    if (std::fclose(file) != 0 || !written) {
        const int close_error = errno;
        if (!in_place) std::filesystem::remove(temporary, code);
        return file_failure("write", path, written ? close_error : write_error);
    }
    if (!in_place && std::rename(temporary.c_str(), target.c_str()) != 0) {
        const int error = errno;
        std::filesystem::remove(temporary, code);
        return file_failure("write", path, error);
    }
    return ok();
}

std::string display_path(const std::filesystem::path& path) {
    std::error_code code;
    const std::filesystem::path normal = path.lexically_normal();
    const std::filesystem::path relative = normal.lexically_relative(std::filesystem::current_path(code));
    return relative.empty() || *relative.begin() == ".." ? normal.string() : relative.string();
}

}  // namespace ww

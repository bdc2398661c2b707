// SPDX-License-Identifier: Apache-2.0
// Reading and writing whole files; errors name the path and the system's reason.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ww {

Result<std::string> read_file(const std::filesystem::path& path);
// Writes beside the target and renames: a reader sees the old file or the new one, never half.
Status write_file(const std::filesystem::path& path, std::string_view bytes);

// A path for messages: without "..", and relative where it lies below the current folder.
std::string display_path(const std::filesystem::path& path);

}  // namespace ww

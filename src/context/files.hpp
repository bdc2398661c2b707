// SPDX-License-Identifier: Apache-2.0
// The files below a folder, in a fixed order. Links out of it, .git and caches are left out.
#pragma once
#include <filesystem>
#include <vector>

#include "base/result.hpp"

namespace ww::context {

constexpr uintmax_t kLargestText = 8u << 20;  // larger files are listed, not read

struct FoundFile {
    std::filesystem::path path;
    uintmax_t bytes = 0;
};

// path may be a file: then it is the only one.
Result<std::vector<FoundFile>> files_below(const std::filesystem::path& path);

}  // namespace ww::context

// SPDX-License-Identifier: Apache-2.0
// Which headers a translation unit reads, for the cache key. Looks at #include lines only and takes
// every branch of #if: it may name a header too many, never one too few.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ww::toolchain {

struct IncludeScan {
    // Headers found beside their includer or in the given folders, in order of first sight, with
    // their content.
    std::vector<std::pair<std::filesystem::path, std::string>> headers;
    // Names found in none of them: the compiler's own headers, or missing.
    std::vector<std::string> external;
    // An #include whose name is a macro: what it reads is not known, so nothing may be cached.
    bool computed = false;
};

// folder: where the source lies, for "" includes.
IncludeScan scan_includes(std::string_view source, const std::filesystem::path& folder,
                          const std::vector<std::filesystem::path>& include_dirs);

}  // namespace ww::toolchain

// SPDX-License-Identifier: Apache-2.0
// context/INDEX.md: one line a directory of the sources. What a person wrote as a purpose stays,
// whatever happens to the directory; all else is made anew.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "context/sources.hpp"

namespace ww::context {

struct DirectoryLine {
    std::string path;     // below context/, "cutlass/include/cute"
    std::string purpose;  // as people wrote it, or a guess
    bool guessed = false;
    bool gone = false;     // the directory is no longer there; the line stays for its purpose
    bool unknown = false;  // its source is not here now: the line is as it was
    std::string size;      // "34 files, 412 KiB"
    std::string languages, licence, entry_points;
};

struct Index {
    std::filesystem::path file;
    std::vector<DirectoryLine> lines;  // by path
    int directories = 0, files = 0;    // that were looked at
    uint64_t bytes = 0;
    std::vector<Source> missing;       // sources that are not here
    double seconds = 0;
};

// Reads the sources and writes INDEX.md.
Result<Index> make_index(const Context& context);

// The table of an INDEX.md; mistakes are named with their lines.
Result<std::vector<DirectoryLine>> read_index(std::string_view table, const std::filesystem::path& path, int first_line);

std::string to_text(const Index& index);
std::string to_json(const Index& index);

}  // namespace ww::context

// SPDX-License-Identifier: Apache-2.0
// Seeds that lie in the repository as files: the same ones in the same order on every machine.
#pragma once
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.hpp"

// The texts of a folder's files, by name; extension: only those that end so, "" for all.
inline std::vector<std::string> seed_files(const std::string& folder, const std::string& extension = {}) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(WW_SOURCE_DIR) / folder))
        if (extension.empty() || entry.path().extension() == extension) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> seeds;
    for (const auto& path : paths) seeds.push_back(ww::read_file(path).value());
    return seeds;
}

// SPDX-License-Identifier: Apache-2.0
// A zip archive of files that are stored as they are, with one fixed date: the same files, the same bytes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ww::wheel {

struct ZipFile {
    std::string name;
    std::string bytes;
    bool executable = false;
};

// Less than 4 GiB in all.
std::string zip(const std::vector<ZipFile>& files);

}  // namespace ww::wheel

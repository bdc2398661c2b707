// SPDX-License-Identifier: Apache-2.0
// PTX that takes the place of a module of the program: what `warpwright run --ptx` names.
#pragma once
#include <string>
#include <vector>

#include "base/result.hpp"

namespace ww::cudart {

struct Replacement {
    std::string path, text;
    std::vector<std::string> entries;  // names of its kernels, at least one
};

Result<Replacement> read_replacement(const std::string& path);

// Whether that PTX has a kernel of the same name. PTX that cannot be read has none.
bool replaces(const Replacement& replacement, const std::string& ptx);

}  // namespace ww::cudart

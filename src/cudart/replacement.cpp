// SPDX-License-Identifier: Apache-2.0
#include "cudart/replacement.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.hpp"
#include "ptx/module.hpp"

namespace ww::cudart {
namespace {

std::vector<std::string> entries_of(const ptx::Module& module) {
    std::vector<std::string> out;
    for (const ptx::Function& each : module.functions)
        if (each.entry && each.has_body) out.push_back(each.name);
    return out;
}

}  // namespace

Result<Replacement> read_replacement(const std::string& path) {
    WW_TRY(text, read_file(path));
    WW_TRY(module, ptx::parse(text, path));
    std::vector<std::string> entries = entries_of(module);
    if (entries.empty()) return fail(fmt::format("--ptx {}: it has no kernel (.entry)", path));
    return Replacement{path, std::move(text), std::move(entries)};
}

bool replaces(const Replacement& replacement, const std::string& ptx) {
    const auto module = ptx::parse(ptx, "");
    if (!module) return false;
    const std::vector<std::string> theirs = entries_of(*module);
    return std::any_of(theirs.begin(), theirs.end(), [&](const std::string& each) {
        return std::find(replacement.entries.begin(), replacement.entries.end(), each) != replacement.entries.end();
    });
}

}  // namespace ww::cudart

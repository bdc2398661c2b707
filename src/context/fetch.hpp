// SPDX-License-Identifier: Apache-2.0
// Gets a source: copies a folder or file, or clones a git repository at one commit. Knows nothing
// of records.
#pragma once
#include <filesystem>
#include <string>

#include "base/result.hpp"

namespace ww::context {

struct Fetched {
    std::filesystem::path folder;  // a temporary one, beside where it will be
    std::string commit;            // git
    std::string content;           // otherwise: hash of all names and bytes
    std::string licence;           // "" where none was found
};

// "https://...", "git@host:...", "file://...", "....git"
bool looks_like_git(const std::string& from);

// Into a temporary folder in `into`. commit: a commit or tag; empty: the newest.
Result<Fetched> fetch(const std::string& from, const std::string& commit, const std::filesystem::path& into);

// Makes it read-only and moves it to its place.
Status place(const Fetched& fetched, const std::filesystem::path& target);

// Deletes a folder although it is read-only; one that is not there is no failure.
Status discard(const std::filesystem::path& folder);

// "BSD-3-Clause (LICENSE.txt)" of a source's top folder; "" where there is none.
std::string licence_of_folder(const std::filesystem::path& folder);

}  // namespace ww::context

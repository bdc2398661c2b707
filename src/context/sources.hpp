// SPDX-License-Identifier: Apache-2.0
// The sources of a port's context: folders under <port>/context, read-only and not committed, and
// context/sources.txt, which says where each came from and how to get it again. docs/context.md.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace ww::context {

struct Source {
    std::string name;     // its folder in context/
    std::string purpose;  // what it can be used for
    std::string from;     // a git URL, or a path
    std::string commit;   // git: the commit that was fetched
    std::string content;  // a path: hash of names and bytes
    std::string licence;  // "BSD-3-Clause (LICENSE.txt)"
    std::string added;    // date
    int line = 0;         // in sources.txt
    bool present = false;
    bool changed = false;  // add: the content is not what it was when it was recorded
    std::string get_again;  // the command that does
};

struct Context {
    std::filesystem::path port, folder;  // folder: <port>/context
    std::vector<Source> sources;         // in the order of sources.txt
    const Source* find(std::string_view name) const;
};

// The port's folder: port itself where it is given, else the nearest folder upwards with a
// port.toml. The failure says how to name one.
Result<std::filesystem::path> find_port(const std::filesystem::path& port);

Result<Context> load(const std::filesystem::path& port);

struct AddRequest {
    std::filesystem::path port;
    std::string from;     // a path, or what git clone takes
    std::string purpose;
    std::string name;     // empty: made from the path or URL
    std::string commit;   // git: this commit or tag; empty: the newest
};
// Copies or clones, then makes everything read-only. A source that is recorded but not there is
// fetched again: then purpose, and for git the commit, are those on record.
Result<Source> add(const AddRequest& request);

// Deletes the folder and the record; what was on record.
Result<Source> remove(const std::filesystem::path& port, const std::string& name);

}  // namespace ww::context

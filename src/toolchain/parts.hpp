// SPDX-License-Identifier: Apache-2.0
// The table of the toolchain's parts, and what is known of its files; private to this room and to doctor.
#pragma once
#include <array>
#include <filesystem>
#include <span>
#include <string>

namespace ww::toolchain {

enum class PartKind { library, headers, program };

struct PartRow {
    const char* name;
    const char* variable;               // environment variable that names its path
    const char* wheel;                  // PyPI package that carries it; null: only a toolkit has it
    std::array<const char*, 4> places;  // below a toolkit's or a wheel's root; unused are null
    const char* system_name;            // what the loader or PATH knows it by
    PartKind kind;
    const char* unlocks;
};

std::span<const PartRow> part_rows();
const PartRow& part_row(const std::string& component);

// What tells one version of a file from another.
struct FileIdentity {
    std::string path, stamp;  // canonical; size and time of last change
};
// Where ToolchainStays keeps it; null: none lives.
FileIdentity* kept_identity(const std::filesystem::path& path);

}  // namespace ww::toolchain

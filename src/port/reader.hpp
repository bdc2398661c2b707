// SPDX-License-Identifier: Apache-2.0
// port.toml -> Port. Everything that is wrong is reported at once, each with its place and the way
// out; a port that comes back is consistent: names resolve, and every case's sizes evaluate.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "port/port.hpp"

namespace ww::port {

// path: the port.toml, or the folder that holds it. Files that it names must exist.
Result<Port> load_port(const std::filesystem::path& path);
// The same without looking at the file system; path only names the text in messages.
Result<Port> parse_port(std::string_view text, const std::filesystem::path& path);

}  // namespace ww::port

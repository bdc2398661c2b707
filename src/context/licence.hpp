// SPDX-License-Identifier: Apache-2.0
// Which licence a text states: SPDX lines of sources, and the well-known texts of LICENSE files.
// A hint for people; no legal advice.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace ww::context {

// The expression behind "SPDX-License-Identifier:" in the first lines; "" where there is none.
std::string spdx_of(std::string_view text);

bool is_licence_file(const std::filesystem::path& path);  // LICENSE, LICENCE.txt, COPYING, ...

// The SPDX id of a licence's text, or "" when it is none that is known here.
std::string licence_of_text(std::string_view text);

}  // namespace ww::context

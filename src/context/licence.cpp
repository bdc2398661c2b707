// SPDX-License-Identifier: Apache-2.0
#include "context/licence.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "base/text.hpp"

namespace ww::context {
namespace {

constexpr size_t kHead = 4096;  // bytes in which an SPDX line is looked for

// Words in lower case with one space between them: line breaks and comment signs do not matter.
std::string normal(std::string_view text) {
    std::string out;
    for (const unsigned char c : text) {
        if (std::isalnum(c) || c == '.') out += static_cast<char>(std::tolower(c));
        else if (!out.empty() && out.back() != ' ') out += ' ';
    }
    return out;
}

struct Known {
    std::string_view id;
    std::vector<std::string_view> all_of;
};

// The first that matches counts: special forms stand before general ones. Phrases are normal().
const std::vector<Known>& known() {
    static const std::vector<Known> kKnown{
        {"AGPL-3.0", {"gnu affero general public license version 3"}},
        {"LGPL-3.0", {"gnu lesser general public license version 3"}},
        {"LGPL-2.1", {"gnu lesser general public license version 2.1"}},
        {"GPL-3.0", {"gnu general public license version 3"}},
        {"GPL-2.0", {"gnu general public license version 2"}},
        {"MPL-2.0", {"mozilla public license version 2.0"}},
        {"Apache-2.0 WITH LLVM-exception", {"apache license version 2.0", "llvm exceptions to the apache 2.0 license"}},
        {"Apache-2.0", {"apache license version 2.0"}},
        {"BSL-1.0", {"boost software license version 1.0"}},
        {"BSD-3-Clause",
         {"redistributions of source code must retain the above copyright notice",
          "redistributions in binary form must reproduce", "may be used to endorse or promote products"}},
        {"BSD-2-Clause",
         {"redistributions of source code must retain the above copyright notice",
          "redistributions in binary form must reproduce"}},
        {"ISC", {"permission to use copy modify and or distribute this software for any purpose with or without fee"}},
        {"MIT", {"permission is hereby granted free of charge to any person obtaining a copy", "above copyright notice"}},
        {"Zlib", {"this software is provided as is without any express or implied warranty", "altered source versions"}},
        {"Unlicense", {"this is free and unencumbered software released into the public domain"}},
        {"CC0-1.0", {"cc0 1.0 universal"}},
        {"LicenseRef-NVIDIA", {"nvidia", "license agreement"}},
    };
    return kKnown;
}

}  // namespace

std::string spdx_of(std::string_view text) {
    constexpr std::string_view kMark = "SPDX-License-Identifier:";
    text = text.substr(0, kHead);
    const size_t at = text.find(kMark);
    if (at == std::string_view::npos) return "";
    std::string_view rest = text.substr(at + kMark.size());
    rest = rest.substr(0, rest.find('\n'));
    for (const std::string_view end : {"*/", "-->"})
        if (const size_t cut = rest.find(end); cut != std::string_view::npos) rest = rest.substr(0, cut);
    return std::string(trim(rest));
}

bool is_licence_file(const std::filesystem::path& path) {
    std::string file = path.filename().string();
    std::transform(file.begin(), file.end(), file.begin(), [](unsigned char c) { return std::toupper(c); });
    for (const std::string_view start : {"LICENSE", "LICENCE", "COPYING", "EULA"})
        if (file.starts_with(start)) {
            const std::string_view rest = std::string_view(file).substr(start.size());
            return rest.empty() || rest[0] == '.' || rest[0] == '-' || rest[0] == '_';
        }
    return false;
}

std::string licence_of_text(std::string_view text) {
    if (const std::string id = spdx_of(text); !id.empty()) return id;
    const std::string words = normal(text);
    for (const Known& each : known())
        if (std::all_of(each.all_of.begin(), each.all_of.end(),
                        [&](std::string_view phrase) { return words.find(phrase) != std::string::npos; }))
            return std::string(each.id);
    return "";
}

}  // namespace ww::context

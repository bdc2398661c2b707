// SPDX-License-Identifier: Apache-2.0
// Listings for tests from instructions and labels alone: adds offsets, the section and, behind '|',
// the encoding, so that a test shows only what it is about.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "sass/listing.hpp"

namespace ww::sass::test {

// A line is a label ("a:"), an instruction ("@P0 BRA `(a)"), an instruction with its encoding in
// hexadecimal ("EXIT | 94d 3800000000000"), or anything that starts with '/' or '.', kept as it is.
inline std::string listing_text(std::string_view code, std::string_view target = "sm_90a") {
    std::string out = fmt::format(
        "\t.target\t{}\n\t.section\t.text.k,\"ax\",@progbits\n\t.type\tk,@function\nk:\n"
        ".text.k:\n",
        target);
    int offset = 0;
    for (std::string_view line : split(code, '\n')) {
        line = trim(line);
        if (line.empty()) continue;
        if (line.ends_with(':') || line.starts_with('/') || line.starts_with('.')) {
            out += fmt::format("{}\n", line);
            continue;
        }
        const size_t bar = line.find('|');
        out += fmt::format("        /*{:04x}*/    {} ;", offset, trim(line.substr(0, bar)));
        if (bar != std::string_view::npos) {
            const auto words = split_words(line.substr(bar + 1));
            out +=
                fmt::format("  /* 0x{:0>16} */\n      /* 0x{:0>16} */", words.at(0), words.at(1));
        }
        out += '\n';
        offset += 16;
    }
    return out;
}

inline Listing read_code(std::string_view code, std::string_view target = "sm_90a") {
    auto read = read_listing(listing_text(code, target), "k.sass");
    if (!read) {
        ADD_FAILURE() << format(read.error());
        std::abort();  // the test has nothing to go on with
    }
    return std::move(*read);
}

}  // namespace ww::sass::test

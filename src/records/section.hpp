// SPDX-License-Identifier: Apache-2.0
// A part of a Markdown file that the tool writes, between two comments; the rest is the people's.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ww::records {

struct Section {
    std::string_view name;     // "gotchas": stands in the markers
    std::string_view heading;  // "## Gotchas": where the section goes when it is not there yet
    std::string_view by;       // "warpwright probe render": who writes it
};

struct Found {
    std::string text;  // between the markers; "" where there are none
    int line = 0;      // of the begin marker
};
// A begin without an end, or two of a kind, is a failure with its line.
Result<Found> section_of(std::string_view text, const std::filesystem::path& path,
                               const Section& section);

// The text with the section's content replaced. Without markers it goes under the heading, behind
// what stands there; without a heading, to the end with one.
Result<std::string> with_section(std::string_view text, const std::filesystem::path& path,
                                 const Section& section, std::string_view content);

// The same on a file, under its folder's lock; a file that is not there begins with title. Nothing
// is written when nothing changes.
Status update_section(const std::filesystem::path& path, std::string_view title, const Section& section,
                      const std::function<Result<std::string>(const Found& old)>& content);

}  // namespace ww::records

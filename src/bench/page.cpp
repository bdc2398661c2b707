// SPDX-License-Identifier: Apache-2.0
#include "bench/page.hpp"

#include <string>

#include "base/files.hpp"
#include "records/section.hpp"

namespace ww::bench {
namespace {

namespace fs = std::filesystem;

constexpr records::Section kSection{.name = "bench", .heading = "## Benchmark", .by = "warpwright bench --markdown"};

Result<bool> has_section(const fs::path& file) {
    std::error_code code;
    if (!fs::exists(file, code)) return false;
    WW_TRY(text, read_file(file));
    WW_TRY(found, records::section_of(text, file, kSection));
    return found.line != 0;
}

}  // namespace

Status check_page(const fs::path& file) {
    WW_TRY(section, has_section(file));
    (void)section;
    return ok();
}

Status write_page(const fs::path& file, const Report& report) {
    WW_TRY(section, has_section(file));
    if (!section) return write_file(file, to_markdown(report));
    return records::update_section(file, "", kSection, [&](const records::Found&) -> Result<std::string> { return to_markdown(report); });
}

}  // namespace ww::bench

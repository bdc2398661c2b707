// SPDX-License-Identifier: Apache-2.0
// Where a benchmark's tables go: into a file of their own, or into the section "bench" of a page that has one.
#pragma once
#include <filesystem>

#include "bench/report.hpp"

namespace ww::bench {

// A page with half a section is a failure with its line. A benchmark is long: ask before it.
Status check_page(const std::filesystem::path& file);
Status write_page(const std::filesystem::path& file, const Report& report);

}  // namespace ww::bench

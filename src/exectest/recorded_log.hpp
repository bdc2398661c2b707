// SPDX-License-Identifier: Apache-2.0
// The log of a recording run (tests/ptx/recorded.log): which tests a GPU has executed.
#pragma once
#include <filesystem>
#include <set>
#include <string>

#include "base/result.hpp"

namespace ww::exectest {

struct RecordedLog {
    std::string device;              // its first line: device, driver, assembler, date
    std::set<std::string> executed;  // tests that ran there and passed
};

Result<RecordedLog> load_recorded_log(const std::filesystem::path& path);
Result<RecordedLog> parse_recorded_log(const std::string& text, const std::string& file);

}  // namespace ww::exectest

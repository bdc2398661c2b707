// SPDX-License-Identifier: Apache-2.0
#include "exectest/recorded_log.hpp"

#include "base/files.hpp"
#include "base/text.hpp"

namespace ww::exectest {

Result<RecordedLog> parse_recorded_log(const std::string& text, const std::string& file) {
    RecordedLog out;
    int number = 0;
    for (const std::string_view line : split(text, '\n')) {
        ++number;
        if (number == 1) {
            out.device = trim(line);
            continue;
        }
        const auto words = split_words(line);
        if (words.empty()) continue;
        const bool known = words.size() == 3 &&
                           (words[2] == "passed" || words[2] == "failed" || words[2] == "skipped");
        if (!known)
            return fail(Diagnostic{.file = file,
                                   .line = number,
                                   .message =
                                       "expected 'HASH NAME passed', 'failed' or 'skipped', as "
                                       "warpwright test --record --log writes it",
                                   .source_line = std::string(line)});
        if (words[2] == "passed") out.executed.insert(std::string(words[1]));
    }
    return out;
}

Result<RecordedLog> load_recorded_log(const std::filesystem::path& path) {
    WW_TRY(text, read_file(path));
    return parse_recorded_log(text, path.string());
}

}  // namespace ww::exectest

// SPDX-License-Identifier: Apache-2.0
#include "toolchain/ptxas_report.hpp"

#include <charconv>

#include "base/text.hpp"

namespace ww::toolchain {
namespace {

// The number in front of " bytes spill stores".
uint64_t number_before(std::string_view line, std::string_view words) {
    const size_t at = line.find(words);
    if (at == std::string_view::npos) return 0;
    size_t from = at;
    while (from > 0 && line[from - 1] >= '0' && line[from - 1] <= '9') --from;
    uint64_t value = 0;
    std::from_chars(line.data() + from, line.data() + at, value);
    return value;
}

std::string quoted(std::string_view line) {
    const size_t to = line.rfind('\'');
    if (to == std::string_view::npos || to == 0) return {};
    const size_t from = line.rfind('\'', to - 1);
    return from == std::string_view::npos ? std::string()
                                          : std::string(line.substr(from + 1, to - from - 1));
}

}  // namespace

std::map<std::string, PtxasFunction> parse_ptxas_report(std::string_view log) {
    constexpr std::string_view kProperties = "Function properties for ";
    std::map<std::string, PtxasFunction> out;
    std::string current;
    for (const std::string_view line : split(log, '\n')) {
        if (const size_t at = line.find(kProperties); at != std::string_view::npos) {
            current = std::string(trim(line.substr(at + kProperties.size())));
            out[current];
        } else if (line.find(" bytes spill stores") != std::string_view::npos && !current.empty()) {
            out[current].spill_store_bytes = number_before(line, " bytes spill stores");
            out[current].spill_load_bytes = number_before(line, " bytes spill loads");
        } else if (const size_t code = line.find("(C7"); code != std::string_view::npos) {
            const size_t end = line.find(')', code);
            if (end == std::string_view::npos) continue;
            out[quoted(line)].warnings.push_back(std::string(line.substr(code + 1, end - code - 1)) + ": " +
                                                 std::string(trim(line.substr(end + 1))));
        }
    }
    return out;
}

}  // namespace ww::toolchain

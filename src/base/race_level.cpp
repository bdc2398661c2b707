// SPDX-License-Identifier: Apache-2.0
#include "base/race_level.hpp"

#include <fmt/format.h>

namespace ww {
namespace {

constexpr std::string_view kNames[] = {"error", "warning", "strict", "pedantic"};

}  // namespace

std::string_view level_name(RaceLevel level) { return kNames[static_cast<size_t>(level)]; }

Result<RaceLevel> parse_race_level(std::string_view text) {
    for (size_t i = 0; i < std::size(kNames); ++i)
        if (kNames[i] == text) return static_cast<RaceLevel>(i);
    return fail(fmt::format("'{}' is no level of the race checker: error, warning, strict or pedantic", text));
}

}  // namespace ww

// SPDX-License-Identifier: Apache-2.0
// How much of what the race checker knows it reports (docs/memory_model.md): each level says what
// those before it say, and more.
#pragma once
#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace ww {

enum class RaceLevel : uint8_t { error, warning, strict, pedantic };
std::string_view level_name(RaceLevel level);
Result<RaceLevel> parse_race_level(std::string_view text);

}  // namespace ww

// SPDX-License-Identifier: Apache-2.0
// The second half of an "unknown name" message. Bounded work for words and lists of any size.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace ww::port {

// "; did you mean 'x'?", or "; there are a, b, c" where none is near, or "; there are none".
std::string suggestion(std::string_view word, std::span<const std::string> known);
// The word as a message shows it: cut when it is very long.
std::string shown(std::string_view word);

}  // namespace ww::port

// SPDX-License-Identifier: Apache-2.0
// The list of a context's sources, printed.
#pragma once
#include <string>

#include "context/sources.hpp"

namespace ww::context {

std::string to_text(const Context& context);
std::string to_json(const Context& context);

// After remove.
std::string removed_text(const Source& source);
std::string removed_json(const Source& source);

}  // namespace ww::context

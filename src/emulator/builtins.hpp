// SPDX-License-Identifier: Apache-2.0
// Functions that the CUDA runtime provides to device code: vprintf, __assertfail and friends.
#pragma once
#include <string>
#include <string_view>

#include "machine/program.hpp"

namespace ww::emulator {

// The implementation of a declared, undefined function; null when there is none.
machine::Builtin find_builtin(std::string_view name);

}  // namespace ww::emulator

// SPDX-License-Identifier: Apache-2.0
// The spelling of compile targets: sm_90, sm_90a, sm_100f.
#pragma once
#include <string>

#include "base/result.hpp"

namespace ww::toolchain {

// "sm_90a" -> "90a"; anything else fails with the spelling that is meant.
Result<std::string> arch_of(const std::string& target);

}  // namespace ww::toolchain

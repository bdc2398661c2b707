// SPDX-License-Identifier: Apache-2.0
#include "base/check.hpp"

#include <fmt/format.h>

namespace ww {

void check_failed(const char* condition, const char* file, int line, const std::string& message) {
    throw InternalError(fmt::format("{}:{}: {} ({})", file, line, message, condition));
}

}  // namespace ww

// SPDX-License-Identifier: Apache-2.0
// WW_CHECK: a condition that only a bug of ours can break. Always on; main turns it into exit 70.
#pragma once
#include <stdexcept>
#include <string>

namespace ww {

struct InternalError : std::logic_error {
    using std::logic_error::logic_error;
};

[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const std::string& message);

}  // namespace ww

#define WW_CHECK(condition, message)                                            \
    do {                                                                        \
        if (!(condition)) ::ww::check_failed(#condition, __FILE__, __LINE__, message); \
    } while (false)

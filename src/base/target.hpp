// SPDX-License-Identifier: Apache-2.0
// The spelling of compile targets: sm_90, sm_90a, sm_100f. The one reader of it.
#pragma once
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace ww {

struct Target {
    int sm = 0;       // 90 for sm_90
    char suffix = 0;  // 'a': this architecture only; 'f': its family; 0: it and everything later

    std::string arch() const;  // "90a"
    std::string text() const;  // "sm_90a"
    // Whether a device of that compute capability (90 for 9.0) has all that the target has. With a
    // suffix it is one of the same family: sm_121 has what sm_120a has, compiled anew for sm_121a.
    bool is_within(int device_sm) const;
};

// Anything but a target fails with the spelling that is meant.
Result<Target> parse_target(std::string_view text);

}  // namespace ww

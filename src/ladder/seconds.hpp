// SPDX-License-Identifier: Apache-2.0
// Wall time for reports; not a benchmark's clock.
#pragma once
#include <chrono>

namespace ww::ladder {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace ww::ladder

// SPDX-License-Identifier: Apache-2.0
#include "base/host.hpp"

#include <algorithm>
#include <thread>

namespace ww {

uint32_t host_threads() {
    static const uint32_t threads = std::max(1u, std::thread::hardware_concurrency());
    return threads;
}

}  // namespace ww

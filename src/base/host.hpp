// SPDX-License-Identifier: Apache-2.0
// What the machine that this runs on has.
#pragma once
#include <cstdint>

namespace ww {

// Hardware threads, at least 1; asked once, because the answer is read from a file.
uint32_t host_threads();

}  // namespace ww

// SPDX-License-Identifier: Apache-2.0
// What a kernel calls a byte of its shared memory.
#pragma once
#include <cstdint>
#include <string>

#include "emulator/decode.hpp"

namespace ww::emulator {

// "tile[12]", or "byte 384" where no .shared variable has it. offset: from the start of the block's.
std::string shared_name(const Kernel& kernel, uint64_t offset);

}  // namespace ww::emulator

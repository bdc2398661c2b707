// SPDX-License-Identifier: Apache-2.0
// Register allocation at load: virtual registers that are never live together share a row of 32
// lanes. Real kernels declare up to 11,000 registers of a class.
#pragma once
#include <cstdint>
#include <vector>

#include "emulator/order.hpp"

namespace ww::emulator {

struct RegisterUse {
    std::vector<uint32_t> uses;   // read, or written under a guard (the old value lives on)
    std::vector<uint32_t> kills;  // written in all lanes that execute
    std::vector<uint32_t> holds;  // accessed after this instruction, up to one that lands
    bool lands = false;
};

struct RegisterLayout {
    std::vector<uint32_t> offset;  // bytes from the start of the frame's registers, per register
    uint32_t bytes = 0;
};

// row_bytes[v]: bytes of 32 lanes of register v (4 for a predicate). pinned[v]: v keeps a row of
// its own (it has a value on entry).
RegisterLayout allocate_registers(const std::vector<uint32_t>& row_bytes, const std::vector<bool>& pinned,
                                  const std::vector<RegisterUse>& code, const std::vector<FlowBlock>& blocks,
                                  const std::vector<uint32_t>& order);

}  // namespace ww::emulator

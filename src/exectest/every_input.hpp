// SPDX-License-Identifier: Apache-2.0
// Instructions of one 32-bit operand on a GPU and on the emulator with every one of the 2^32 operands
// there are: `warpwright fidelity --every-input`.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"

namespace ww::exectest {

struct EveryInput {
    std::string instruction;     // "ex2.approx.ftz.f32"
    uint64_t results = 0;
    uint64_t mismatches = 0;
    uint64_t uncounted = 0;      // results in blocks that differ, but were not looked at any more
    std::string first;           // "operand 00000001: ff800000, emulated 00000000"
    bool good() const { return mismatches == 0 && uncounted == 0; }
};

// Operands of one block: what results are hashed and counted by.
constexpr uint64_t kOperandsOfBlock = 1 << 16;

// Operands first, first + 1, ...: `blocks` times kOperandsOfBlock of them. The two instructions are the
// same but in tests.
struct EveryInputSide {
    device::Device& device;
    std::string instruction;
};
Result<EveryInput> compare_operands(const EveryInputSide& right, const EveryInputSide& ours, uint32_t first,
                                    uint32_t blocks);

// What the multi-function unit computes, alone and with the range handling around it; all operands.
Result<std::vector<EveryInput>> try_every_input(device::Device& gpu,
                                                const std::function<void(size_t done, size_t of)>& progress);

// A section of docs/fidelity.md.
std::string to_markdown(const std::vector<EveryInput>& found);

}  // namespace ww::exectest

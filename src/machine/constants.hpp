// SPDX-License-Identifier: Apache-2.0
// Immediates of a program, broadcast over 32 lanes once for each register width, so that a
// semantic function reads them like a register. Not the .const state space.
#pragma once
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "machine/types.hpp"

namespace ww::machine {

class ConstantPool {
  public:
    static constexpr uint32_t k1 = 0, k2 = 32, k4 = 96, k8 = 224, k16 = 480, kEntry = 992;
    static constexpr uint32_t offset_of_width(int bytes) {
        return bytes == 1 ? k1 : bytes == 2 ? k2 : bytes == 4 ? k4 : bytes == 8 ? k8 : k16;
    }

    // Bits as seen by 8-byte operands, 4-byte ones (also the source of the narrower ones).
    // Integers pass the same value twice; a float literal passes its f64 and its f32 bits.
    uint32_t add(uint64_t bits64, uint32_t bits32) {
        const auto [it, fresh] = index_.try_emplace({bits64, bits32}, static_cast<uint32_t>(bytes_.size()));
        if (!fresh) return it->second;
        bytes_.resize(bytes_.size() + kEntry);
        uint8_t* at = bytes_.data() + it->second;
        for (int lane = 0; lane < kLanes; ++lane) {
            at[k1 + lane] = static_cast<uint8_t>(bits32);
            const uint16_t half = static_cast<uint16_t>(bits32);
            std::memcpy(at + k2 + 2 * lane, &half, 2);
            std::memcpy(at + k4 + 4 * lane, &bits32, 4);
            std::memcpy(at + k8 + 8 * lane, &bits64, 8);
            std::memcpy(at + k16 + 16 * lane, &bits64, 8);
            const uint64_t high = static_cast<int64_t>(bits64) < 0 ? ~uint64_t{0} : 0;
            std::memcpy(at + k16 + 16 * lane + 8, &high, 8);
        }
        return it->second;
    }
    const uint8_t* data() const { return bytes_.data(); }

  private:
    std::vector<uint8_t> bytes_;
    std::map<std::pair<uint64_t, uint32_t>, uint32_t> index_;
};

}  // namespace ww::machine

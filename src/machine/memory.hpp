// SPDX-License-Identifier: Apache-2.0
// Memory with a validity byte beside each byte: out-of-bounds, misaligned, uninitialised and
// read-only accesses are found here. GlobalMemory is the device's; Region is any flat piece.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/memory_label.hpp"
#include "base/result.hpp"
#include "machine/types.hpp"

namespace ww::machine {

struct Region {
    uint64_t base = 0;  // first address, in the region's own space
    uint64_t size = 0;
    uint8_t* data = nullptr;
    uint8_t* valid = nullptr;  // one byte per byte, 1 = initialised; null: all of it is
    bool writable = true;
    std::string name;

    // Unsigned wrap makes addresses below base fail too.
    bool contains(uint64_t address, uint64_t bytes) const {
        return address - base <= size && bytes <= size - (address - base);
    }
};

// Device memory at deterministic addresses: one reserved range of the host, handed out upwards
// with gaps, never reused, so a stale pointer or an overrun is always seen.
class GlobalMemory {
  public:
    static constexpr uint64_t kBase = uint64_t{0x7} << 40;
    static constexpr uint64_t kReserve = uint64_t{1} << 38;
    static constexpr uint64_t kAlign = 512;

    GlobalMemory();
    ~GlobalMemory();
    GlobalMemory(const GlobalMemory&) = delete;
    GlobalMemory& operator=(const GlobalMemory&) = delete;

    Result<uint64_t> allocate(uint64_t bytes, MemoryLabel label = {}, bool initialised = false);
    Status release(uint64_t address);
    // The live region that holds the whole range, or null.
    const Region* find(uint64_t address, uint64_t bytes) const;
    // "tensor 'o', byte 12 of 4096 (element [0, 3])", "16 bytes past the end of ...": for messages.
    std::string describe(uint64_t address) const;
    // In a live allocation, but outside of the part that has the name: in a guard zone.
    bool in_guard(uint64_t address) const;

  private:
    struct Allocation {
        Region region;
        MemoryLabel label;
    };
    uint8_t* data_ = nullptr;
    uint8_t* valid_ = nullptr;
    uint64_t next_ = 0;
    std::map<uint64_t, Allocation> live_;
    std::map<uint64_t, Allocation> released_;
};

}  // namespace ww::machine

// SPDX-License-Identifier: Apache-2.0
// Observers of the event sink. Writers: who last wrote each byte of global memory.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <unordered_map>

#include "machine/block.hpp"

namespace ww::emulator {

class Writers : public machine::EventSink {
  public:
    struct Record {
        uint64_t block = UINT64_MAX;  // linear block id; UINT64_MAX: nobody
        uint32_t thread = 0;          // linear thread id within the block
        uint32_t inst = 0;
        uint32_t launch = 0;
    };
    uint32_t launch = 0;  // set before each launch, kept in the records
    void memory(const machine::MemoryEvent& event) override;
    std::optional<Record> last(uint64_t address) const;
    void clear() { pages_.clear(); }

  private:
    static constexpr uint64_t kPage = 1024;
    std::unordered_map<uint64_t, std::unique_ptr<std::array<Record, kPage>>> pages_;
};

}  // namespace ww::emulator

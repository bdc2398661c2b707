// SPDX-License-Identifier: Apache-2.0
#include "emulator/observers.hpp"

namespace ww::emulator {

void Writers::memory(const machine::MemoryEvent& event) {
    if (event.access == machine::Access::read) return;
    machine::each_piece(event, [&](int lane, uint64_t address) {
        if (machine::space_of(address) != machine::Space::global) return;
        const Record record{event.warp.block->linear_id, event.warp.id * machine::kLanes + static_cast<uint32_t>(lane), event.inst.index, launch};
        for (uint64_t at = address; at < address + event.bytes; ++at) {
            std::unique_ptr<std::array<Record, kPage>>& page = pages_[at / kPage];
            if (!page) page = std::make_unique<std::array<Record, kPage>>();
            (*page)[at % kPage] = record;
        }
    });
}

std::optional<Writers::Record> Writers::last(uint64_t address) const {
    const auto it = pages_.find(address / kPage);
    if (it == pages_.end()) return std::nullopt;
    const Record& record = (*it->second)[address % kPage];
    if (record.block == UINT64_MAX) return std::nullopt;
    return record;
}

}  // namespace ww::emulator

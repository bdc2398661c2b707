// SPDX-License-Identifier: Apache-2.0
#include "races/shadow.hpp"

namespace ww::races {

void Shadow::add(Cell& cell, const Record& record) {
    if (cell.more == 0) {
        if (free_.empty()) {
            lists_.emplace_back();
            cell.more = static_cast<uint32_t>(lists_.size());
        } else {
            cell.more = free_.back();
            free_.pop_back();
        }
    }
    std::vector<Record>& records = list(cell.more);
    // The oldest of very many is given up: a race with it may be missed.
    if (records.size() >= kLongest) records.erase(records.begin());
    records.push_back(record);
}

void Shadow::refine(Page& page, uint32_t shift) {
    std::vector<Cell> cells(kPage >> shift);
    for (size_t i = 0; i < cells.size(); ++i) {
        const Cell& from = page.cells[i << shift >> page.shift];
        cells[i] = {.write = from.write, .other = from.other};
        if (from.more == 0) continue;
        const std::vector<Record> records = list(from.more);
        for (const Record& record : records) add(cells[i], record);
    }
    for (Cell& cell : page.cells) clear(cell);
    page.cells = std::move(cells);
    page.shift = shift;
}

}  // namespace ww::races

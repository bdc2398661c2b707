// SPDX-License-Identifier: Apache-2.0
// Who accessed each piece of memory last: the last write, and everything since that a later write
// must be ordered after. Pieces are 16 bytes long until a page sees smaller accesses.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "races/clock.hpp"

namespace ww::races {

// One access, or the same access of several lanes of a warp.
struct Record {
    static constexpr uint32_t kWrite = 1u << 24, kStrong = 1u << 25, kAsyncProxy = 1u << 26, kAtomic = 1u << 27;
    // lanes holds who issued the operation (warp's key << 5 | lane), not lanes of the actor.
    static constexpr uint32_t kIssuer = 1u << 28;
    static constexpr uint32_t kEnd = 1u << 29;  // of a block, which is no access
    static constexpr uint32_t kScopeShift = 30, kInstMask = (1u << 24) - 1;

    uint32_t epoch = 0;  // of the actor; 0: no access
    uint32_t lanes = 0;
    Actor actor = 0;
    uint32_t what = 0;  // instruction, and the flags above

    bool is(uint32_t flag) const { return (what & flag) != 0; }
    uint32_t inst() const { return what & kInstMask; }
    uint32_t scope() const { return what >> kScopeShift; }
    LaneMask lanes_of_actor() const { return is(kIssuer) ? 0 : lanes; }
    // The same instruction in the same epoch, maybe by other lanes.
    bool is_again(const Record& other) const {
        return actor == other.actor && epoch == other.epoch && what == other.what && !is(kIssuer);
    }
};

struct Cell {
    Record write;       // the last weak write
    Record other;       // a read or a strong write since
    uint32_t more = 0;  // further ones: Shadow::list(more)
};

class Shadow {
  public:
    // f(cell, address, bytes) for each cell of a range, none of which is longer than unit, a power of
    // two. Cells are split where the range cuts them.
    template <class F>
    void each(uint64_t address, uint64_t bytes, uint32_t unit, F&& f) {
        while (bytes != 0) {
            Page& page = page_of(address / kPage);
            const uint64_t at = address % kPage, here = bytes < kPage - at ? bytes : kPage - at;
            const uint32_t fits = static_cast<uint32_t>(__builtin_ctzll(at | here | (unit < 16 ? unit : 16)));
            if (fits < page.shift) refine(page, fits >= 2 ? 2 : 0);
            const uint64_t step = uint64_t{1} << page.shift;
            for (uint64_t i = at; i < at + here; i += step) f(page.cells[i >> page.shift], address - at + i, step);
            address += here;
            bytes -= here;
        }
    }
    std::vector<Record>& list(uint32_t number) { return lists_[number - 1]; }
    // f(record, address, bytes) for everything that is kept.
    template <class F>
    void each_record(F&& f) {
        for (auto& [number, page] : pages_)
            for (size_t i = 0; i < page->cells.size(); ++i) {
                const Cell& cell = page->cells[i];
                const uint64_t address = number * kPage + (i << page->shift), bytes = uint64_t{1} << page->shift;
                if (cell.write.epoch) f(cell.write, address, bytes);
                if (cell.other.epoch) f(cell.other, address, bytes);
                if (cell.more)
                    for (const Record& record : list(cell.more)) f(record, address, bytes);
            }
    }
    Record ended;  // shared memory: by whom its block ended
    void add(Cell& cell, const Record& record);  // to its list
    void clear(Cell& cell) {                     // what came after the last write
        cell.other = {};
        if (cell.more == 0) return;
        lists_[cell.more - 1].clear();
        free_.push_back(cell.more);
        cell.more = 0;
    }

  private:
    static constexpr uint64_t kPage = 256;
    static constexpr size_t kRecent = 64, kLongest = 64;
    struct Page {
        uint32_t shift = 4;  // of the bytes of a cell
        std::vector<Cell> cells = std::vector<Cell>(kPage >> 4);
    };
    Page& page_of(uint64_t number) {
        auto& [tag, page] = recent_[number % kRecent];
        if (tag == number + 1) return *page;
        std::unique_ptr<Page>& kept = pages_[number];
        if (!kept) kept = std::make_unique<Page>();
        tag = number + 1;
        page = kept.get();
        return *page;
    }
    void refine(Page& page, uint32_t shift);

    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
    std::array<std::pair<uint64_t, Page*>, kRecent> recent_{};
    std::vector<std::vector<Record>> lists_;
    std::vector<uint32_t> free_;
};

}  // namespace ww::races

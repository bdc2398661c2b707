// SPDX-License-Identifier: Apache-2.0
#include "emulator/registers.hpp"

#include <algorithm>
#include <map>

namespace ww::emulator {
namespace {

using Bits = std::vector<uint64_t>;

bool test(const Bits& bits, uint32_t i) { return bits[i / 64] >> (i % 64) & 1; }
void set(Bits& bits, uint32_t i) { bits[i / 64] |= uint64_t{1} << (i % 64); }

struct Liveness {
    std::vector<Bits> in, out;
};

Liveness liveness(size_t registers, const std::vector<RegisterUse>& code, const std::vector<FlowBlock>& blocks,
                  const std::vector<uint32_t>& order) {
    const size_t words = (registers + 63) / 64;
    std::vector<Bits> use(blocks.size(), Bits(words)), kill(blocks.size(), Bits(words));
    for (size_t b = 0; b < blocks.size(); ++b)
        for (uint32_t i = blocks[b].begin; i < blocks[b].end; ++i) {
            for (const uint32_t v : code[i].uses)
                if (!test(kill[b], v)) set(use[b], v);
            for (const uint32_t v : code[i].kills) set(kill[b], v);
        }
    Liveness live{std::vector<Bits>(blocks.size(), Bits(words)), std::vector<Bits>(blocks.size(), Bits(words))};
    for (bool changed = true; changed;) {
        changed = false;
        for (auto it = order.rbegin(); it != order.rend(); ++it) {
            const uint32_t b = *it;
            for (size_t w = 0; w < words; ++w) {
                uint64_t out = 0;
                for (const uint32_t s : blocks[b].successors) out |= live.in[s][w];
                const uint64_t in = use[b][w] | (out & ~kill[b][w]);
                changed |= in != live.in[b][w];
                live.out[b][w] = out;
                live.in[b][w] = in;
            }
        }
    }
    return live;
}

// The registers in flight at the start of each block: held by an instruction on some path to it,
// and not landed since. Empty where nothing holds registers.
std::vector<Bits> in_flight(size_t registers, const std::vector<RegisterUse>& code, const std::vector<FlowBlock>& blocks,
                            const std::vector<uint32_t>& order) {
    if (std::none_of(code.begin(), code.end(), [](const RegisterUse& use) { return !use.holds.empty(); })) return {};
    std::vector<Bits> flying(blocks.size(), Bits((registers + 63) / 64));
    for (bool changed = true; changed;) {
        changed = false;
        for (const uint32_t b : order) {
            Bits now = flying[b];
            for (uint32_t i = blocks[b].begin; i < blocks[b].end; ++i) {
                if (code[i].lands) std::fill(now.begin(), now.end(), 0);
                for (const uint32_t v : code[i].holds) set(now, v);
            }
            for (const uint32_t s : blocks[b].successors)
                for (size_t w = 0; w < now.size(); ++w) {
                    changed |= (now[w] & ~flying[s][w]) != 0;
                    flying[s][w] |= now[w];
                }
        }
    }
    return flying;
}

struct Interval {
    uint32_t begin = UINT32_MAX, end = 0;  // positions in the order, inclusive
    void extend(uint32_t at) {
        begin = std::min(begin, at);
        end = std::max(end, at);
    }
};

// Registers in flight keep their rows.
void extend_over_flight(const std::vector<Bits>& flying, const std::vector<RegisterUse>& code,
                        const std::vector<FlowBlock>& blocks, const std::vector<uint32_t>& order,
                        std::vector<Interval>& interval) {
    if (flying.empty()) return;
    const auto extend = [&](const Bits& bits, uint32_t at) {
        for (uint32_t v = 0; v < interval.size(); ++v)
            if (test(bits, v)) interval[v].extend(at);
    };
    uint32_t position = 0;
    for (const uint32_t b : order) {
        Bits now = flying[b];
        extend(now, position);
        for (uint32_t i = blocks[b].begin; i < blocks[b].end; ++i, position += 2) {
            if (code[i].lands) {
                extend(now, position);
                std::fill(now.begin(), now.end(), 0);
            }
            for (const uint32_t v : code[i].holds) set(now, v);
        }
        extend(now, position);
        ++position;
    }
}

}  // namespace

RegisterLayout allocate_registers(const std::vector<uint32_t>& row_bytes, const std::vector<bool>& pinned,
                                  const std::vector<RegisterUse>& code, const std::vector<FlowBlock>& blocks,
                                  const std::vector<uint32_t>& order) {
    const size_t registers = row_bytes.size();
    const Liveness live = liveness(registers, code, blocks, order);
    std::vector<Interval> interval(registers);
    uint32_t position = 0;
    for (const uint32_t b : order) {
        const uint32_t first = position, last = position + 2 * (blocks[b].end - blocks[b].begin);
        for (uint32_t v = 0; v < registers; ++v) {
            if (test(live.in[b], v)) interval[v].extend(first);
            if (test(live.out[b], v)) interval[v].extend(last);
        }
        for (uint32_t i = blocks[b].begin; i < blocks[b].end; ++i, position += 2) {
            for (const uint32_t v : code[i].uses) interval[v].extend(position);
            // NOTE: not position + 1: a result never takes the row of a source of its own
            // instruction, so that only the program itself can alias them.
            for (const uint32_t v : code[i].kills) interval[v].extend(position);
        }
        position = last + 1;
    }
    extend_over_flight(in_flight(registers, code, blocks, order), code, blocks, order, interval);
    RegisterLayout layout{.offset = std::vector<uint32_t>(registers, 0)};
    const auto fresh = [&](uint32_t bytes) {
        layout.bytes = (layout.bytes + std::min(bytes, 64u) - 1) / std::min(bytes, 64u) * std::min(bytes, 64u);
        const uint32_t at = layout.bytes;
        layout.bytes += bytes;
        return at;
    };
    std::vector<uint32_t> by_begin;
    for (uint32_t v = 0; v < registers; ++v) {
        if (pinned[v]) layout.offset[v] = fresh(row_bytes[v]);
        else if (interval[v].begin != UINT32_MAX) by_begin.push_back(v);
    }
    std::sort(by_begin.begin(), by_begin.end(),
              [&](uint32_t a, uint32_t b) { return interval[a].begin < interval[b].begin; });
    std::map<uint32_t, std::vector<uint32_t>> free_rows;         // row bytes -> offsets
    std::multimap<uint32_t, uint32_t> ends;                      // end -> register
    for (const uint32_t v : by_begin) {
        while (!ends.empty() && ends.begin()->first < interval[v].begin) {
            const uint32_t done = ends.begin()->second;
            free_rows[row_bytes[done]].push_back(layout.offset[done]);
            ends.erase(ends.begin());
        }
        std::vector<uint32_t>& rows = free_rows[row_bytes[v]];
        if (rows.empty()) {
            layout.offset[v] = fresh(row_bytes[v]);
        } else {
            layout.offset[v] = rows.back();
            rows.pop_back();
        }
        ends.emplace(interval[v].end, v);
    }
    layout.bytes = (layout.bytes + 63) / 64 * 64;
    return layout;
}

}  // namespace ww::emulator

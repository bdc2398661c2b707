// SPDX-License-Identifier: Apache-2.0
// Counters of 32 bits that wrap: how many steps until one meets a condition, without stepping.
#pragma once
#include <cstdint>
#include <optional>

namespace ww::sass {

// The numbers first, first + 1, ... of 32 bits, with wrapping; count: up to 2^32 of them.
struct Range32 {
    uint32_t first = 0;
    uint64_t count = 0;
    Range32 others() const;  // all that are not in it
};

enum class Comparison : uint8_t { ne, eq, lt, le, gt, ge };
// The numbers x with "x comparison bound"; signed or unsigned is how they are ordered.
Range32 numbers_where(Comparison comparison, uint32_t bound, bool is_unsigned);

// The least n >= 0 with start + n * step (wrapping) in the range; nothing: never.
std::optional<uint64_t> steps_into(const Range32& range, uint32_t start, uint32_t step);

}  // namespace ww::sass

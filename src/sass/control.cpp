// SPDX-License-Identifier: Apache-2.0
#include "sass/control.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ww::sass {
namespace {

// Bits of the 128: stall 105..108, yield 109 (0 asks for it), write barrier 110..112, read barrier
// 113..115, waits 116..121, reuse 122..125. Barrier 7 is none.
constexpr int kStall = 105, kYield = 109, kWrite = 110, kRead = 113, kWait = 116, kReuse = 122;
constexpr int kNoBarrier = 7;

int bits(const std::array<uint64_t, 2>& words, int from, int count) {
    return static_cast<int>((words[1] >> (from - 64)) & ((uint64_t{1} << count) - 1));
}

int barrier(int value) { return value == kNoBarrier ? -1 : value; }

char digit(int barrier) { return barrier < 0 ? '-' : static_cast<char>('0' + barrier); }

}  // namespace

Control control_of(const std::array<uint64_t, 2>& words) {
    Control out;
    out.stall = bits(words, kStall, 4);
    out.yield = bits(words, kYield, 1) == 0;
    out.write_barrier = barrier(bits(words, kWrite, 3));
    out.read_barrier = barrier(bits(words, kRead, 3));
    out.wait = static_cast<uint8_t>(bits(words, kWait, 6));
    out.reuse = static_cast<uint8_t>(bits(words, kReuse, 4));
    return out;
}

std::string text(const Control& control) {
    std::string waits;
    for (int i = 0; i < 6; ++i)
        waits += (control.wait >> i & 1) != 0 ? static_cast<char>('0' + i) : '-';
    return fmt::format("B{}:R{}:W{}:{}:S{:02}", waits, digit(control.read_barrier),
                       digit(control.write_barrier), control.yield ? 'Y' : '-', control.stall);
}

int scheduled_cycles(const Control& control) { return std::max(control.stall, 1); }

}  // namespace ww::sass

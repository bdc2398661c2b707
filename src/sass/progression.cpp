// SPDX-License-Identifier: Apache-2.0
#include "sass/progression.hpp"

namespace ww::sass {
namespace {

constexpr uint64_t kAll = uint64_t{1} << 32;

// The least n with low <= n * step mod modulus <= high, for 0 <= low <= high < modulus and
// modulus <= 2^32. Where no multiple of step is in the range as it stands, n * step - k * modulus
// is for some number k of wraps, and k is found the same way, modulo step: Euclid's algorithm.
std::optional<uint64_t> least_multiple(uint64_t step, uint64_t modulus, uint64_t low,
                                       uint64_t high) {
    if (low == 0) return 0;
    step %= modulus;
    if (step == 0) return std::nullopt;
    const uint64_t up = (low + step - 1) / step;
    if (up * step <= high) return up;
    const auto minus = [step](uint64_t value) { return (step - value % step) % step; };
    const auto wraps = least_multiple(modulus % step, step, minus(high), minus(low));
    if (!wraps) return std::nullopt;
    return (low + modulus * *wraps + step - 1) / step;
}

}  // namespace

Range32 Range32::others() const { return {static_cast<uint32_t>(first + count), kAll - count}; }

Range32 numbers_where(Comparison comparison, uint32_t bound, bool is_unsigned) {
    const uint32_t least = is_unsigned ? 0 : uint32_t{1} << 31;
    const uint64_t below = static_cast<uint32_t>(bound - least);  // how many are less than bound
    switch (comparison) {
        case Comparison::eq:
            return {bound, 1};
        case Comparison::ne:
            return Range32{bound, 1}.others();
        case Comparison::lt:
            return {least, below};
        case Comparison::le:
            return {least, below + 1};
        case Comparison::gt:
            return Range32{least, below + 1}.others();
        case Comparison::ge:
            return Range32{least, below}.others();
    }
    return {};
}

std::optional<uint64_t> steps_into(const Range32& range, uint32_t start, uint32_t step) {
    const uint64_t ahead = static_cast<uint32_t>(start - range.first);
    if (ahead < range.count) return 0;
    if (range.count == 0) return std::nullopt;
    // n * step must make up for the rest of the way around, and not run over the range.
    const uint64_t low = kAll - ahead;
    return least_multiple(step, kAll, low, low + range.count - 1);
}

}  // namespace ww::sass

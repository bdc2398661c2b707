// SPDX-License-Identifier: Apache-2.0
// Comparison bit by bit, unless the test says that every NaN is one or allows a distance.
#include "exectest/compare.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace ww::exectest {
namespace {

uint64_t low(uint32_t bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

bool same_element(const TestFile& test, const Type& type, uint64_t expected, uint64_t actual) {
    if (expected == actual) return true;
    bool nan = is_nan(type, expected), other = is_nan(type, actual);
    return test.any_nan && nan && other;
}

bool same_unit(const TestFile& test, const Type& type, uint64_t expected, uint64_t actual) {
    if (expected == actual) return true;
    if (type.kind != Kind::floating) return false;
    for (uint32_t e = 0; e < type.elements; ++e) {
        uint32_t shift = e * type.element_bits;
        uint64_t mask = low(type.element_bits);
        if (!same_element(test, type, expected >> shift & mask, actual >> shift & mask))
            return false;
    }
    return true;
}

std::string show(const Type& type, const std::byte* at) {
    uint64_t unit = read_unit(at, type.bytes());
    if (type.bytes() == 16) return fmt::format("0x{:016x}{:016x}", read_unit(at + 8, 8), unit);
    std::string text = fmt::format("0x{:0{}x}", unit, type.bytes() * 2);
    if (type.elements == 1 && type.kind != Kind::untyped && type.kind != Kind::predicate)
        text += fmt::format(" ({})", show_value(type, unit));
    return text;
}

// "a=0x3f800000 (1), c[2]=..." of one thread.
std::string show_inputs(const TestFile& test, const Layout& layout, const Operands& operands,
                        uint64_t lane) {
    constexpr size_t kLongest = 600;
    std::string text;
    for (const Slot& slot : layout.in) {
        const Field& field = test.fields[slot.field];
        if (field.is_scratch()) continue;
        for (uint32_t i = 0; i < field.count && text.size() < kLongest; ++i) {
            const std::byte* at = &operands.in[slot.offset] + lane * field.bytes() +
                                  size_t{i} * field.type.bytes();
            text += fmt::format("{}{}={}", text.empty() ? "" : ", ", field.register_name(i),
                                show(field.type, at));
        }
    }
    return text.size() >= kLongest ? text + ", ..." : text;
}

struct Difference {
    uint64_t copy = 0;  // thread over all blocks, or block of a scratch array
    uint32_t element = 0;
    const std::byte* expected = nullptr;
    const std::byte* actual = nullptr;
    uint64_t count = 0, of = 0;
};

Difference differences(const TestFile& test, const Field& field, const std::byte* expected,
                       const std::byte* actual, uint64_t bytes) {
    Difference found;
    uint32_t size = field.type.bytes(), step = std::min(size, 8u);
    found.of = bytes / size;
    for (uint64_t i = 0; i < found.of; ++i) {
        const std::byte *e = expected + i * size, *a = actual + i * size;
        bool same = true;
        for (uint32_t u = 0; u < size; u += step)
            same &= same_unit(test, field.type, read_unit(e + u, step), read_unit(a + u, step));
        if (same) continue;
        if (found.count++ == 0) {
            found.copy = i / field.count;
            found.element = static_cast<uint32_t>(i % field.count);
            found.expected = e;
            found.actual = a;
        }
    }
    return found;
}

template <class Visit>
void for_each_output(const Layout& layout, Visit visit) {
    for (const Slot& slot : layout.out) visit(slot);
    for (const Slot& slot : layout.scratch) visit(slot);
}

std::string describe(const TestFile& test, const Layout& layout, const Operands& operands,
                     const Field& field, const Difference& first) {
    std::string values = fmt::format("expected {}, got {}", show(field.type, first.expected),
                                     show(field.type, first.actual));
    std::string share = fmt::format("{} of {} values differ", first.count, first.of);
    if (field.is_scratch())
        return fmt::format("{}[{}] of block {}: {} ({})", field.name, first.element, first.copy,
                           values, share);
    uint64_t threads = test.threads.count();
    std::string inputs = show_inputs(test, layout, operands, first.copy);
    return fmt::format("{} of block {}, thread {}: {} ({}){}{}",
                       field.register_name(first.element), first.copy / threads,
                       first.copy % threads, values, share, inputs.empty() ? "" : "; inputs ",
                       inputs);
}

}  // namespace

std::vector<std::byte> expected_outputs(const TestFile& test, const Layout& layout) {
    std::vector<std::byte> packed;
    for_each_output(layout, [&](const Slot& slot) {
        const Field& field = test.fields[slot.field];
        uint32_t step = std::min(field.type.bytes(), 8u);
        for (uint64_t i = 0; i < slot.bytes / step; ++i) {
            uint64_t value = field.expect[i % field.expect.size()];
            const auto* bytes = reinterpret_cast<const std::byte*>(&value);
            packed.insert(packed.end(), bytes, bytes + step);
        }
    });
    return packed;
}

Tally tally(const TestFile& test, const Layout& layout, std::span<const std::byte> expected,
            std::span<const std::byte> actual) {
    Tally out;
    size_t offset = 0;
    for_each_output(layout, [&](const Slot& slot) {
        const Difference found = differences(test, test.fields[slot.field], expected.data() + offset,
                                             actual.data() + offset, slot.bytes);
        offset += slot.bytes;
        out.values += found.of;
        out.wrong += found.count;
    });
    return out;
}

std::optional<std::string> find_mismatch(const TestFile& test, const Layout& layout,
                                         const Operands& operands,
                                         std::span<const std::byte> expected,
                                         std::span<const std::byte> actual) {
    if (expected.size() != actual.size())
        return fmt::format("{} bytes of output, {} expected", actual.size(), expected.size());
    std::string text;
    size_t offset = 0;
    for_each_output(layout, [&](const Slot& slot) {
        const Field& field = test.fields[slot.field];
        Difference first = differences(test, field, expected.data() + offset,
                                       actual.data() + offset, slot.bytes);
        offset += slot.bytes;
        if (first.count == 0) return;
        if (!text.empty()) text += '\n';
        text += describe(test, layout, operands, field, first);
    });
    if (text.empty()) return std::nullopt;
    return text;
}

}  // namespace ww::exectest

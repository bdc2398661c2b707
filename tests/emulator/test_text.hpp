// SPDX-License-Identifier: Apache-2.0
// A text test of the emulator: PTX with a comment header that says how to launch it and what must
// come out. README.md beside this file lists the header's lines.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/device.hpp"

namespace ww::emulator_test {

enum class Element { u8, u16, u32, u64, f32, f64 };

struct Buffer {
    std::string name;
    Element element = Element::u32;
    uint64_t count = 0;
    bool written = true;   // false: uninitialised
    bool released = false;  // before the launch
    std::vector<uint64_t> values;
};

struct Argument {
    std::string buffer;  // non-empty: its address + offset
    int64_t offset = 0;
    std::vector<std::byte> bytes;
};

struct Expected {
    std::string buffer;
    std::vector<uint64_t> values;
    int line = 0;
};

struct TextTest {
    std::string name;  // "divergence/nested_if"
    std::string ptx;
    device::Dim3 grid, block{32, 1, 1}, cluster;
    uint32_t dynamic_shared = 0;
    bool cooperative = false;
    uint64_t budget = 0;
    std::vector<uint32_t> threads{1, 2, 7};
    std::vector<AsyncPolicy> async{{}};
    std::vector<SchedulePolicy> schedule{{}};
    std::vector<std::string> kernels;
    std::vector<Buffer> buffers;
    std::vector<Argument> arguments;
    std::vector<Expected> expected;
    std::vector<std::string> errors;  // parts of the message, in their order; none: it must succeed
    std::vector<std::string> absent;  // parts that the message must not have
    std::optional<RaceLevel> races;   // checked for them, up to this level
    std::vector<std::vector<std::string>> expected_races;  // each: parts of its message, in their order
    std::string printed;
    bool checks_print = false;
};

uint64_t element_bytes(Element element);
Result<TextTest> parse_text_test(const std::filesystem::path& path, const std::string& name);
// Runs the test with each number of host threads, each policy of completion and each schedule; the empty string, or what went wrong.
std::string run_text_test(const TextTest& test);

}  // namespace ww::emulator_test

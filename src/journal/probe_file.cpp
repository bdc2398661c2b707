// SPDX-License-Identifier: Apache-2.0
#include "journal/probe_file.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>

#include "base/files.hpp"
#include "base/target.hpp"
#include "base/text.hpp"

namespace ww::journal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = "// probe:";
constexpr size_t kMostElements = 1u << 16;
constexpr size_t kPerLine = 8;

template <class T>
bool read_number(std::string_view word, T& value) {
    int base = 10;
    if constexpr (std::is_integral_v<T>)
        if (word.starts_with("0x")) word.remove_prefix(2), base = 16;
    std::from_chars_result read{};
    if constexpr (std::is_integral_v<T>)
        read = std::from_chars(word.data(), word.data() + word.size(), value, base);
    else
        read = std::from_chars(word.data(), word.data() + word.size(), value);
    return read.ec == std::errc{} && read.ptr == word.data() + word.size() && !word.empty();
}

// 0: no such type.
size_t bytes_of_type(std::string_view type) {
    for (const std::string_view each : {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "x8", "x16", "x32", "x64", "f32", "f64"})
        if (type == each) {
            size_t bits = 0;
            (void)read_number(type.substr(1), bits);
            return bits / 8;
        }
    return 0;
}

bool add_value(ProbeBuffer& buffer, std::string_view word) {
    const size_t bytes = bytes_of_type(buffer.type);
    std::array<std::byte, 8> raw{};
    if (buffer.type == "f32") {
        float value = 0;
        if (!read_number(word, value)) return false;
        std::memcpy(raw.data(), &value, 4);
    } else if (buffer.type == "f64") {
        double value = 0;
        if (!read_number(word, value)) return false;
        std::memcpy(raw.data(), &value, 8);
    } else if (word.starts_with("-")) {
        int64_t value = 0;
        if (buffer.type[0] != 's' || !read_number(word, value) || (bytes < 8 && value < -(int64_t{1} << (8 * bytes - 1)))) return false;
        std::memcpy(raw.data(), &value, 8);
    } else {
        uint64_t value = 0;
        const size_t bits = 8 * bytes - (buffer.type[0] == 's');
        if (!read_number(word, value) || (bits < 64 && value >> bits != 0)) return false;
        std::memcpy(raw.data(), &value, 8);
    }
    buffer.bytes.insert(buffer.bytes.end(), raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(bytes));
    ++buffer.count;
    return true;
}

// "4" or "2x1x3"
bool read_extents(std::string_view word, std::array<uint32_t, 3>& extents) {
    const auto parts = split(word, 'x');
    if (parts.size() > 3) return false;
    for (size_t i = 0; i < parts.size(); ++i)
        if (!read_number(parts[i], extents[i]) || extents[i] == 0) return false;
    return true;
}

using Words = std::vector<std::string_view>;

std::string buffer_line(ProbeFile& probe, const Words& words) {
    ProbeBuffer made;
    made.out = words[0] == "out";
    if (words.size() < 4) return made.out ? "write it as: out NAME TYPE COUNT" : "write it as: in NAME TYPE VALUE...";
    made.name = words[1];
    made.type = words[2];
    const size_t bytes = bytes_of_type(made.type);
    if (bytes == 0) return fmt::format("'{}' is no type: u, s or x (hexadecimal) with 8, 16, 32 or 64 bits, f32 or f64", made.type);
    if (made.out) {
        if (words.size() > 4 || !read_number(words[3], made.count) || made.count == 0 || made.count > kMostElements)
            return fmt::format("the count is a number from 1 to {}", kMostElements);
        made.bytes.resize(made.count * bytes);
    } else {
        for (size_t i = 3; i < words.size(); ++i)
            if (!add_value(made, words[i])) return fmt::format("'{}' is no value of {}", words[i], made.type);
    }
    probe.buffers.push_back(std::move(made));
    return "";
}

// What is wrong with the line; empty: it was taken.
std::string take_line(ProbeFile& probe, const Words& words) {
    const std::string_view what = words.empty() ? std::string_view() : words[0];
    if (what == "out" || what == "in") return buffer_line(probe, words);
    if (what == "compiles" && words.size() == 1) return probe.look = Look::compile, "";
    if (what == "needs" && words.size() == 2 && words[1] == "cuda") return probe.needs_cuda = true, "";
    if (what == "sass" && words.size() > 1) {
        probe.look = Look::sass;
        for (size_t i = 1; i < words.size(); ++i) probe.opcodes.emplace_back(words[i]);
        return "";
    }
    if (what == "target" && words.size() == 2) {
        const auto target = parse_target(words[1]);
        if (!target) return target.error().front().message;
        return probe.target = words[1], "";
    }
    if (what == "entry" && words.size() == 2) return probe.entry = words[1], "";
    if (what == "option" && words.size() == 2) return probe.options.emplace_back(words[1]), "";
    if (what == "shared" && words.size() == 2) return read_number(words[1], probe.shared_bytes) ? "" : "shared wants a number of bytes";
    if (what == "launch" && (words.size() == 3 || words.size() == 4)) {
        const bool good = read_extents(words[1], probe.grid) && read_extents(words[2], probe.block) &&
                          (words.size() == 3 || read_extents(words[3], probe.cluster));
        return good ? "" : "write it as: launch GRID BLOCK [CLUSTER], each a number or AxBxC";
    }
    return fmt::format("'{}' is no line of a probe: target SM, launch GRID BLOCK [CLUSTER], shared BYTES, in NAME TYPE VALUE..., out "
                       "NAME TYPE COUNT, option TEXT, entry NAME, sass OPCODE..., compiles, needs cuda",
                       what);
}

template <class T>
T at(const ProbeBuffer& buffer, size_t i) {
    T value{};
    std::memcpy(&value, buffer.bytes.data() + i * sizeof(T), sizeof(T));
    return value;
}

std::string element_text(const ProbeBuffer& buffer, size_t i) {
    if (buffer.type == "f32") return fmt::format("{}", at<float>(buffer, i));
    if (buffer.type == "f64") return fmt::format("{}", at<double>(buffer, i));
    uint64_t bits = 0;
    const size_t bytes = buffer.element_bytes();
    std::memcpy(&bits, buffer.bytes.data() + i * bytes, bytes);
    if (buffer.type[0] == 'x') return fmt::format("0x{:0{}x}", bits, 2 * bytes);
    if (buffer.type[0] == 'u') return fmt::format("{}", bits);
    const unsigned shift = 64 - 8 * static_cast<unsigned>(bytes);
    return fmt::format("{}", static_cast<int64_t>(bits << shift) >> shift);
}

}  // namespace

Result<ProbeFile> read_probe(const fs::path& path) {
    const std::string extension = path.extension().string();
    if (extension != ".cu" && extension != ".ptx")
        return fail(fmt::format("{}: a probe is a .cu or .ptx file", path.string()));
    WW_TRY(text, read_file(path));
    return parse_probe(std::move(text), path);
}

Result<ProbeFile> parse_probe(std::string text, const fs::path& path) {
    ProbeFile out;
    out.path = path;
    out.text = std::move(text);
    Diagnostics errors;
    int number = 0;
    for (const std::string_view line : split(out.text, '\n')) {
        ++number;
        const std::string_view trimmed = trim(line);
        if (!trimmed.starts_with(kMark)) continue;
        const std::string wrong = take_line(out, split_words(trimmed.substr(kMark.size())));
        if (!wrong.empty()) errors.push_back({.file = path.string(), .line = number, .message = wrong});
    }
    if (!errors.empty()) return fail(std::move(errors));
    return out;
}

std::string buffer_text(const ProbeBuffer& buffer) {
    std::string out;
    for (size_t i = 0; i < buffer.count; ++i) {
        if (i % kPerLine == 0) out += fmt::format("{}{}[{}]", i > 0 ? "\n" : "", buffer.name, i);
        out += " " + element_text(buffer, i);
    }
    return out + "\n";
}

}  // namespace ww::journal

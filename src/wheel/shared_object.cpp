// SPDX-License-Identifier: Apache-2.0
// The dynamic section and its strings; every offset is checked.
#include "wheel/shared_object.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/text.hpp"

namespace ww::wheel {
namespace {

constexpr uint16_t kShared = 3, kX86 = 62;
constexpr uint32_t kDynamicSection = 6;
constexpr uint64_t kSectionBytes = 64, kEntryBytes = 16, kNeeded = 1;
constexpr std::string_view kGlibc = "GLIBC_2.";

template <class T>
std::optional<T> load(std::string_view bytes, uint64_t offset) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
    T out;
    std::memcpy(&out, bytes.data() + offset, sizeof out);
    return out;
}

// The section header at an index, as offset and size in the file.
std::optional<std::string_view> section(std::string_view bytes, uint64_t headers, uint64_t index) {
    const auto offset = load<uint64_t>(bytes, headers + index * kSectionBytes + 24);
    const auto size = load<uint64_t>(bytes, headers + index * kSectionBytes + 32);
    if (!offset || !size || *offset > bytes.size() || *size > bytes.size() - *offset) return std::nullopt;
    return bytes.substr(*offset, *size);
}

int newest_glibc(const std::vector<std::string>& names) {
    int newest = 0;
    for (const std::string& each : names) {
        if (!each.starts_with(kGlibc)) continue;
        int minor = 0;
        std::from_chars(each.data() + kGlibc.size(), each.data() + each.size(), minor);
        newest = std::max(newest, minor);
    }
    return newest;
}

SharedObject read_dynamic(std::string_view entries, std::string_view strings) {
    SharedObject out;
    for (uint64_t at = 0; at + kEntryBytes <= entries.size(); at += kEntryBytes) {
        if (load<uint64_t>(entries, at) != kNeeded) continue;
        const uint64_t offset = *load<uint64_t>(entries, at + 8);
        if (offset >= strings.size()) continue;
        const std::string_view rest = strings.substr(offset);
        out.needed.emplace_back(rest.substr(0, rest.find('\0')));
    }
    for (const std::string_view each : split(strings, '\0')) out.names.emplace_back(each);
    out.glibc_minor = newest_glibc(out.names);
    return out;
}

}  // namespace

std::vector<std::string> SharedObject::foreign() const {
    constexpr std::array<std::string_view, 6> kOfGlibc = {"libc.so.6", "libm.so.6", "libdl.so.2",
                                                          "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"};
    std::vector<std::string> out;
    for (const std::string& each : needed)
        if (std::find(kOfGlibc.begin(), kOfGlibc.end(), each) == kOfGlibc.end()) out.push_back(each);
    return out;
}

Result<SharedObject> read_shared_object(std::string_view bytes, const std::string& name) {
    const auto bad = [&](std::string what) { return fail(Diagnostic{.file = name, .message = std::move(what)}); };
    if (!bytes.starts_with("\x7f" "ELF\x02\x01")) return bad("no 64-bit little-endian ELF file");
    if (load<uint16_t>(bytes, 16) != kShared || load<uint16_t>(bytes, 18) != kX86)
        return bad("no shared object for x86-64");
    const auto headers = load<uint64_t>(bytes, 40);
    const auto count = load<uint16_t>(bytes, 60);
    if (!headers || !count || *headers > bytes.size()) return bad("its section headers lie outside of the file");
    for (uint64_t i = 0; i < *count; ++i) {
        if (load<uint32_t>(bytes, *headers + i * kSectionBytes + 4) != kDynamicSection) continue;
        const auto link = load<uint32_t>(bytes, *headers + i * kSectionBytes + 40);
        const auto entries = section(bytes, *headers, i);
        const auto strings = link ? section(bytes, *headers, *link) : std::nullopt;
        if (!entries || !strings) return bad("its dynamic section lies outside of the file");
        return read_dynamic(*entries, *strings);
    }
    return bad("it has no dynamic section");
}

}  // namespace ww::wheel

// SPDX-License-Identifier: Apache-2.0
#include "cudart/fatbin.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <regex>

namespace ww::cudart {
namespace {

constexpr uint32_t kMagic = 0xba55ed50;
constexpr uint16_t kPtx = 1;
constexpr uint64_t kLz4 = 0x2000, kZstd = 0x8000;  // flags of an entry
constexpr size_t kMostExpanded = size_t{1} << 30, kMostTimes = 4096;

struct Header {
    uint32_t magic;
    uint16_t version, bytes;  // bytes of this header
    uint64_t size;            // of the entries behind it
};
struct Entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t size;  // of what is behind the header, with padding
    uint32_t compressed_bytes, options_offset;
    uint16_t minor, major;
    uint32_t sm, name_offset, name_bytes;
    uint64_t flags, reserved, expanded_bytes;
};
static_assert(sizeof(Header) == 16 && sizeof(Entry) == 64);

Failure malformed(std::string_view what) { return fail(fmt::format("malformed fat binary: {}", what)); }

Result<std::string> expand(std::span<const std::byte> from, size_t bytes) {
    static constexpr const char* kWayOut = "compile with nvcc --no-compress";
    if (bytes > kMostExpanded || bytes / kMostTimes > from.size()) return malformed("an entry whose size is out of reason");
    static void* const library = ::dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    using Decompress = size_t (*)(void*, size_t, const void*, size_t);
    const auto decompress = library ? reinterpret_cast<Decompress>(::dlsym(library, "ZSTD_decompress")) : nullptr;
    if (!decompress) return fail(fmt::format("the PTX is compressed, and there is no libzstd.so.1 here: {}", kWayOut));
    std::string text(bytes, '\0');
    if (decompress(text.data(), bytes, from.data(), from.size()) != bytes)
        return fail(fmt::format("the PTX is compressed in a form that libzstd does not read: {}", kWayOut));
    return text;
}

}  // namespace

Result<Target> ptx_target(const std::string& text) {
    static const std::regex directive(R"(\.target\s+(\w+))");
    std::smatch match;
    const std::string head = text.substr(0, 4096);
    if (!std::regex_search(head, match, directive)) return malformed("PTX without a .target");
    return parse_target(match[1].str());
}

Result<std::vector<EmbeddedPtx>> read_fat_binary(std::span<const std::byte> bytes) {
    Header header;
    if (bytes.size() < sizeof header) return malformed("cut off");
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.magic != kMagic) return malformed("it does not begin with its mark");
    if (header.bytes < sizeof header || header.bytes > bytes.size() || header.size > bytes.size() - header.bytes)
        return malformed("cut off");
    std::span<const std::byte> left = bytes.subspan(header.bytes, header.size);
    std::vector<EmbeddedPtx> images;
    while (left.size() >= sizeof(Entry)) {
        Entry entry;
        std::memcpy(&entry, left.data(), sizeof entry);
        if (entry.header_bytes < sizeof entry || entry.header_bytes > left.size() ||
            entry.size > left.size() - entry.header_bytes)
            return malformed("an entry goes beyond its end");
        const auto content = left.subspan(entry.header_bytes, entry.size);
        left = left.subspan(entry.header_bytes + entry.size);
        if (entry.kind != kPtx) continue;
        if (entry.flags & kLz4) return fail("the PTX is compressed by LZ4: compile with nvcc --no-compress");
        std::string text(reinterpret_cast<const char*>(content.data()), content.size());
        if (entry.flags & kZstd) {
            if (entry.compressed_bytes > content.size()) return malformed("an entry goes beyond its end");
            WW_TRY(expanded, expand(content.first(entry.compressed_bytes), entry.expanded_bytes));
            text = std::move(expanded);
        }
        text.resize(std::min(text.size(), text.find('\0')));
        // The text's own .target counts: the entry's number lacks the suffix.
        WW_TRY(target, ptx_target(text));
        images.push_back({target, std::move(text)});
    }
    return images;
}

Result<std::vector<EmbeddedPtx>> read_fat_binary(const void* data) {
    Header header;
    std::memcpy(&header, data, sizeof header);
    if (header.magic != kMagic) return malformed("it does not begin with its mark");
    return read_fat_binary(std::span(static_cast<const std::byte*>(data), header.bytes + header.size));
}

const EmbeddedPtx* choose(const std::vector<EmbeddedPtx>& images, int device_sm) {
    const EmbeddedPtx* best = nullptr;
    for (const EmbeddedPtx& each : images)
        if (each.target.is_within(device_sm) && (!best || each.target.sm > best->target.sm)) best = &each;
    return best;
}

}  // namespace ww::cudart

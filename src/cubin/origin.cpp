// SPDX-License-Identifier: Apache-2.0
// Where a cubin comes from: its architecture (with the suffix that e_flags does not always hold),
// and the tool that wrote it.
#include <fmt/format.h>

#include "base/target.hpp"
#include "base/text.hpp"
#include "cubin/nv_info.hpp"
#include "cubin/parts.hpp"

namespace ww::cubin {
namespace {

constexpr uint32_t kTypeNote = 7, kTypeCompat = 0x70000086;
constexpr uint32_t kNoteToolkitInfo = 2000, kNoteCudaInfo = 1000;
constexpr uint8_t kAbiOfCuda13 = 8;
constexpr uint32_t kFlagAccelerated = 0x800;  // e_flags up to CUDA 12: sm_90a
constexpr uint8_t kCompatAccelerated = 0x01;  // EICOMPAT_ATTR_CUDA_ACCELERATOR_TARGET

// "13.0" of 130.
std::string toolkit_text(uint32_t version) {
    return version == 0 ? "" : fmt::format("{}.{}", version / 10, version % 10);
}

// A string of a note: empty where the offset is out of it.
std::string note_string(std::string_view strings, uint32_t offset) {
    if (offset >= strings.size()) return {};
    const std::string_view rest = strings.substr(offset);
    return std::string(trim(rest.substr(0, rest.find('\0'))));
}

// {u32 version, u32, u32 tool, u32 tool's version, u32 branch, u32 options}, offsets of strings
// that follow.
void read_toolkit_info(std::string_view data, Cubin& cubin) {
    constexpr size_t kHead = 24;
    if (data.size() < kHead) return;
    const std::string_view strings = data.substr(kHead);
    cubin.tool = note_string(strings, load_u32(data, 8));
    cubin.tool_version = note_string(strings, load_u32(data, 12));
    cubin.tool_options = note_string(strings, load_u32(data, 20));
}

Status read_notes(const Section& section, const std::string& file, Cubin& cubin) {
    const std::string_view bytes = section.bytes;
    for (size_t at = 0; at < bytes.size();) {
        const auto truncated = [&] {
            return bad(file, fmt::format("truncated: a note of {} (at byte 0x{:x}) runs over the "
                                         "section's end",
                                         section.name, section.offset + at));
        };
        if (bytes.size() - at < 12) return truncated();
        const uint64_t owner = (uint64_t{load_u32(bytes, at)} + 3) & ~uint64_t{3};
        const uint64_t size = load_u32(bytes, at + 4);
        const uint32_t type = load_u32(bytes, at + 8);
        at += 12;
        if (owner > bytes.size() - at || size > bytes.size() - at - owner) return truncated();
        const std::string_view data =
            bytes.substr(at + static_cast<size_t>(owner), static_cast<size_t>(size));
        if (type == kNoteToolkitInfo) read_toolkit_info(data, cubin);
        // {u16 version, u16 virtual architecture, u32 toolkit}
        if (type == kNoteCudaInfo && data.size() >= 8)
            cubin.toolkit = toolkit_text(load_u32(data, 4));
        at = std::min(bytes.size(), at + static_cast<size_t>(owner + ((size + 3) & ~uint64_t{3})));
    }
    return ok();
}

// The suffix of "sm_<sm><suffix>" where the tool's options name it.
char suffix_in(std::string_view options, int sm) {
    const std::string wanted = fmt::format("sm_{}", sm);
    for (size_t at = options.find(wanted); at != std::string_view::npos;
         at = options.find(wanted, at + 1)) {
        const size_t next = at + wanted.size();
        if (next < options.size() && (options[next] == 'a' || options[next] == 'f'))
            return options[next];
    }
    return 0;
}

Result<bool> compat_accelerated(const Elf& elf, const std::string& file) {
    for (const Section& section : elf.sections) {
        if (section.type != kTypeCompat) continue;
        WW_TRY(attributes, read_attributes(section, file));
        for (const Attribute& attribute : attributes)
            if (attribute.format == AttributeFormat::byte && attribute.id == kCompatAccelerated)
                return attribute.data[0] != 0;
    }
    return false;
}

}  // namespace

Status read_origin(const Elf& elf, const std::string& file, Cubin& cubin) {
    const bool old = elf.abi_version < kAbiOfCuda13;
    cubin.sm = static_cast<int>((old ? elf.flags : elf.flags >> 8) & 0xff);
    if (cubin.sm == 0)
        return bad(file, fmt::format("damaged: the ELF flags 0x{:x} (at byte 0x30) name no "
                                     "architecture",
                                     elf.flags));
    cubin.toolkit = old ? toolkit_text(elf.version) : "";
    for (const Section& section : elf.sections) {
        if (section.type != kTypeNote) continue;
        WW_TRY(notes, read_notes(section, file, cubin));
        (void)notes;
    }
    Target target{.sm = cubin.sm};
    target.suffix = suffix_in(cubin.tool_options, cubin.sm);
    if (target.suffix == 0) {
        WW_TRY(accelerated, compat_accelerated(elf, file));
        if (accelerated || (old && (elf.flags & kFlagAccelerated) != 0)) target.suffix = 'a';
    }
    cubin.target = target.text();
    return ok();
}

}  // namespace ww::cubin

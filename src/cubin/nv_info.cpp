// SPDX-License-Identifier: Apache-2.0
// The rows. Numbers, names and layouts are those that cuobjdump -elf prints for the same bytes.
#include "cubin/nv_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace ww::cubin {
namespace {

using Format = AttributeFormat;

struct Row {
    uint8_t id;
    const char* name;
    Format format;
    bool per_function;  // in .nv.info.<function>; else in .nv.info, after the symbol's index
    size_t bytes;       // that its data has at least
    void (*apply)(const Attribute&, Kernel&);
};

uint32_t word(const Attribute& attribute, size_t index) {
    return load_u32(attribute.data, index * 4);
}

int clamped(uint32_t value) {
    return static_cast<int>(std::min<uint32_t>(value, std::numeric_limits<int>::max()));
}

std::array<int, 3> triple(const Attribute& attribute) {
    return {clamped(word(attribute, 0)), clamped(word(attribute, 1)), clamped(word(attribute, 2))};
}

// Threads of a block; a product out of range of a launch stays out of range.
int product(const std::array<int, 3>& sizes) {
    constexpr int64_t kMost = std::numeric_limits<int>::max();
    int64_t threads = 1;
    for (const int size : sizes) threads = std::min(threads * size, kMost);
    return static_cast<int>(threads);
}

// {u32 index, u16 ordinal, u16 offset, u32 packed}: bytes from bit 18 of packed.
void parameter(const Attribute& attribute, Kernel& kernel) {
    kernel.parameters.push_back({.ordinal = load_u16(attribute.data, 4),
                                 .offset = load_u16(attribute.data, 6),
                                 .bytes = word(attribute, 2) >> 18});
}

// The same for parameters that 14 bits of size do not hold: bytes in the low half of packed.
void parameter_v2(const Attribute& attribute, Kernel& kernel) {
    kernel.parameters.push_back({.ordinal = load_u16(attribute.data, 4),
                                 .offset = load_u16(attribute.data, 6),
                                 .bytes = load_u16(attribute.data, 8)});
}

// All ones for a stack that the compiler could not bound.
void stack(const Attribute& attribute, Kernel& kernel) {
    const uint32_t bytes = word(attribute, 1);
    kernel.stack_known = bytes != ~uint32_t{0};
    kernel.stack_bytes = kernel.stack_known ? bytes : 0;
}

void max_threads(const Attribute& attribute, Kernel& kernel) {
    kernel.max_block = triple(attribute);
    kernel.max_threads = product(kernel.max_block);
}

void required_threads(const Attribute& attribute, Kernel& kernel) {
    kernel.required_block = triple(attribute);
    kernel.max_threads = product(kernel.required_block);
}

// clang-format off
constexpr Row kRows[] = {
    {0x2f, "EIATTR_REGCOUNT", Format::sized, false, 8,
     [](const Attribute& a, Kernel& k) { k.registers = clamped(word(a, 1)); }},
    {0x11, "EIATTR_FRAME_SIZE", Format::sized, false, 8,
     [](const Attribute& a, Kernel& k) { k.frame_bytes = word(a, 1); }},
    {0x12, "EIATTR_MIN_STACK_SIZE", Format::sized, false, 8, stack},
    {0x05, "EIATTR_MAX_THREADS", Format::sized, true, 12, max_threads},
    {0x10, "EIATTR_REQNTID", Format::sized, true, 12, required_threads},
    {0x17, "EIATTR_KPARAM_INFO", Format::sized, true, 12, parameter},
    {0x45, "EIATTR_KPARAM_INFO_V2", Format::sized, true, 12, parameter_v2},
    {0x19, "EIATTR_CBANK_PARAM_SIZE", Format::half, true, 2,
     [](const Attribute& a, Kernel& k) { k.parameter_bytes = load_u16(a.data, 0); }},
    // {u32 symbol of the constant bank, u16 offset, u16 bytes}
    {0x0a, "EIATTR_PARAM_CBANK", Format::sized, true, 8,
     [](const Attribute& a, Kernel& k) { k.parameter_base = load_u16(a.data, 4); }},
    {0x1b, "EIATTR_MAXREG_COUNT", Format::half, true, 2,
     [](const Attribute& a, Kernel& k) { k.max_registers = load_u16(a.data, 0); }},
    {0x4c, "EIATTR_NUM_BARRIERS", Format::byte, true, 2,
     [](const Attribute& a, Kernel& k) { k.barriers = static_cast<uint8_t>(a.data[0]); }},
    {0x3d, "EIATTR_CTA_PER_CLUSTER", Format::sized, true, 12,
     [](const Attribute& a, Kernel& k) { k.cluster_size = triple(a); }},
    {0x3e, "EIATTR_EXPLICIT_CLUSTER", Format::none, true, 2,
     [](const Attribute&, Kernel& k) { k.explicit_cluster = true; }},
    {0x3f, "EIATTR_MAX_CLUSTER_RANK", Format::sized, true, 4,
     [](const Attribute& a, Kernel& k) { k.max_cluster_rank = clamped(word(a, 0)); }},
    {0x5b, "EIATTR_BLOCKS_ARE_CLUSTERS", Format::none, true, 2,
     [](const Attribute&, Kernel& k) { k.blocks_are_clusters = true; }},
};
// clang-format on

const Row* find_row(uint8_t id, bool per_function) {
    for (const Row& row : kRows)
        if (row.id == id && row.per_function == per_function) return &row;
    return nullptr;
}

Status check_row(const Row& row, const Attribute& attribute, const std::string& file) {
    if (attribute.format != row.format)
        return bad(file, fmt::format("damaged: {} at byte 0x{:x} has format {}, and it is {}",
                                     row.name, attribute.offset, static_cast<int>(attribute.format),
                                     static_cast<int>(row.format)));
    if (attribute.data.size() < row.bytes)
        return bad(file, fmt::format("damaged: {} at byte 0x{:x} has {} bytes, and it takes {}",
                                     row.name, attribute.offset, attribute.data.size(), row.bytes));
    return ok();
}

}  // namespace

Result<std::vector<Attribute>> read_attributes(const Section& section, const std::string& file) {
    std::vector<Attribute> attributes;
    const std::string_view bytes = section.bytes;
    for (size_t at = 0; at < bytes.size();) {
        const uint64_t offset = section.offset + at;
        if (bytes.size() - at < 4)
            return bad(file, fmt::format("truncated: {} ends within an attribute (at byte 0x{:x})",
                                         section.name, offset));
        const auto format = static_cast<uint8_t>(bytes[at]);
        if (format < 1 || format > 4)
            return bad(file, fmt::format("damaged: an attribute of {} (at byte 0x{:x}) has format "
                                         "{}; formats are 1 to 4",
                                         section.name, offset, format));
        Attribute attribute{.format = static_cast<Format>(format),
                            .id = static_cast<uint8_t>(bytes[at + 1]),
                            .data = bytes.substr(at + 2, 2),
                            .offset = offset};
        at += 4;
        if (attribute.format == Format::sized) {
            const uint16_t size = load_u16(attribute.data, 0);
            if (size > bytes.size() - at)
                return bad(file, fmt::format("truncated: an attribute of {} (at byte 0x{:x}) takes "
                                             "{} bytes and the section has {} more",
                                             section.name, offset, size, bytes.size() - at));
            attribute.data = bytes.substr(at, size);
            at += size;
        }
        attributes.push_back(attribute);
    }
    return attributes;
}

Status apply_attribute(const Attribute& attribute, bool per_function, Kernel& kernel,
                       const std::string& file) {
    const Row* row = find_row(attribute.id, per_function);
    if (!row) return ok();
    WW_TRY(checked, check_row(*row, attribute, file));
    (void)checked;
    row->apply(attribute, kernel);
    return ok();
}

Result<int64_t> symbol_of(const Attribute& attribute, const std::string& file) {
    const Row* row = find_row(attribute.id, false);
    if (!row) return int64_t{-1};
    WW_TRY(checked, check_row(*row, attribute, file));
    (void)checked;
    return static_cast<int64_t>(word(attribute, 0));
}

}  // namespace ww::cubin

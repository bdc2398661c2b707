// SPDX-License-Identifier: Apache-2.0
// A bounded reader of ELF64 little-endian images for the CUDA machine: sections and symbols, every
// offset, size and name checked. Knows nothing of kernels (cubin.hpp does) and copies nothing.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ww::cubin {

inline constexpr uint16_t kElfRelocatable = 1;  // e_type ET_REL: before nvlink

struct Section {
    std::string_view name;
    uint32_t type = 0;
    uint64_t flags = 0;
    uint32_t link = 0, info = 0;
    uint64_t offset = 0, size = 0, entry_bytes = 0;
    std::string_view bytes;  // empty for sections without bytes in the file (SHT_NOBITS)
};

struct Symbol {
    std::string_view name;
    uint64_t value = 0, size = 0;
    uint32_t section = 0;  // index into Elf::sections; 0: undefined, absolute or common
    uint8_t type = 0, binding = 0, other = 0;
};

// Views into the image: valid while the bytes are.
struct Elf {
    uint16_t type = 0;
    uint8_t abi_version = 0;
    uint32_t version = 0, flags = 0;  // e_version and e_flags
    std::vector<Section> sections;    // by index; 0 is the null section
    std::vector<Symbol> symbols;      // of .symtab, by index
};

// name is the file's name, for messages.
Result<Elf> read_elf(std::string_view bytes, const std::string& name);

// Unsigned little-endian numbers at an offset that the caller has checked.
uint16_t load_u16(std::string_view bytes, size_t offset);
uint32_t load_u32(std::string_view bytes, size_t offset);
uint64_t load_u64(std::string_view bytes, size_t offset);

// A failure that names the file: how every message of this room ends.
Failure bad(const std::string& file, std::string message);

}  // namespace ww::cubin

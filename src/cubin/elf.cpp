// SPDX-License-Identifier: Apache-2.0
// The bounded ELF reader. Layouts are those of the System V ABI, chapter "Object Files".
#include "cubin/elf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace ww::cubin {
namespace {

constexpr size_t kHeaderBytes = 64, kSectionBytes = 64, kSymbolBytes = 24;
constexpr uint16_t kMachineCuda = 190;
constexpr uint32_t kTypeSymtab = 2, kTypeStrtab = 3, kTypeNobits = 8, kTypeSymtabShndx = 18;
// Sections of NVIDIA's without bytes in the file, as relocatable images type them: .nv.global,
// .nv.local, .nv.shared and .nv.shared.reserved.
constexpr uint32_t kTypesWithoutBytes[] = {kTypeNobits, 0x70000007, 0x70000009, 0x7000000a,
                                           0x70000015};
constexpr uint16_t kIndexReserved = 0xff00, kIndexElsewhere = 0xffff;
// Longer names than any compiler makes; the bound keeps a hostile string table from costing a scan
// of the whole file per name.
constexpr size_t kNameLimit = size_t{1} << 16;
// Sections may share bytes (sm_100 and later store debug sections once for two names); the bound
// keeps a file of many sections over the same bytes from costing their product.
constexpr uint64_t kOverlapLimit = 4;

// What the file is instead of a CUDA ELF, and how to come to one; empty when it is an ELF.
std::string other_format(std::string_view bytes) {
    constexpr std::string_view kElf(
        "\x7f"
        "ELF",
        4),
        kFatbin("\x50\xed\x55\xba", 4);
    if (bytes.empty()) return "the file is empty; a cubin is an ELF image as ptxas writes it";
    if (bytes.substr(0, 4) == kElf) return {};
    if (bytes.substr(0, 4) == kFatbin)
        return "this is a fatbin, not a cubin: extract the cubins in it with cuobjdump -xelf all";
    if (bytes.substr(0, 7) == "!<arch>")
        return "this is a library archive, not a cubin: extract the cubins in it with cuobjdump "
               "-xelf all";
    if (bytes.substr(0, 4096).find(".version") != std::string_view::npos &&
        bytes.substr(0, 4096).find(".target") != std::string_view::npos)
        return "this is PTX text, not a cubin: assemble it with ptxas -arch=sm_XX -o FILE.cubin";
    return "not an ELF image (it does not begin with 7f 45 4c 46); a cubin comes from ptxas or "
           "nvcc -cubin, or out of a program with cuobjdump -xelf all";
}

Status check_header(std::string_view bytes, const std::string& file) {
    if (const std::string other = other_format(bytes); !other.empty()) return bad(file, other);
    if (bytes.size() < kHeaderBytes)
        return bad(file, fmt::format("truncated: {} bytes, and an ELF header has {}", bytes.size(),
                                     kHeaderBytes));
    if (bytes[4] != 2)
        return bad(file, fmt::format("a 32-bit ELF image (class {} at byte 4): only 64-bit cubins "
                                     "are read; compile with -m64",
                                     static_cast<unsigned char>(bytes[4])));
    if (bytes[5] != 1)
        return bad(file,
                   "a big-endian ELF image (data encoding at byte 5): cubins are "
                   "little-endian");
    if (const uint16_t machine = load_u16(bytes, 18); machine != kMachineCuda)
        return bad(file, fmt::format("an ELF image for machine {} (at byte 0x12), not CUDA ({}): "
                                     "if it is a program or library with device code, extract "
                                     "the cubins in it with cuobjdump -xelf all",
                                     machine, kMachineCuda));
    return ok();
}

// Bytes [offset, offset + size) of the file, or a message that says what would lie there.
Result<std::string_view> range(std::string_view bytes, uint64_t offset, uint64_t size,
                               const std::string& what, const std::string& file) {
    if (offset > bytes.size() || size > bytes.size() - offset)
        return bad(file, fmt::format("truncated or damaged: {} takes 0x{:x} bytes from byte 0x{:x} "
                                     "on, and the file has 0x{:x}",
                                     what, size, offset, bytes.size()));
    return bytes.substr(static_cast<size_t>(offset), static_cast<size_t>(size));
}

// The NUL-terminated string at an offset of a string table.
Result<std::string_view> string_at(const Section& table, uint32_t offset, const std::string& what,
                                   const std::string& file) {
    if (offset == 0 && table.bytes.empty()) return std::string_view{};
    if (offset >= table.bytes.size())
        return bad(file, fmt::format("damaged: the name of {} is at 0x{:x} of a string table of "
                                     "0x{:x} bytes (at byte 0x{:x})",
                                     what, offset, table.bytes.size(), table.offset));
    const std::string_view rest = table.bytes.substr(offset, kNameLimit);
    const size_t end = rest.find('\0');
    if (end == std::string_view::npos)
        return bad(file, fmt::format("damaged: the name of {} (at byte 0x{:x}) does not end", what,
                                     table.offset + offset));
    return rest.substr(0, end);
}

Section section_header(std::string_view bytes, size_t at) {
    Section section;
    section.type = load_u32(bytes, at + 4);
    section.flags = load_u64(bytes, at + 8);
    section.offset = load_u64(bytes, at + 24);
    section.size = load_u64(bytes, at + 32);
    section.link = load_u32(bytes, at + 40);
    section.info = load_u32(bytes, at + 44);
    section.entry_bytes = load_u64(bytes, at + 56);
    return section;
}

Status read_sections(std::string_view bytes, const std::string& file, Elf& elf) {
    const uint64_t table = load_u64(bytes, 40);
    if (table == 0) return bad(file, "damaged: no section table (0 at byte 0x28)");
    if (const uint16_t entry = load_u16(bytes, 58); entry != kSectionBytes)
        return bad(file, fmt::format("damaged: section headers of {} bytes (at byte 0x3a); they "
                                     "have {}",
                                     entry, kSectionBytes));
    WW_TRY(first, range(bytes, table, kSectionBytes, "the section table", file));
    const Section null = section_header(first, 0);
    // Counts that do not fit in 16 bits stand in the null section.
    uint64_t count = load_u16(bytes, 60);
    if (count == 0) count = null.size;
    uint32_t names = load_u16(bytes, 62);
    if (names == kIndexElsewhere) names = null.link;
    if (count > bytes.size() / kSectionBytes)
        return bad(file, fmt::format("truncated or damaged: {} section headers (at byte 0x{:x}) in "
                                     "a file of 0x{:x} bytes",
                                     count, table, bytes.size()));
    WW_TRY(headers, range(bytes, table, count * kSectionBytes, "the section table", file));
    if (names >= count)
        return bad(file, fmt::format("damaged: section names are in section {} of {} (at byte "
                                     "0x3e)",
                                     names, count));
    elf.sections.resize(static_cast<size_t>(count));
    uint64_t total = 0;
    for (size_t i = 1; i < elf.sections.size(); ++i) {
        Section& section = elf.sections[i];
        section = section_header(headers, i * kSectionBytes);
        const bool no_bytes =
            std::find(std::begin(kTypesWithoutBytes), std::end(kTypesWithoutBytes), section.type) !=
            std::end(kTypesWithoutBytes);
        if (no_bytes || section.size == 0) continue;
        WW_TRY(content,
               range(bytes, section.offset, section.size, fmt::format("section {}", i), file));
        section.bytes = content;
        total += section.size;
        if (total > kOverlapLimit * bytes.size())
            return bad(file, fmt::format("damaged: sections overlap, {} of them take more than {} "
                                         "times the file's 0x{:x} bytes",
                                         i, kOverlapLimit, bytes.size()));
    }
    for (size_t i = 1; i < elf.sections.size(); ++i) {
        WW_TRY(name, string_at(elf.sections[names], load_u32(headers, i * kSectionBytes),
                               fmt::format("section {}", i), file));
        elf.sections[i].name = name;
    }
    return ok();
}

// Index of the section that a symbol belongs to; extended is SHT_SYMTAB_SHNDX's content, or empty.
Result<uint32_t> symbol_section(uint16_t index, size_t symbol, std::string_view extended,
                                const Elf& elf, const std::string& file) {
    uint32_t section = index;
    if (index == kIndexElsewhere) {
        if (extended.size() / 4 <= symbol)
            return bad(file, fmt::format("damaged: symbol {} lies in a section that the extended "
                                         "index table does not name",
                                         symbol));
        section = load_u32(extended, symbol * 4);
    } else if (index >= kIndexReserved) {
        return uint32_t{0};
    }
    if (section >= elf.sections.size())
        return bad(file, fmt::format("damaged: symbol {} lies in section {} of {}", symbol, section,
                                     elf.sections.size()));
    return section;
}

Status read_symbols(const std::string& file, Elf& elf) {
    const Section* table = nullptr;
    std::string_view extended;
    for (const Section& section : elf.sections) {
        if (section.type == kTypeSymtab && !table && section.name == ".symtab") table = &section;
        if (section.type == kTypeSymtabShndx) extended = section.bytes;
    }
    if (!table) return ok();
    if (table->entry_bytes != kSymbolBytes || table->bytes.size() % kSymbolBytes != 0)
        return bad(file, fmt::format("damaged: the symbol table (at byte 0x{:x}) has 0x{:x} bytes "
                                     "in entries of {}; entries have {}",
                                     table->offset, table->size, table->entry_bytes, kSymbolBytes));
    if (table->link >= elf.sections.size() || elf.sections[table->link].type != kTypeStrtab)
        return bad(file, fmt::format("damaged: the symbols' names are in section {}, which is no "
                                     "string table",
                                     table->link));
    elf.symbols.resize(table->bytes.size() / kSymbolBytes);
    for (size_t i = 1; i < elf.symbols.size(); ++i) {
        const size_t at = i * kSymbolBytes;
        Symbol& symbol = elf.symbols[i];
        WW_TRY(name, string_at(elf.sections[table->link], load_u32(table->bytes, at),
                               fmt::format("symbol {}", i), file));
        WW_TRY(section, symbol_section(load_u16(table->bytes, at + 6), i, extended, elf, file));
        const auto info = static_cast<uint8_t>(table->bytes[at + 4]);
        symbol = {.name = name,
                  .value = load_u64(table->bytes, at + 8),
                  .size = load_u64(table->bytes, at + 16),
                  .section = section,
                  .type = static_cast<uint8_t>(info & 15),
                  .binding = static_cast<uint8_t>(info >> 4),
                  .other = static_cast<uint8_t>(table->bytes[at + 5])};
    }
    return ok();
}

}  // namespace

uint16_t load_u16(std::string_view bytes, size_t offset) {
    WW_CHECK(offset + 2 <= bytes.size(), "a read past the end");
    const auto* p = reinterpret_cast<const unsigned char*>(bytes.data() + offset);
    return static_cast<uint16_t>(p[0] | p[1] << 8);
}

uint32_t load_u32(std::string_view bytes, size_t offset) {
    return load_u16(bytes, offset) | static_cast<uint32_t>(load_u16(bytes, offset + 2)) << 16;
}

uint64_t load_u64(std::string_view bytes, size_t offset) {
    return load_u32(bytes, offset) | static_cast<uint64_t>(load_u32(bytes, offset + 4)) << 32;
}

Failure bad(const std::string& file, std::string message) {
    return fail(Diagnostic{.file = file, .message = std::move(message)});
}

Result<Elf> read_elf(std::string_view bytes, const std::string& name) {
    WW_TRY(header, check_header(bytes, name));
    (void)header;
    Elf elf;
    elf.type = load_u16(bytes, 16);
    elf.abi_version = static_cast<uint8_t>(bytes[8]);
    elf.version = load_u32(bytes, 20);
    elf.flags = load_u32(bytes, 48);
    WW_TRY(sections, read_sections(bytes, name, elf));
    (void)sections;
    WW_TRY(symbols, read_symbols(name, elf));
    (void)symbols;
    return elf;
}

}  // namespace ww::cubin

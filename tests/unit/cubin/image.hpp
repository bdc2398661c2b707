// SPDX-License-Identifier: Apache-2.0
// Builds small cubin images, good ones and damaged ones, out of readable parts.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ww::cubin::test {

// n little-endian bytes of a number.
inline std::string little(uint64_t value, int n) {
    std::string bytes;
    for (int i = 0; i < n; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
    return bytes;
}
inline std::string words(std::initializer_list<uint32_t> values) {
    std::string bytes;
    for (const uint32_t value : values) bytes += little(value, 4);
    return bytes;
}

// Records of .nv.info: format none, byte, half and sized.
inline std::string info_none(int id) {
    return little(1, 1) + little(uint64_t(id), 1) + little(0, 2);
}
inline std::string info_byte(int id, int value) {
    return little(2, 1) + little(uint64_t(id), 1) + little(uint64_t(value), 2);
}
inline std::string info_half(int id, int value) {
    return little(3, 1) + little(uint64_t(id), 1) + little(uint64_t(value), 2);
}
inline std::string info_sized(int id, const std::string& data) {
    return little(4, 1) + little(uint64_t(id), 1) + little(data.size(), 2) + data;
}

struct SectionParts {
    std::string name;
    uint32_t type = 1;  // SHT_PROGBITS
    uint64_t flags = 0;
    uint32_t link = 0, info = 0;
    std::string bytes = {};
    uint64_t size = 0;  // of a section without bytes
    uint64_t entry_bytes = 0;
};

struct SymbolParts {
    std::string name;
    uint32_t section = 0;
    uint64_t value = 0, size = 0;
    int type = 2;   // STT_FUNC
    int other = 0;  // 0x10: a kernel
};

// The image: header, section contents, section table. Section 1 names sections, 2 symbols, 3 is the
// symbol table; those that are added begin at 4.
class Image {
  public:
    uint16_t type = 2, machine = 190;
    uint8_t elf_class = 2, encoding = 1, abi_version = 8;
    uint32_t flags = 0x6005a04;  // sm_90 as CUDA 13 writes it
    uint32_t version = 1;

    uint32_t add(SectionParts section) {
        sections_.push_back(std::move(section));
        return static_cast<uint32_t>(sections_.size()) + 3;
    }
    uint32_t add(SymbolParts symbol) {
        symbols_.push_back(std::move(symbol));
        return static_cast<uint32_t>(symbols_.size());
    }
    // A code section of some bytes with a function that fills it; the section's index.
    uint32_t function(const std::string& name, bool entry, uint64_t bytes = 128,
                      uint64_t more_flags = 0) {
        const uint32_t section = add(SectionParts{.name = ".text." + name,
                                                  .flags = 6 | more_flags,
                                                  .link = 3,
                                                  .bytes = std::string(bytes, '\x11')});
        add(SymbolParts{
            .name = name, .section = section, .size = bytes, .other = entry ? 0x10 : 0});
        return section;
    }

    std::string build() const {
        std::string names(1, '\0'), strings(1, '\0'), table(24, '\0');
        for (const SymbolParts& symbol : symbols_) {
            table += little(strings.size(), 4) + little(0x10 | uint64_t(symbol.type), 1) +
                     little(uint64_t(symbol.other), 1) + little(symbol.section, 2) +
                     little(symbol.value, 8) + little(symbol.size, 8);
            strings += symbol.name + '\0';
        }
        std::vector<SectionParts> all = {
            {.name = ""},
            {.name = ".shstrtab", .type = 3},
            {.name = ".strtab", .type = 3, .bytes = strings},
            {.name = ".symtab", .type = 2, .link = 2, .bytes = table, .entry_bytes = 24}};
        all[0].type = 0;
        all.insert(all.end(), sections_.begin(), sections_.end());
        std::vector<uint64_t> name_at;
        for (const SectionParts& section : all) {
            name_at.push_back(section.name.empty() ? 0 : names.size());
            if (!section.name.empty()) names += section.name + '\0';
        }
        all[1].bytes = names;
        std::string content(64, '\0'), headers;
        for (size_t i = 0; i < all.size(); ++i) {
            const SectionParts& s = all[i];
            headers += little(name_at[i], 4) + little(s.type, 4) + little(s.flags, 8) +
                       little(0, 8) + little(i == 0 ? 0 : content.size(), 8) +
                       little(s.bytes.empty() ? s.size : s.bytes.size(), 8) + little(s.link, 4) +
                       little(s.info, 4) + little(4, 8) + little(s.entry_bytes, 8);
            content += s.bytes;
        }
        const std::string header =
            "\x7f"
            "ELF" +
            little(elf_class, 1) + little(encoding, 1) + little(1, 1) + little(0x41, 1) +
            little(abi_version, 1) + std::string(7, '\0') + little(type, 2) + little(machine, 2) +
            little(version, 4) + little(0, 8) + little(0, 8) + little(content.size(), 8) +
            little(flags, 4) + little(64, 2) + little(56, 2) + little(0, 2) + little(64, 2) +
            little(all.size(), 2) + little(1, 2);
        return content.replace(0, header.size(), header) + headers;
    }

  private:
    std::vector<SectionParts> sections_;
    std::vector<SymbolParts> symbols_;
};

}  // namespace ww::cubin::test

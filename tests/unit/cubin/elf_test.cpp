// SPDX-License-Identifier: Apache-2.0
#include "cubin/elf.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "image.hpp"

namespace ww::cubin {
namespace {

using test::Image;
using test::little;
using test::SectionParts;

Image small() {
    Image image;
    image.function("k", true);
    image.add(
        SectionParts{.name = ".nv.shared.k", .type = 8, .flags = 0x43, .info = 4, .size = 4096});
    return image;
}

std::string message(const std::string& bytes) {
    const auto elf = read_elf(bytes, "x.cubin");
    if (elf) return "accepted";
    EXPECT_EQ(elf.error().size(), 1u);
    EXPECT_EQ(elf.error()[0].file, "x.cubin");
    return elf.error()[0].message;
}

// The image with n bytes at an offset replaced by a number.
std::string with(std::string bytes, size_t offset, uint64_t value, int n) {
    const std::string number = little(value, n);
    std::copy(number.begin(), number.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    return bytes;
}

size_t section_table(const std::string& bytes) { return static_cast<size_t>(load_u64(bytes, 40)); }

TEST(Elf, SectionsAndSymbols) {
    const std::string bytes = small().build();
    const auto elf = read_elf(bytes, "x.cubin");
    ASSERT_TRUE(elf) << format(elf.error());
    ASSERT_EQ(elf->sections.size(), 6u);
    EXPECT_EQ(elf->sections[4].name, ".text.k");
    EXPECT_EQ(elf->sections[4].bytes, std::string(128, '\x11'));
    EXPECT_EQ(elf->sections[5].name, ".nv.shared.k");
    EXPECT_EQ(elf->sections[5].size, 4096u);
    EXPECT_TRUE(elf->sections[5].bytes.empty());
    ASSERT_EQ(elf->symbols.size(), 2u);
    EXPECT_EQ(elf->symbols[1].name, "k");
    EXPECT_EQ(elf->symbols[1].section, 4u);
    EXPECT_EQ(elf->symbols[1].size, 128u);
    EXPECT_EQ(elf->symbols[1].type, 2);
    EXPECT_EQ(elf->symbols[1].other, 0x10);
}

// No prefix of a good image is good: the section table is its end.
TEST(Elf, EveryTruncationIsNoticed) {
    const std::string bytes = small().build();
    for (size_t size = 0; size < bytes.size(); ++size)
        EXPECT_NE(message(bytes.substr(0, size)), "accepted") << size;
}

TEST(Elf, OtherFilesSayWhatTheyAre) {
    EXPECT_EQ(message(""), "the file is empty; a cubin is an ELF image as ptxas writes it");
    EXPECT_EQ(message(std::string("\x50\xed\x55\xba\x01\x00\x10\x00", 8)),
              "this is a fatbin, not a cubin: extract the cubins in it with cuobjdump -xelf all");
    EXPECT_EQ(message("!<arch>\nkernels.o/"),
              "this is a library archive, not a cubin: extract the cubins in it with cuobjdump "
              "-xelf all");
    EXPECT_EQ(message("//\n.version 9.0\n.target sm_90a\n"),
              "this is PTX text, not a cubin: assemble it with ptxas -arch=sm_XX -o FILE.cubin");
    EXPECT_EQ(message("hello"),
              "not an ELF image (it does not begin with 7f 45 4c 46); a cubin comes from ptxas or "
              "nvcc -cubin, or out of a program with cuobjdump -xelf all");
}

TEST(Elf, HeadersThatAreNotACubins) {
    Image image = small();
    image.elf_class = 1;
    EXPECT_EQ(message(image.build()),
              "a 32-bit ELF image (class 1 at byte 4): only 64-bit cubins "
              "are read; compile with -m64");
    image = small();
    image.encoding = 2;
    EXPECT_EQ(message(image.build()),
              "a big-endian ELF image (data encoding at byte 5): cubins are little-endian");
    image = small();
    image.machine = 62;
    EXPECT_EQ(message(image.build()),
              "an ELF image for machine 62 (at byte 0x12), not CUDA (190): if it is a program or "
              "library with device code, extract the cubins in it with cuobjdump -xelf all");
    EXPECT_EQ(message(small().build().substr(0, 40)),
              "truncated: 40 bytes, and an ELF header has 64");
}

TEST(Elf, DamagedSectionTables) {
    const std::string good = small().build();
    const size_t table = section_table(good);
    ASSERT_EQ(table, 0x123u);
    EXPECT_EQ(message(with(good, 40, 0, 8)), "damaged: no section table (0 at byte 0x28)");
    EXPECT_EQ(message(with(good, 40, ~uint64_t{0} - 3, 8)),
              "truncated or damaged: the section table takes 0x40 bytes from byte "
              "0xfffffffffffffffc on, and the file has 0x2a3");
    EXPECT_EQ(message(with(good, 58, 40, 2)),
              "damaged: section headers of 40 bytes (at byte 0x3a); they have 64");
    EXPECT_EQ(message(with(good, 60, 200, 2)),
              "truncated or damaged: 200 section headers (at byte 0x123) in a file of 0x2a3 bytes");
    EXPECT_EQ(message(with(good, 62, 6, 2)),
              "damaged: section names are in section 6 of 6 (at byte 0x3e)");
    // Section 4's size, then its offset, then its name.
    EXPECT_EQ(message(with(good, table + 4 * 64 + 32, uint64_t{1} << 63, 8)),
              "truncated or damaged: section 4 takes 0x8000000000000000 bytes from byte 0xa3 on, "
              "and the file has 0x2a3");
    EXPECT_EQ(message(with(good, table + 4 * 64 + 24, 0x2a4, 8)),
              "truncated or damaged: section 4 takes 0x80 bytes from byte 0x2a4 on, and the file "
              "has 0x2a3");
    EXPECT_EQ(message(with(good, table + 4 * 64, 0x1000, 4)),
              "damaged: the name of section 4 is at 0x1000 of a string table of 0x30 bytes (at "
              "byte 0x40)");
}

TEST(Elf, DamagedSymbolTables) {
    const std::string good = small().build();
    const size_t header = section_table(good) + 3 * 64;  // of .symtab
    const auto table = static_cast<size_t>(load_u64(good, header + 24));
    const auto at = fmt::format("0x{:x}", table);
    EXPECT_EQ(message(with(good, header + 56, 16, 8)),
              "damaged: the symbol table (at byte " + at +
                  ") has 0x30 bytes in entries of 16; entries have 24");
    EXPECT_EQ(message(with(good, header + 32, 47, 8)),
              "damaged: the symbol table (at byte " + at +
                  ") has 0x2f bytes in entries of 24; entries have 24");
    EXPECT_EQ(message(with(good, header + 40, 4, 4)),
              "damaged: the symbols' names are in section 4, which is no string table");
    EXPECT_EQ(message(with(good, header + 40, 99, 4)),
              "damaged: the symbols' names are in section 99, which is no string table");
    EXPECT_EQ(message(with(good, table + 24 + 6, 6, 2)),
              "damaged: symbol 1 lies in section 6 of 6");
    EXPECT_EQ(message(with(good, table + 24 + 6, 0xffff, 2)),
              "damaged: symbol 1 lies in a section that the extended index table does not name");
    EXPECT_EQ(message(with(good, table + 24 + 6, 0xfff1, 2)), "accepted");  // SHN_ABS
    EXPECT_EQ(message(with(good, table + 24, 3, 4)),
              fmt::format("damaged: the name of symbol 1 is at 0x3 of a string table of 0x3 bytes "
                          "(at byte 0x{:x})",
                          load_u64(good, section_table(good) + 2 * 64 + 24)));
    std::string open = good;  // the string table's last NUL
    open[static_cast<size_t>(load_u64(good, section_table(good) + 2 * 64 + 24)) + 2] = 'x';
    EXPECT_NE(message(open).find("the name of symbol 1 (at byte 0x"), std::string::npos);
    EXPECT_NE(message(open).find("does not end"), std::string::npos);
}

// More sections than 16 bits count: the numbers stand in the null section and in a table of
// indices.
TEST(Elf, ExtendedNumbering) {
    Image image = small();
    image.add(SectionParts{.name = ".symtab_shndx", .type = 18, .bytes = test::words({0, 4})});
    std::string bytes = image.build();
    const size_t table = section_table(bytes);
    const auto symbols = static_cast<size_t>(load_u64(bytes, table + 3 * 64 + 24));
    bytes = with(with(with(bytes, 60, 0, 2), 62, 0xffff, 2), table + 32, 7, 8);
    bytes = with(with(bytes, table + 40, 1, 4), symbols + 24 + 6, 0xffff, 2);
    const auto elf = read_elf(bytes, "x.cubin");
    ASSERT_TRUE(elf) << format(elf.error());
    ASSERT_EQ(elf->sections.size(), 7u);
    EXPECT_EQ(elf->sections[4].name, ".text.k");
    EXPECT_EQ(elf->symbols[1].section, 4u);
}

}  // namespace
}  // namespace ww::cubin

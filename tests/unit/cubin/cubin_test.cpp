// SPDX-License-Identifier: Apache-2.0
// cubin::read on images built from parts: no toolkit needed. Real ones: ptxas_test.cpp.
#include "cubin/cubin.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "samples.hpp"

namespace ww::cubin {
namespace {

using namespace test;

std::string message(const std::string& bytes) {
    const auto cubin = read(bytes, "x.cubin");
    if (cubin) return "accepted";
    EXPECT_EQ(cubin.error()[0].file, "x.cubin");
    return cubin.error()[0].message;
}

TEST(Cubin, AKernelWithEverything) {
    const std::string bytes = full_image().build();
    const auto cubin = read(bytes, "x.cubin");
    ASSERT_TRUE(cubin) << format(cubin.error());
    EXPECT_EQ(cubin->target, "sm_90a");
    EXPECT_EQ(cubin->sm, 90);
    EXPECT_FALSE(cubin->relocatable);
    EXPECT_EQ(cubin->tool, "ptxas");
    EXPECT_EQ(cubin->tool_version, "Cuda compilation tools, release 13.0, V13.0.88");
    EXPECT_EQ(cubin->tool_options, "-v  -arch sm_90a -m 64");
    EXPECT_EQ(cubin->toolkit, "13.0");
    EXPECT_EQ(cubin->global_bytes, 16u);
    EXPECT_EQ(cubin->constant_bytes, (std::map<int, uint64_t>{{3, 512}}));
    EXPECT_EQ(cubin->ptx, "\n.version 9.0\n.target sm_90a\n");
    ASSERT_EQ(cubin->kernels.size(), 2u);
    const Kernel& k = cubin->kernels[0];
    EXPECT_EQ(k.name, "k");
    EXPECT_TRUE(k.entry);
    EXPECT_EQ(k.registers, 40);
    EXPECT_EQ(k.max_registers, 80);
    EXPECT_EQ(k.barriers, 3);
    EXPECT_EQ(k.static_shared_bytes, 400u);
    EXPECT_EQ(k.reserved_shared_bytes, 1024u);
    EXPECT_EQ(k.local_bytes, 32u);
    EXPECT_EQ(k.frame_bytes, 48u);
    EXPECT_EQ(k.stack_bytes, 96u);
    EXPECT_TRUE(k.stack_known);
    EXPECT_EQ(k.constant_bytes, (std::map<int, uint64_t>{{0, 0x21c}, {2, 24}}));
    EXPECT_EQ(k.max_block, (std::array<int, 3>{128, 2, 1}));
    EXPECT_EQ(k.required_block, (std::array<int, 3>{0, 0, 0}));
    EXPECT_EQ(k.max_threads, 256);
    EXPECT_EQ(k.cluster_size, (std::array<int, 3>{2, 1, 1}));
    EXPECT_TRUE(k.explicit_cluster);
    EXPECT_EQ(k.parameter_base, 0x210u);
    EXPECT_EQ(k.parameter_bytes, 12u);
    ASSERT_EQ(k.parameters.size(), 2u);
    EXPECT_EQ(k.parameters[0].ordinal, 0);
    EXPECT_EQ(k.parameters[0].bytes, 8u);
    EXPECT_EQ(k.parameters[1].offset, 8u);
    EXPECT_EQ(k.parameters[1].bytes, 4u);
    EXPECT_EQ(k.code, std::string(256, '\x11'));
    const Kernel& helper = cubin->kernels[1];
    EXPECT_EQ(helper.name, "$k$helper");
    EXPECT_FALSE(helper.entry);
    EXPECT_EQ(helper.inside, "k");
    EXPECT_EQ(helper.frame_bytes, 16u);
    EXPECT_EQ(helper.section_offset, 128u);
    EXPECT_EQ(helper.code_bytes, 128u);
    EXPECT_EQ(cubin->find("k"), &k);
    EXPECT_EQ(cubin->find("K"), nullptr);
}

TEST(Cubin, AsCuda12WroteIt) {
    const std::string bytes = old_image().build();
    const auto cubin = read(bytes, "x.cubin");
    ASSERT_TRUE(cubin) << format(cubin.error());
    EXPECT_EQ(cubin->target, "sm_90a");
    EXPECT_EQ(cubin->toolkit, "12.4");
    EXPECT_EQ(cubin->tool, "");
    ASSERT_EQ(cubin->kernels.size(), 2u);
    EXPECT_EQ(cubin->kernels[0].registers, 24);
    EXPECT_EQ(cubin->kernels[0].barriers, 5);
    EXPECT_FALSE(cubin->kernels[0].stack_known);
    EXPECT_EQ(cubin->kernels[0].static_shared_bytes, 0u);
    EXPECT_EQ(cubin->kernels[0].reserved_shared_bytes, 1024u);
    EXPECT_EQ(cubin->kernels[1].name, "helper");
    EXPECT_FALSE(cubin->kernels[1].entry);
    EXPECT_EQ(cubin->kernels[1].inside, "");
    EXPECT_EQ(cubin->kernels[1].registers, 12);
}

TEST(Cubin, RelocatableImagesReserveNothing) {
    const std::string bytes = relocatable_image().build();
    const auto cubin = read(bytes, "x.cubin");
    ASSERT_TRUE(cubin) << format(cubin.error());
    EXPECT_TRUE(cubin->relocatable);
    EXPECT_EQ(cubin->target, "sm_120");
    ASSERT_EQ(cubin->kernels.size(), 1u);
    EXPECT_EQ(cubin->kernels[0].static_shared_bytes, 32768u);
    EXPECT_EQ(cubin->kernels[0].reserved_shared_bytes, 0u);
    EXPECT_EQ(cubin->kernels[0].constant_bytes.at(0), 904u);
}

// A kernel's attributes are one section's bytes: the messages for all that can be wrong in it.
std::string with_attributes(const std::string& bytes, bool per_function) {
    Image image;
    const uint32_t text = image.function("k", true);
    image.add(SectionParts{.name = per_function ? ".nv.info.k" : ".nv.info",
                           .type = 0x70000000,
                           .info = per_function ? text : 0,
                           .bytes = bytes});
    return message(image.build());
}

TEST(Cubin, DamagedAttributes) {
    EXPECT_EQ(with_attributes(info_byte(0x4c, 1), true), "accepted");
    EXPECT_EQ(with_attributes(info_sized(0xee, "abcd"), true), "accepted");  // one we do not know
    EXPECT_EQ(with_attributes("\x04\x11\x08", true),
              "truncated: .nv.info.k ends within an attribute (at byte 0x121)");
    EXPECT_EQ(
        with_attributes(std::string("\x05\x11\x08\x00", 4), true),
        "damaged: an attribute of .nv.info.k (at byte 0x121) has format 5; formats are 1 to 4");
    EXPECT_EQ(
        with_attributes(std::string("\x04\x05\x0c\x00"
                                    "abcd",
                                    8),
                        true),
        "truncated: an attribute of .nv.info.k (at byte 0x121) takes 12 bytes and the section "
        "has 4 more");
    EXPECT_EQ(with_attributes(info_sized(0x05, "abcd"), true),
              "damaged: EIATTR_MAX_THREADS at byte 0x121 has 4 bytes, and it takes 12");
    EXPECT_EQ(with_attributes(info_half(0x05, 1), true),
              "damaged: EIATTR_MAX_THREADS at byte 0x121 has format 3, and it is 4");
    EXPECT_EQ(with_attributes(info_sized(0x2f, words({9, 32})), false),
              "damaged: an attribute of .nv.info (at byte 0x11f) describes symbol 9 of 2");
}

// Numbers past an int stay past every limit; they do not turn negative.
TEST(Cubin, NumbersTooLarge) {
    Image image;
    const uint32_t text = image.function("k", true);
    image.add(SectionParts{.name = ".nv.info.k",
                           .type = 0x70000000,
                           .info = text,
                           .bytes = info_sized(0x05, words({~0u, 65536, 65536}))});
    const std::string bytes = image.build();
    const auto cubin = read(bytes, "x.cubin");
    ASSERT_TRUE(cubin);
    EXPECT_EQ(cubin->kernels[0].max_threads, 2147483647);
    EXPECT_EQ(cubin->kernels[0].max_block[0], 2147483647);
}

TEST(Cubin, DamagedFunctionsAndNotes) {
    Image image;
    const uint32_t text = image.function("k", true);
    image.add(SymbolParts{.name = "f", .section = text, .value = 100, .size = 29});
    EXPECT_EQ(message(image.build()),
              "damaged: function f takes 0x1d bytes from byte 0x64 of "
              "section .text.k on, which has 0x80");
    image = Image();
    image.add(SectionParts{.name = ".note.x", .type = 7, .bytes = words({12, 400, 2000})});
    EXPECT_EQ(message(image.build()),
              "truncated: a note of .note.x (at byte 0x88) runs over the section's end");
    image = Image();
    image.flags = 0x6000004;
    EXPECT_EQ(message(image.build()),
              "damaged: the ELF flags 0x6000004 (at byte 0x30) name no architecture");
}

// Sections over the same bytes must not cost their product.
TEST(Cubin, SectionsThatOverlap) {
    Image image;
    image.function("k", true);
    std::string bytes = image.build();
    const std::string section = bytes.substr(bytes.size() - 64);
    for (int i = 0; i < 20; ++i)
        bytes += little(0, 4) + little(1, 4) + section.substr(8, 16) + little(0, 8) +
                 little(600, 8) + section.substr(40);
    bytes.replace(60, 2, little(5 + 20, 2));
    const std::string found = message(bytes);
    EXPECT_NE(found.find("damaged: sections overlap, "), std::string::npos) << found;
}

// 20 MB in 10,000 functions: reading follows the number of sections, not of bytes.
TEST(Cubin, ALargeImageTakesMilliseconds) {
    Image image;
    for (int i = 0; i < 10000; ++i) image.function("function_" + std::to_string(i), true, 2048);
    const std::string bytes = image.build();
    const auto begin = std::chrono::steady_clock::now();
    const auto cubin = read(bytes, "x.cubin");
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ASSERT_TRUE(cubin);
    EXPECT_EQ(cubin->kernels.size(), 10000u);
    EXPECT_LT(seconds, 1);  // some milliseconds; a sanitizer and a busy machine may take more
    RecordProperty("milliseconds", std::to_string(seconds * 1e3));
}

}  // namespace
}  // namespace ww::cubin

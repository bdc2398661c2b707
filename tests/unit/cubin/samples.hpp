// SPDX-License-Identifier: Apache-2.0
// Whole cubins as the compilers lay them out, built from parts: what tests read and damage, and
// what the fuzzer mutates.
#pragma once
#include <string>
#include <vector>

#include "image.hpp"

namespace ww::cubin::test {

inline std::string note(const std::string& owner, uint32_t type, const std::string& data) {
    const std::string name = owner + '\0';
    const auto padded = [](std::string bytes) {
        bytes.resize((bytes.size() + 3) / 4 * 4);
        return bytes;
    };
    return words({static_cast<uint32_t>(name.size()), static_cast<uint32_t>(data.size()), type}) +
           padded(name) + padded(data);
}

// Who wrote the image, with which options: offsets of four strings, then the strings.
inline std::string toolkit_note(const std::string& options) {
    std::string strings(1, '\0'), offsets;
    for (const std::string& text :
         {std::string("ptxas"), std::string("Cuda compilation tools, release 13.0, V13.0.88"),
          std::string("Build cuda_13.0"), options + " "}) {
        offsets += little(strings.size(), 4);
        strings += text + '\0';
    }
    return note("NVIDIA Corp", 2000, words({2, 0}) + offsets + strings);
}

// {index, ordinal, offset, bytes} of a parameter.
inline std::string parameter(int ordinal, int offset, uint32_t bytes) {
    return info_sized(0x17, words({0}) + little(uint64_t(ordinal), 2) +
                                little(uint64_t(offset), 2) + words({bytes << 18 | 0x1f000}));
}

// A kernel with everything that its own sections can say, for CUDA 13 and sm_90a.
inline Image full_image() {
    Image image;
    const uint32_t text = image.function("k", true, 256);
    image.add(SymbolParts{.name = "$k$helper", .section = text, .value = 128, .size = 128});
    image.add(
        SectionParts{.name = ".nv.info",
                     .type = 0x70000000,
                     .link = 3,
                     .bytes = info_sized(0x2f, words({1, 40})) + info_sized(0x11, words({1, 48})) +
                              info_sized(0x12, words({1, 96})) + info_sized(0x11, words({2, 16}))});
    image.add(SectionParts{
        .name = ".nv.info.k",
        .type = 0x70000000,
        .flags = 0x40,
        .link = 3,
        .info = text,
        .bytes = parameter(1, 8, 4) + parameter(0, 0, 8) + info_half(0x19, 12) +
                 info_sized(0x0a, words({7, 12u << 16 | 0x210})) + info_half(0x1b, 80) +
                 info_byte(0x4c, 3) + info_sized(0x05, words({128, 2, 1})) +
                 info_sized(0x3d, words({2, 1, 1})) + info_none(0x3e) +
                 info_sized(0x1c, words({0x70, 0xf0})) + info_half(0x5f, 0x101)});
    image.add(SectionParts{
        .name = ".nv.shared.k", .type = 8, .flags = 0x43, .info = text, .size = 1024 + 400});
    image.add(
        SectionParts{.name = ".nv.local.k", .type = 8, .flags = 0x43, .info = text, .size = 32});
    image.add(SectionParts{
        .name = ".nv.constant0.k", .flags = 0x42, .info = text, .bytes = std::string(0x21c, '\0')});
    image.add(SectionParts{
        .name = ".nv.constant2.k", .flags = 0x42, .info = text, .bytes = std::string(24, '\0')});
    image.add(SectionParts{.name = ".nv.constant3", .flags = 2, .bytes = std::string(512, '\0')});
    image.add(SectionParts{.name = ".nv.global.init", .flags = 3, .bytes = "abcd"});
    image.add(SectionParts{.name = ".nv.global", .type = 8, .flags = 3, .size = 12});
    image.add(SectionParts{
        .name = ".note.nv.tkinfo", .type = 7, .bytes = toolkit_note("-v  -arch sm_90a -m 64")});
    image.add(SectionParts{.name = ".note.nv.cuinfo",
                           .type = 7,
                           .bytes = note("NVIDIA Corp", 1000, words({0x5a0002, 130}))});
    image.add(SectionParts{.name = ".nv.compat", .type = 0x70000086, .bytes = info_byte(0x01, 1)});
    image.add(
        SectionParts{.name = ".nv_debug_ptx_txt",
                     .bytes = '\0' + std::string(".version 9.0") + '\0' + ".target sm_90a" + '\0'});
    // The second description, which must change nothing.
    image.add(SectionParts{.name = ".nv.capmerc.text.k",
                           .type = 0x70000016,
                           .flags = 0x10000006,
                           .info = text,
                           .bytes = "mercury"});
    image.add(SectionParts{.name = ".nv.merc.nv.info.k",
                           .type = 0x70000083,
                           .flags = 0x10000040,
                           .info = text,
                           .bytes = "no attributes"});
    return image;
}

// The same kernel's code as CUDA 12 wrote it: architecture and barriers are in flags.
inline Image old_image() {
    Image image;
    image.abi_version = 7;
    image.version = 124;
    image.flags = 0x5a0d5a;
    const uint32_t text = image.function("k", true, 128, 0x500000);
    const uint32_t helper = image.function("helper", false);
    image.add(SectionParts{.name = ".nv.info",
                           .type = 0x70000000,
                           .bytes = info_sized(0x2f, words({1, 24})) +
                                    info_sized(0x2f, words({2, 12})) +
                                    info_sized(0x12, words({1, ~0u}))});
    image.add(SectionParts{.name = ".nv.info.helper",
                           .type = 0x70000000,
                           .info = helper,
                           .bytes = info_half(0x50, 0)});
    image.add(SectionParts{.name = ".nv.shared.k", .type = 8, .info = text, .size = 1024});
    return image;
}

// Before nvlink: types of NVIDIA's own for sections without bytes, and no reserved shared memory.
inline Image relocatable_image() {
    Image image;
    image.type = 1;
    image.flags = 0x6007802;
    const uint32_t text = image.function("k", true);
    image.add(
        SectionParts{.name = ".nv.shared.k", .type = 0x7000000a, .info = text, .size = 32768});
    image.add(SectionParts{.name = ".nv.constant0.k",
                           .type = 0x70000064,
                           .info = text,
                           .bytes = std::string(904, '\0')});
    return image;
}

inline std::vector<std::string> sample_images() {
    return {full_image().build(), old_image().build(), relocatable_image().build()};
}

}  // namespace ww::cubin::test

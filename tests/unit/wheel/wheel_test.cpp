// SPDX-License-Identifier: Apache-2.0
// Hashes by FIPS 180-4's own examples, the reader of shared objects on hostile bytes. Whole wheels are
// judged by pip (tests/sage3/wheel_test.py).
#include "wheel/wheel.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/policy.hpp"
#include "wheel/sha256.hpp"
#include "wheel/zip.hpp"

namespace ww::wheel {
namespace {

std::string hex(std::string_view bytes) {
    std::string out;
    for (const uint8_t each : sha256(bytes)) out += fmt::format("{:02x}", each);
    return out;
}

TEST(Sha256, gives_the_standards_examples) {
    EXPECT_EQ(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    EXPECT_EQ(sha256_base64(""), "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
}

TEST(Zip, same_files_same_bytes) {
    const std::vector<ZipFile> files = {{"a.txt", "abc"}, {"b/c", std::string(100, 'x'), true}};
    EXPECT_EQ(zip(files), zip(files));
    EXPECT_EQ(zip({}).size(), 22u);
}

TEST(SharedObject, this_program_can_be_read) {
    const auto bytes = read_file("/proc/self/exe");
    ASSERT_TRUE(bytes);
    const auto read = read_shared_object(*bytes, "exe");
    ASSERT_TRUE(read) << format(read.error());
    EXPECT_NE(std::find(read->needed.begin(), read->needed.end(), "libc.so.6"), read->needed.end());
    EXPECT_GE(read->glibc_minor, 14);  // memcpy's
    EXPECT_LE(read->glibc_minor, 99);
}

TEST(SharedObject, hostile_bytes_are_refused_or_read) {
    const auto bytes = read_file("/proc/self/exe");
    ASSERT_TRUE(bytes);
    EXPECT_FALSE(read_shared_object("", "x"));
    EXPECT_FALSE(read_shared_object("#!/bin/sh", "x"));
    EXPECT_FALSE(read_shared_object(bytes->substr(0, 64), "x"));
    EXPECT_FALSE(read_shared_object(bytes->substr(0, bytes->size() / 2), "x"));
    Random random(5);
    for (int i = 0; i < 500; ++i) {
        std::string changed = bytes->substr(0, 64);  // the header; what it names lies outside or elsewhere
        changed[random.below(64)] = static_cast<char>(random.below(256));
        changed += bytes->substr(64);
        (void)read_shared_object(changed, "x");
    }
}

TEST(Wheel, what_is_no_library_is_refused) {
    const auto made = make_wheel({.library = "/proc/self/exe", .out = "."});
    ASSERT_FALSE(made);
    EXPECT_NE(format(made.error()).find("it is no libsage3.so"), std::string::npos);
    const auto missing = make_wheel({.library = "nowhere/libsage3.so", .out = "."});
    ASSERT_FALSE(missing);
    EXPECT_NE(format(missing.error()).find("nowhere/libsage3.so"), std::string::npos);
}

}  // namespace
}  // namespace ww::wheel

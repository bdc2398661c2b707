// SPDX-License-Identifier: Apache-2.0
// APPNOTE.TXT of PKWARE: local headers with the files, the central directory, its end.
#include "wheel/zip.hpp"

#include <array>
#include <cstdint>

#include "base/check.hpp"

namespace ww::wheel {
namespace {

constexpr uint16_t kVersion = 20, kMadeByUnix = 3 << 8;
constexpr uint16_t kDate = 1 << 5 | 1;  // 1980-01-01, the first that there is

uint32_t crc32(std::string_view bytes) {
    static const auto table = [] {
        std::array<uint32_t, 256> out{};
        for (uint32_t i = 0; i < 256; ++i) {
            out[i] = i;
            for (int bit = 0; bit < 8; ++bit) out[i] = out[i] >> 1 ^ (out[i] & 1 ? 0xedb88320u : 0u);
        }
        return out;
    }();
    uint32_t crc = ~0u;
    for (const char each : bytes) crc = crc >> 8 ^ table[(crc ^ static_cast<uint8_t>(each)) & 0xff];
    return ~crc;
}

void put16(std::string& to, uint16_t value) {
    to += static_cast<char>(value & 0xff);
    to += static_cast<char>(value >> 8);
}

void put32(std::string& to, uint32_t value) {
    put16(to, static_cast<uint16_t>(value & 0xffff));
    put16(to, static_cast<uint16_t>(value >> 16));
}

// What a local header and a central one have in common, from "version needed" to "extra length".
void put_common(std::string& to, const ZipFile& file, uint32_t crc) {
    put16(to, kVersion);
    put16(to, 0);  // flags
    put16(to, 0);  // stored
    put16(to, 0);  // midnight
    put16(to, kDate);
    put32(to, crc);
    put32(to, static_cast<uint32_t>(file.bytes.size()));
    put32(to, static_cast<uint32_t>(file.bytes.size()));
    put16(to, static_cast<uint16_t>(file.name.size()));
    put16(to, 0);  // extra
}

}  // namespace

std::string zip(const std::vector<ZipFile>& files) {
    std::string out, directory;
    for (const ZipFile& file : files) {
        const uint32_t crc = crc32(file.bytes), offset = static_cast<uint32_t>(out.size());
        WW_CHECK(uint64_t{out.size()} + file.bytes.size() < UINT32_MAX && file.name.size() < UINT16_MAX, file.name);
        put32(out, 0x04034b50);
        put_common(out, file, crc);
        out += file.name;
        out += file.bytes;
        put32(directory, 0x02014b50);
        put16(directory, kMadeByUnix | kVersion);
        put_common(directory, file, crc);
        put16(directory, 0);  // comment
        put16(directory, 0);  // disk
        put16(directory, 0);  // internal attributes
        put32(directory, (file.executable ? 0100755u : 0100644u) << 16);
        put32(directory, offset);
        directory += file.name;
    }
    const auto begin = static_cast<uint32_t>(out.size());
    const auto count = static_cast<uint16_t>(files.size());
    out += directory;
    put32(out, 0x06054b50);
    put16(out, 0), put16(out, 0);  // disks
    put16(out, count), put16(out, count);
    put32(out, static_cast<uint32_t>(directory.size()));
    put32(out, begin);
    put16(out, 0);  // comment
    return out;
}

}  // namespace ww::wheel

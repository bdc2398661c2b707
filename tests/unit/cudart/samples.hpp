// SPDX-License-Identifier: Apache-2.0
// Fat binaries made by hand, for tests and the fuzzer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace ww::cudart::test {

// Appends numbers of the sizes that the format gives them.
class Bytes {
  public:
    template <class T>
    Bytes& add(T value) {
        for (size_t i = 0; i < sizeof value; ++i) bytes_.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i)));
        return *this;
    }
    Bytes& text(std::string_view text) {
        bytes_ += text;
        return *this;
    }
    const std::string& get() const { return bytes_; }

  private:
    std::string bytes_;
};

inline void add_entry(Bytes& to, uint16_t kind, std::string content, uint64_t flags = 0, uint32_t compressed = 0) {
    content.resize((content.size() + 7) / 8 * 8);
    to.add<uint16_t>(kind).add<uint16_t>(0x101).add<uint32_t>(64).add<uint64_t>(content.size()).add<uint32_t>(compressed).add<uint32_t>(0);
    to.add<uint16_t>(0).add<uint16_t>(9).add<uint32_t>(90).add<uint32_t>(0).add<uint32_t>(0).add<uint64_t>(flags).add<uint64_t>(0).add<uint64_t>(content.size());
    to.text(content);
}

inline std::vector<std::byte> whole(const Bytes& entries) {
    Bytes out;
    out.add<uint32_t>(0xba55ed50).add<uint16_t>(1).add<uint16_t>(16).add<uint64_t>(entries.get().size()).text(entries.get());
    std::vector<std::byte> bytes(out.get().size());
    std::memcpy(bytes.data(), out.get().data(), bytes.size());
    return bytes;
}

inline std::vector<std::byte> sample() {
    Bytes entries;
    add_entry(entries, 2, "\x7f" "ELF, a cubin");
    add_entry(entries, 1, "\n.version 9.0\n.target sm_90a\n");
    add_entry(entries, 1, ".version 8.0\n.target sm_80\n");
    return whole(entries);
}

}  // namespace ww::cudart::test

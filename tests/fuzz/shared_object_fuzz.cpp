// SPDX-License-Identifier: Apache-2.0
// wheel::read_shared_object on any bytes, and on a small good file with some of its bytes changed.
// links: wheel base
#include <cstring>
#include <tuple>

#include "fuzz.hpp"
#include "wheel/shared_object.hpp"

namespace {

template <class T>
void put(std::string& to, size_t at, T value) {
    std::memcpy(&to[at], &value, sizeof value);
}

// Header, strings, a dynamic section with two libraries, three section headers.
std::string sample() {
    const std::string strings("\0libc.so.6\0libx.so\0GLIBC_2.34\0", 30);
    std::string out(64 + 64 + 48 + 3 * 64, '\0');
    std::memcpy(out.data(), "\x7f" "ELF\x02\x01\x01", 7);
    put<uint16_t>(out, 16, 3), put<uint16_t>(out, 18, 62);
    put<uint64_t>(out, 40, 176), put<uint16_t>(out, 58, 64), put<uint16_t>(out, 60, 3);
    out.replace(64, strings.size(), strings);
    put<uint64_t>(out, 128, 1), put<uint64_t>(out, 136, 1), put<uint64_t>(out, 144, 1), put<uint64_t>(out, 152, 11);
    for (const auto& [at, type, offset, size] : {std::tuple{240, 3u, 64u, 30u}, {304, 6u, 128u, 48u}}) {
        put<uint32_t>(out, static_cast<size_t>(at) + 4, type);
        put<uint64_t>(out, static_cast<size_t>(at) + 24, offset), put<uint64_t>(out, static_cast<size_t>(at) + 32, size);
        put<uint32_t>(out, static_cast<size_t>(at) + 40, 1);
    }
    return out;
}

void read(std::string_view bytes) {
    const auto read = ww::wheel::read_shared_object(bytes, "fuzz.so");
    if (!read && (read.error().empty() || read.error()[0].file != "fuzz.so")) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    read({reinterpret_cast<const char*>(data), size});
    static const std::string good = sample();
    if (ww::wheel::read_shared_object(good, "")->needed != std::vector<std::string>{"libc.so.6", "libx.so"}) __builtin_trap();
    std::string changed = good;
    for (size_t i = 0; i + 2 <= size; i += 2) changed[data[i] * 3u % changed.size()] = static_cast<char>(data[i + 1]);
    read(changed);
    return 0;
}

std::vector<std::string> ww_fuzz_seeds() { return {sample(), std::string(16, '\x50'), std::string("\x0d\xff\x52\x7f\x5b\xff", 6)}; }

std::vector<std::string> ww_fuzz_words() { return {std::string("\0\xff", 2), "\x7f" "ELF", "GLIBC_2."}; }

// SPDX-License-Identifier: Apache-2.0
// read_fat_binary on any bytes: a failure says why, and what is read lies within.
// links: cudart base
#include "../unit/cudart/samples.hpp"
#include "cudart/fatbin.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto images = ww::cudart::read_fat_binary({reinterpret_cast<const std::byte*>(data), size});
    if (!images) {
        if (images.error().empty() || images.error()[0].message.empty()) __builtin_trap();
        return 0;
    }
    for (const auto& each : *images)
        if (each.text.find('\0') != std::string::npos) __builtin_trap();
    return 0;
}

std::vector<std::string> ww_fuzz_seeds() {
    using namespace ww::cudart::test;
    Bytes compressed;
    add_entry(compressed, 1, "\x28\xb5\x2f\xfd of zstd", 0x8000, 12);
    std::vector<std::string> seeds;
    for (const auto& each : {sample(), whole(compressed)}) seeds.emplace_back(reinterpret_cast<const char*>(each.data()), each.size());
    return seeds;
}

std::vector<std::string> ww_fuzz_words() {
    return {"\x50\xed\x55\xba", ".target sm_90a", ".target sm_120f", std::string("\x00\x80\x00\x00", 4), "\xff\xff\xff\xff"};
}

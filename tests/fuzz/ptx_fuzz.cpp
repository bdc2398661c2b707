// SPDX-License-Identifier: Apache-2.0
// ptx::parse on any bytes; what it accepts prints to text that is accepted again and prints alike.
// links: ptx isa base

#include "base/text.hpp"
#include "fuzz.hpp"
#include "seed_files.hpp"
#include "ptx/module.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto module = ww::ptx::parse({reinterpret_cast<const char*>(data), size}, "fuzz.ptx");
    if (!module && module.error().empty()) __builtin_trap();  // a failure must say why
    if (!module) return 0;
    const std::string printed = ww::ptx::print(*module);
    const auto again = ww::ptx::parse(printed, "printed.ptx");
    if (!again || ww::ptx::print(*again) != printed) __builtin_trap();
    return 0;
}

std::vector<std::string> ww_fuzz_seeds() { return seed_files("tests/ptx/parse", ".ptx"); }

std::vector<std::string> ww_fuzz_words() {
    const auto words = ww::split_words(
        "{ } [ ] ( ) < > ; , : | @!%p1 %r1 %tid.x _ - + ? 0f3F800000 0d3FF0000000000000 0x 0b "
        "18446744073709551616 1e999 \" /* */ // .reg .b32 .global .entry .func .loc .section "
        ".align .v4 .visible .param L: WARP_SZ (.s64) generic( call \xff (((((((((((( {{{{{{{{");
    return {words.begin(), words.end()};
}

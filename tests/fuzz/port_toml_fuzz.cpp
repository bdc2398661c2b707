// SPDX-License-Identifier: Apache-2.0
// parse_port on any bytes.
// links: port numerics base
// seeds: tests/port tests/port/bad

#include "base/files.hpp"
#include "fuzz.hpp"
#include "seed_files.hpp"
#include "port/reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto port = ww::port::parse_port(text, "fuzz.toml");
    if (!port && port.error().empty()) __builtin_trap();  // a failure must say why
    return 0;
}

std::vector<std::string> ww_fuzz_seeds() {
    std::vector<std::string> seeds = seed_files("tests/port/bad");
    seeds.push_back(ww::read_file(WW_SOURCE_DIR "/tests/port/example.toml").value());
    return seeds;
}

std::vector<std::string> ww_fuzz_words() {
    return {"\"",
            "'''",
            "\"\"\"",
            "[[case]]\n",
            "[[stage]]\n",
            "[",
            "]",
            "{ ",
            " }",
            " = ",
            ".",
            ",",
            "#",
            "\n",
            "\\u0000",
            "-1",
            "0",
            "1e308",
            "nan",
            "inf",
            "true",
            "1979-05-27",
            "9223372036854775807",
            "ceil_div(",
            "min(",
            " % ",
            " / 0",
            "((((((((",
            "a.b.c.d",
            "\"L\"",
            "shape",
            "axes",
            "tensor_map",
            "distribution",
            "relative_to",
            "l1_relative_to",
            "\xff",
            "\xc3\xa9"};
}

// SPDX-License-Identifier: Apache-2.0
// What a fuzzer of this folder defines. Its file says which rooms it links and where libFuzzer finds
// seeds: "// links: port base", "// seeds: tests/port" (CMakeLists.txt reads those lines).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Must return for any bytes: a crash, an exception or a hang is the bug that is looked for.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// For driver.cpp: inputs to mutate, and words that belong into such inputs.
std::vector<std::string> ww_fuzz_seeds();
std::vector<std::string> ww_fuzz_words();

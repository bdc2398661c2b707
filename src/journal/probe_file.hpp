// SPDX-License-Identifier: Apache-2.0
// A probe: one small kernel in CUDA C++ or PTX, with lines "// probe: ..." that say how to look at
// it. docs/probes.md lists them. Compiles and runs nothing.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ww::journal {

// run: launch it and see what it prints. sass: what ptxas makes of it. compile: whether it is taken.
enum class Look { run, sass, compile };

// A kernel parameter: a pointer to this many elements.
struct ProbeBuffer {
    std::string name;
    std::string type;  // "u32": a letter of usfx and the bits
    bool out = false;
    size_t count = 0;
    std::vector<std::byte> bytes;  // of an input; of an output zeros

    size_t element_bytes() const { return count == 0 ? 0 : bytes.size() / count; }
};

struct ProbeFile {
    std::filesystem::path path;
    std::string text;
    std::string target = "sm_90a";
    Look look = Look::run;
    std::vector<std::string> opcodes;  // sass: those that are counted
    std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
    uint32_t shared_bytes = 0;
    std::vector<ProbeBuffer> buffers;  // in the order of the kernel's parameters
    std::vector<std::string> options;  // of NVRTC
    std::string entry;                 // empty: the only kernel
    bool needs_cuda = false;

    bool is_ptx() const { return path.extension() == ".ptx"; }
};

// Every mistake in its lines is a diagnostic with the line.
Result<ProbeFile> read_probe(const std::filesystem::path& path);
Result<ProbeFile> parse_probe(std::string text, const std::filesystem::path& path);

// The elements of an output buffer as lines, eight a line: "out[0] 1 2 3".
std::string buffer_text(const ProbeBuffer& buffer);

}  // namespace ww::journal

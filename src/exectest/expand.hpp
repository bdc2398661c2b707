// SPDX-License-Identifier: Apache-2.0
// Wraps a test's body into a complete kernel and lays out the memory that it reads and writes.
#pragma once
#include <string>
#include <vector>

#include "exectest/test_file.hpp"

namespace ww::exectest {

// Where a field's values lie. A register operand has one slot a thread, a scratch array one a block.
struct Slot {
    uint32_t field = 0;   // index into TestFile::fields
    uint64_t offset = 0;  // bytes from the start of the buffer
    uint64_t bytes = 0;   // of all threads or blocks
};

// Three buffers, given to the kernel as three pointers: what it loads (register inputs, and the first
// content of shared arrays), what it stores (register outputs, last content of shared arrays), and
// the global arrays, which it works on in place.
struct Layout {
    std::vector<Slot> in, out, scratch;
    uint64_t in_bytes = 0, out_bytes = 0, scratch_bytes = 0;
};

struct Expanded {
    std::string kernel;  // entry name: the test's name with '/' as "__"
    std::string module;  // the test's module-level text
    std::string entry;   // the kernel
    std::string ptx;     // header, module and entry: the complete text
    int module_line = 0, body_line = 0;  // lines of ptx where the test's own text begins
    Layout layout;
};

Layout make_layout(const TestFile& test);
Expanded expand(const TestFile& test);
// ".version 9.0 / .target sm_90 / .address_size 64"
std::string ptx_header(const std::string& version, const std::string& target);
// A diagnostic about the expanded text, moved to the line of the test's file where it is from there.
Diagnostic relocate(Diagnostic diagnostic, const TestFile& test, const Expanded& expanded);

}  // namespace ww::exectest

// SPDX-License-Identifier: Apache-2.0
// One instruction test: a small .ptx file of a comment header (operands, options) and a body. The
// format is described in docs/instruction_tests.md.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "exectest/types.hpp"

namespace ww::exectest {

enum class Role { in, out, inout, shared, global };

// How the values of an operand are made; see operands.cpp for each name.
struct Generator {
    std::string name = "mixed";
    std::string other;            // of "near": the operand it stays near to
    double first = 0, last = 0;   // of "range"
    std::vector<uint64_t> listed; // of "listed": element values, repeated over the threads
};

struct Field {
    Role role = Role::in;
    std::string name;
    Type type;
    uint32_t count = 1;  // registers of a thread, or elements of a scratch array of one block
    bool is_vector = false;
    Generator generator;
    std::vector<uint64_t> expect;  // element values, repeated; empty: the record says
    int line = 0;

    uint32_t bytes() const { return type.bytes() * count; }
    bool is_scratch() const { return role == Role::shared || role == Role::global; }
    bool is_input() const { return role != Role::out; }
    bool is_output() const { return role != Role::in; }
    std::string register_name(uint32_t i) const {
        return is_vector ? name + std::to_string(i) : name;
    }
};

struct Extent {
    uint32_t x = 1, y = 1, z = 1;
    uint32_t count() const { return x * y * z; }
};

struct TestFile {
    std::string name;  // "integer_arith/add_sat_s32"
    std::filesystem::path path;
    std::string description;
    std::string target = "sm_90";
    std::string version = "9.0";  // of the PTX ISA
    Extent threads{32, 1, 1}, trials{16, 1, 1}, cluster;
    uint32_t dynamic_shared_bytes = 0;
    bool any_nan = false;   // a NaN stands for every NaN
    std::string fault;      // text in the error that must end the launch; empty: none may
    std::vector<Field> fields;
    std::string module_text, body;
    int module_line = 0, body_line = 0;  // first line of each in the file

    uint32_t lanes() const { return threads.count() * trials.count(); }
    bool has_expect() const;
};

Result<TestFile> parse_test(const std::string& name, const std::string& text,
                            const std::filesystem::path& path);
// Every test below folder whose name matches the pattern, sorted by name.
Result<std::vector<TestFile>> load_tests(const std::filesystem::path& folder,
                                         std::string_view pattern);

}  // namespace ww::exectest

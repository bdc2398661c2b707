// SPDX-License-Identifier: Apache-2.0
// What asm_info.json says of each kernel, read back: what `asm diff` compares. Fresh builds come
// here by the same document, so that a file and a build are told apart by nothing.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ww::inspect {

struct ClassCounts {
    int64_t total = 0;
    std::map<std::string, int64_t> classes;
};

struct LoopFacts {
    int id = 0, parent = -1, depth = 1;
    std::string place;               // "softmax.cu:33"; empty: no line known
    std::vector<std::string> lines;  // all of its lines, spelt likewise
    ClassCounts all, own;            // with and without inner loops
    std::string bound;               // what takes longest; empty: no rates are known
    double bound_cycles = 0;
    std::optional<int64_t> scheduled_cycles;
};

// Loads or stores of local memory by one source line: spills, or arrays.
struct LocalFacts {
    bool load = false;
    int64_t bits = 0;
    int loop = -1;
    std::string place;
};

struct KernelFacts {
    std::string name, demangled, target, files, implementation;
    // registers, stack_bytes, ...: as in the document's resources; null ones are left out.
    std::map<std::string, int64_t> resources;
    std::optional<int64_t> blocks;  // a multiprocessor
    std::string sass_missing;       // why instructions, loops and local are empty
    ClassCounts instructions;
    std::vector<LoopFacts> loops;
    std::vector<LocalFacts> local;
};

// "softmax_plain for sm_90a"
std::string title(const KernelFacts& kernel);

struct AsmFacts {
    std::map<std::string, std::string> toolchain;  // "ptxas" -> "13.0.88"
    std::vector<KernelFacts> kernels;
};

// text: asm_info.json. file: its name for messages.
Result<AsmFacts> read_facts(const std::string& text, const std::string& file);

}  // namespace ww::inspect

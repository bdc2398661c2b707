// SPDX-License-Identifier: Apache-2.0
// What `asm` looks at: a port, a CUDA C++ file, a PTX file or a cubin, compiled and disassembled for
// each target. Nothing here needs a GPU.
#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "ladder/library.hpp"

namespace ww::inspect {

struct Request {
    std::filesystem::path path;        // port.toml or its folder, .cu, .ptx, .cubin
    std::vector<std::string> targets;  // empty: the port's, the PTX's, sm_90a for CUDA C++
    std::vector<std::pair<std::string, std::string>> defines;  // CUDA C++ files
    std::vector<std::filesystem::path> include_dirs;
    std::vector<std::string> options;  // the compiler's
    bool nvcc = false;                 // CUDA C++ files have host code: nvcc instead of NVRTC
    int threads = 0;                   // of a block; 0: the port's, else the launch bounds
    uint64_t shared_bytes = 0;         // dynamic
    ladder::PlanTable plans;
    int trial = 0;                // of a port: toolchain::CompileRequest's
    std::set<std::string> files;  // of a port: only these, "softmax_plain.sm_90a"; empty: all
};

// One cubin and all that is known of how it was made.
struct Image {
    std::string stem;    // names its files: the entry of a port's kernel, else the file's
    std::string target;
    std::string source;  // path, for messages
    std::string ptx;     // empty: only the cubin was there, and it carries none
    std::string cubin;
    std::string sass;          // nvdisasm's listing
    std::string sass_missing;  // why there is none
    std::string ptxas_log;     // empty for a cubin that was given
    std::vector<std::string> flags;  // "nvrtc --gpu-architecture=compute_90a ...", "ptxas ..."
    // Of a port:
    std::string entry, implementation;
    std::vector<std::string> stages, cases;
    int threads = 0;             // of a block; 0: unknown
    uint64_t shared_bytes = 0;   // dynamic
};

Result<std::vector<Image>> collect(const Request& request);

}  // namespace ww::inspect

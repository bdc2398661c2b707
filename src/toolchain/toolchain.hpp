// SPDX-License-Identifier: Apache-2.0
// The compilers: CUDA C++ -> PTX (NVRTC or nvcc), PTX -> cubin (ptxas), cubin -> SASS text (nvdisasm).
// Results come from an on-disk cache where it has them. Errors carry the compiler's file and line.
// Not here: where the compilers are found (found.hpp) and how programs are run (process.hpp).
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace ww::toolchain {

struct CompileRequest {
    std::string source;  // text of the translation unit
    std::string name;    // its path, for messages, .loc lines and "" includes beside it
    std::string target = "sm_90a";
    std::vector<std::pair<std::string, std::string>> defines;  // {"TAPS", "1"} is -DTAPS=1
    std::vector<std::filesystem::path> include_dirs;           // searched before CUDA's own
    std::vector<std::string> options;                          // further NVRTC options
    bool line_info = true;                                     // .loc lines in the PTX
    bool cuda_headers = true;  // false: the source includes none of CUDA's own; then they need not be there
    // NVRTC does not make the same PTX of the same text every time (13.0: where some pass follows the order of addresses). Each number
    // has a compilation of its own; the cache keeps them apart.
    int trial = 0;
};

struct Compiled {
    std::string ptx;
    std::string log;  // the compiler's warnings; empty when it had none
    std::vector<std::string> options;  // all that the compiler was given
    bool cached = false;
};

// Errors of the source have a file; a refused target or option has none: the caller knows its place.
Result<Compiled> compile_ptx(const CompileRequest& request);

struct CompiledCubin {
    std::string cubin;  // bytes of the ELF image
    std::string log;
    bool cached = false;
};
// To a cubin in one go, by NVRTC alone.
Result<CompiledCubin> compile_cubin(const CompileRequest& request);

// The same by nvcc, for a file with host code: request.name must be the file. Not cached.
Result<Compiled> compile_ptx_nvcc(const CompileRequest& request);

struct AssembleOptions {
    std::vector<std::string> options;  // further ptxas options, such as "-O1" or "--fmad=false"
    bool line_info = true;             // keep .loc lines in the cubin
};

struct Assembled {
    std::string cubin;  // bytes of the ELF image
    std::string log;    // ptxas -v: registers, spills, shared memory of each kernel
    std::vector<std::string> options;  // all that ptxas was given
    bool cached = false;
};

// name stands for the PTX in messages: usually the file's path.
Result<Assembled> assemble(const std::string& ptx, const std::string& target,
                           const std::string& name, const AssembleOptions& options = {});

// SASS text of a cubin as nvdisasm prints it.
Result<std::string> disassemble(const std::string& cubin, const std::string& name,
                                const std::vector<std::string>& options = {});

}  // namespace ww::toolchain

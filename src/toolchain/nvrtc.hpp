// SPDX-License-Identifier: Apache-2.0
// NVRTC's C interface, loaded at run time: the binary needs no CUDA library to start.
#pragma once
#include <string>
#include <vector>

#include "base/result.hpp"
#include "toolchain/found.hpp"

namespace ww::toolchain {

// The functions that we call, by NVRTC's own names without the prefix. A nonzero int is an error.
struct Nvrtc {
    using Program = void*;
    int (*version)(int*, int*) = nullptr;
    int (*num_supported_archs)(int*) = nullptr;
    int (*supported_archs)(int*) = nullptr;
    int (*create_program)(Program*, const char* source, const char* name, int headers,
                          const char* const* header_texts, const char* const* names) = nullptr;
    int (*destroy_program)(Program*) = nullptr;
    int (*compile_program)(Program, int count, const char* const* options) = nullptr;
    int (*ptx_size)(Program, size_t*) = nullptr;
    int (*ptx)(Program, char*) = nullptr;
    int (*cubin_size)(Program, size_t*) = nullptr;
    int (*cubin)(Program, char*) = nullptr;
    int (*log_size)(Program, size_t*) = nullptr;
    int (*log)(Program, char*) = nullptr;
    const char* (*error_string)(int) = nullptr;
};

// Loads the library that found names; once loaded it stays.
Result<Nvrtc> load_nvrtc(const Found& found);
std::string nvrtc_version(const Nvrtc& nvrtc);               // "13.0"
std::vector<int> nvrtc_supported_archs(const Nvrtc& nvrtc);  // 75, 80, ..., 121

}  // namespace ww::toolchain

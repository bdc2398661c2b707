// SPDX-License-Identifier: Apache-2.0
// Where the parts of NVIDIA's toolchain are on this machine: toolkit and wheels mix part by part.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace ww::toolchain {

enum class Origin { env, toolkit, wheel, system, missing };
std::string_view origin_name(Origin origin);

struct Found {
    std::string component;       // "nvrtc", "headers", "ptxas", "nvdisasm", "cuobjdump", "nvcc"
    std::string version;         // empty when missing or not told
    std::filesystem::path path;  // library, program or include folder; empty when missing
    Origin origin = Origin::missing;
    std::string unlocks;  // what a missing part would make possible
};

// One part: the environment first (WARPWRIGHT_NVRTC, WARPWRIGHT_PTXAS, ...), then the CUDA
// toolkit, then the wheels in the cache, then the system. WARPWRIGHT_NO_TOOLKIT=1 hides the toolkit
// and the system. Starts no programs, so version is empty; see survey().
Found find_part(const std::string& component);
// While one lives, the toolchain is taken to stay as it is: each part is looked for once, and each of
// its files looked at once. For many compilations in a row, which take less than that when they are in
// the cache. Not for several threads.
class ToolchainStays {
  public:
    ToolchainStays();
    ~ToolchainStays();
    ToolchainStays(const ToolchainStays&) = delete;
    ToolchainStays& operator=(const ToolchainStays&) = delete;
};
// As find_part; the failure says what to install and how.
Result<Found> need_part(const std::string& component);
// As find_part, with its version: starts the program, or loads NVRTC, to ask it.
Found ask_part(const std::string& component);
// Every part with its version.
std::vector<Found> survey();

// Folder of everything that can be made again: WARPWRIGHT_CACHE, else $XDG_CACHE_HOME/warpwright,
// else ~/.cache/warpwright.
std::filesystem::path cache_root();
// Include folders of the CUDA headers that NVRTC needs (cuda_fp16.h, and libcu++ below cccl).
std::vector<std::filesystem::path> cuda_include_dirs();

}  // namespace ww::toolchain

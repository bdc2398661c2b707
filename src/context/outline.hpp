// SPDX-License-Identifier: Apache-2.0
// The outline of sources: kernels with all that they use, also through the functions that they
// call, launches, shared memory. Calls are followed by name within the file, the files that it
// includes and the files asked for, so a kernel may be said to use more than it runs.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "context/scan.hpp"

namespace ww::context {

struct Use {
    std::string text;  // "mma.sync.aligned...", "extern __shared__ uint8_t raw[]"
    std::string file;
    int line = 0;
    std::string function;  // where it stands, if that is not the kernel itself
};

struct KernelOutline {
    std::string name, file, language;
    int first = 0, last = 0;
    std::string parameters;  // template parameters; constexpr ones of Python
    std::string launch_bounds;
    std::vector<Use> instructions, shared;
};

struct LaunchOutline {
    Launch launch;
    std::string file;
};

// Device functions that use such instructions and that no kernel of the outline reaches.
struct HelperOutline {
    std::string name, file;
    int first = 0, last = 0;
    std::vector<std::string> instructions;
};

struct Outline {
    int files = 0;
    std::vector<KernelOutline> kernels;
    std::vector<LaunchOutline> launches;
    std::vector<Use> shared_types;
    std::vector<HelperOutline> helpers;
};

// A file or a folder. Paths in the result are display paths.
Result<Outline> outline(const std::filesystem::path& path);

std::string to_text(const Outline& outline);
std::string to_json(const Outline& outline);

}  // namespace ww::context

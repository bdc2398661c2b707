// SPDX-License-Identifier: Apache-2.0
// The options of `asm` and of the verbs below it that say how kernels are built.
#pragma once
#include <string>
#include <vector>

#include "base/result.hpp"
#include "inspect/collect.hpp"

namespace CLI {
class App;
}

namespace ww::cli {

struct BuildOptions {
    std::vector<std::string> defines, includes, options;
    std::string frontend = "nvrtc", targets;
    int threads = 0;
    uint64_t shared_bytes = 0;
};

// --define, --include, --option, --frontend, --threads, --shared.
void add_build_options(CLI::App& verb, BuildOptions& options);
// --target LIST.
void add_target_option(CLI::App& verb, BuildOptions& options);

inspect::Request request_of(const BuildOptions& options);

}  // namespace ww::cli
